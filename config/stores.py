"""Where rows, tasks and events are kept: SQLite and files, or PostgreSQL and Redis.

The libraries of the latter two are imported only if a URL asks for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from config.readers import OptionError

EXTRA = "pip install --require-hashes -r requirements-cluster.txt"
CONNECT_S, OF_SEVERAL_S = 4, 2  # seconds for a single address, and for each of several


def database(url: str, data_dir: Path) -> dict[str, Any]:
    """Django's settings of the one database. Raises OptionError if the URL cannot be used."""
    return _postgres(url) if url else _sqlite(data_dir)


def _sqlite(data_dir: Path) -> dict[str, Any]:
    return {
        "ENGINE": "config.storage.sqlite",  # creates no file: see make() in database.py
        "NAME": data_dir / "svc.sqlite3",
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        "TEST": {"NAME": data_dir / "test.sqlite3"},
    }


def _postgres(url: str) -> dict[str, Any]:
    """Settings from a URL in libpq's own form, options included. A lost server is noticed within
    seconds.

    The server notices a lost client likewise: its locks are free for others within 25 s.
    """
    try:
        from psycopg import ProgrammingError, conninfo
    except ImportError as error:
        raise _missing("SVC_DATABASE_URL", error) from None
    try:
        given = conninfo.conninfo_to_dict(url)
    except ProgrammingError as error:
        raise OptionError(f"SVC_DATABASE_URL cannot be read: {_line(error)}") from None
    if not given.get("dbname"):
        raise OptionError("SVC_DATABASE_URL names no database; end it with /svc, for example")
    places = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host",
              "PORT": "port"}  # fmt: skip
    chosen = {key: str(given.pop(name, "") or "") for key, name in places.items()}
    several = "," in f"{chosen['HOST']}{given.get('hostaddr', '')}"
    lively = {
        "connect_timeout": OF_SEVERAL_S if several else CONNECT_S,
        "application_name": "svc",
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }
    session = " ".join(f"-c tcp_keepalives_{name}={lively[f'keepalives_{name}']}"
                       for name in ("idle", "interval", "count"))  # fmt: skip
    given["options"] = f"{session} {given.get('options') or ''}".strip()
    return {
        "ENGINE": "config.storage.postgres",
        **chosen,
        "CONN_MAX_AGE": None,
        "OPTIONS": {**lively, **given},
    }


def channel_layers(url: str) -> dict[str, Any]:
    """The channel layer through which servers send each other events.

    The databases of one Redis have separate keys but share channels, so the number of the database
    is in the names of the channels.
    """
    try:
        import channels_redis  # noqa: F401 - Channels loads it by name, when it is first wanted
        from redis import ConnectionPool
    except ImportError as error:
        raise _missing("SVC_REDIS_URL", error) from None
    host = {"address": url, "socket_connect_timeout": 2}
    backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
    chosen = ConnectionPool.from_url(url).connection_kwargs
    prefix = f"svc{chosen.get('db', 0)}"
    return {"default": {"BACKEND": backend, "CONFIG": {"hosts": [host], "prefix": prefix}}}


def _missing(name: str, error: ImportError) -> OptionError:
    return OptionError(f"{name} needs libraries that are not installed ({error.name}): {EXTRA}")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
