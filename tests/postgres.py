"""A private PostgreSQL for tests: Debian's programs, a cluster and a socket in a folder of its own.

It is started where a test asks for it and ends with the test run, whatever ends that.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

ROOT = Path(__file__).resolve().parent.parent
MISSING = "PostgreSQL is not installed: apt-get install postgresql"
QUICK = ("fsync=off", "full_page_writes=off", "max_connections=200", "TimeZone=UTC")

_chosen: Cluster | None = None


def programs() -> Path | None:
    """The folder with initdb and postgres, the newest if there are several."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    return folders[-1] if folders else Path(found).resolve().parent if found else None


def _version(folder: Path) -> float:
    return float(folder.parent.name)


def chosen() -> Cluster | None:
    """The cluster of a run with SVC_STORE=postgres: its tests use it instead of SQLite."""
    return _chosen


def choose() -> Cluster:
    """Start it, once per run, before the settings are read (tests/isolation.py)."""
    global _chosen  # noqa: PLW0603 - one cluster per test run
    _chosen = Cluster().start()
    return _chosen


def ask(url: str, statement: str) -> list[tuple[Any, ...]]:
    """One statement, committed; its rows."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def afterwards(script: str) -> None:
    """Run it in a shell when this process is gone, whatever ended it."""
    waiting = f"while kill -0 {os.getpid()}; do sleep 1; done; {script}"
    subprocess.run(["setsid", "sh", "-c", f"({waiting}) >/dev/null 2>&1 &"], check=True)


class Cluster:
    """One server. `url(name)` is the address of a database that `create` made.

    It is no descendant of this process: workers that run in a test end all of those. `listen`: an
    address of a network it is open to as well, `inside`: what to start a program there with.
    """

    def __init__(self, *, listen: str = "", inside: Sequence[str] = ()) -> None:
        self._listen, self._inside = listen, [*inside]
        found = programs()
        assert found is not None, MISSING
        self._programs = found
        self.folder = Path(tempfile.mkdtemp(prefix="svc-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            owner = pwd.getpwnam(_other_user())
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self._as = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self.data = self.folder / "data"
        self._migrated = self._running = False
        self._run(
            "initdb", "-D", str(self.data), "-U", "svc", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync", "--no-instructions",
        )  # fmt: skip
        server = f"$(head -n 1 {self.data}/postmaster.pid)"
        afterwards(f"kill -QUIT {server}; rm -rf {self.folder}")

    def start(self) -> Self:
        """Also after a stop; one that runs goes on."""
        if self._running:
            return self
        listen = f"listen_addresses={self._listen}"
        settings = [*QUICK, listen, f"unix_socket_directories={self.folder}"]
        if self._listen:
            with (self.data / "pg_hba.conf").open("a") as file:
                file.write("host all all samenet trust\n")
        options = " ".join(f"-c {one}" for one in settings)
        self._control("start", "-w", "-l", str(self.folder / "log"), "-o", options)
        self._running = True
        return self

    def stop(self, how: str = "fast") -> None:
        """Fast: clients are sent away. Immediate: as if it had crashed."""
        if self._running:
            self._running = False
            self._control("stop", "-w", "-m", how)

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.data), *arguments)

    def url(self, name: str) -> str:
        return f"postgresql://svc@/{name}?host={self.folder}"

    def tcp(self, url: str) -> str:
        """The address of the same database over the network."""
        return url.replace(f"?host={self.folder}", f"?host={self._listen}")

    def create(self, name: str, template: str = "template1") -> str:
        self.sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def copy_of_migrated(self) -> str:
        """A database of its own with all tables, empty."""
        if not self._migrated:
            env = {**os.environ, "SVC_DATABASE_URL": self.create("migrated")}
            argv = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"]
            subprocess.run(argv, env=env, check=True)
            self._migrated = True
        return self.create(f"service-{secrets.token_hex(6)}", "migrated")

    def tables(self, name: str) -> int:
        """How many tables of ours a database has."""
        (row,) = ask(self.url(name), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        return int(row[0])

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return ask(self.url("postgres"), statement)

    def _run(self, program: str, *arguments: str) -> None:
        argv, user = [str(self._programs / program), *arguments], self._as
        if self._inside and user:  # whoever goes inside is root until then
            as_user = [f"--reuid={user['user']}", f"--regid={user['group']}", "--clear-groups"]
            argv, user = [*self._inside, "setpriv", *as_user, *argv], {}
        subprocess.run(argv, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, **user)


def _other_user() -> str:
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Cluster]:
    """A server of the module's own; skipped where there is none to start."""
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    if programs() is None:
        pytest.skip(MISSING)
    cluster = Cluster().start()
    yield cluster
    cluster.remove()
