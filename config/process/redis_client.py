"""The Redis that several servers on one PostgreSQL share; without one, its client is not loaded.

Whatever passes through it may be lost: tasks are rows first, events only say where to look.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from config.options import OptionError

CONNECT_S, ANSWER_S = 2, 5
SECRET = "svc:secret"  # noqa: S105 - the name of a key, whose value is a hash


def connect() -> Any:
    """A client that times out on a Redis that is gone; a blocking read waits 1 s (broker.py)."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return redis.from_url(
        settings.SVC.redis_url,
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S,
        health_check_interval=15,
        retry=Retry(NoBackoff(), 1),  # for a connection that was cut while idle
    )


def reach() -> None:
    """OptionError if the configured Redis does not answer, or its servers have another secret."""
    if not settings.SVC.redis_url:
        return
    import redis

    seal = hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest().encode()
    try:
        with connect() as client:
            client.set(SECRET, seal, nx=True)
            known = client.get(SECRET)
    except redis.RedisError as error:
        raise OptionError(f"{name()} does not answer: {_why(error)}; see SVC_REDIS_URL") from None
    if known != seal:
        raise OptionError(
            f"{name()} serves servers with another secret: copy <data>/state/secret from one of "
            "them, or choose another number behind the last / of SVC_REDIS_URL"
        )


def _why(error: Exception) -> str:
    reason = " ".join(str(error).split())
    if reason.startswith("HELLO must be called"):  # the server's words mean nothing to a person
        return "it wants a password, as in redis://:<password>@host/0"
    return reason


def name() -> str:
    """The Redis as messages name it, without the password."""
    parts = urlsplit(settings.SVC.redis_url)
    return f"the Redis on {parts.hostname or parts.path}"
