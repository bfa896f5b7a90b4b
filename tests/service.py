"""The real service as a test sees it: `manage.py up` on free ports, in a data directory of its own.

Every start is the one a person makes; what a test needs to know it reads from
`state/server.json`. Nothing a Service started outlives it.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TextIO, TypeVar

import httpx
import psutil
import pytest
import yaml

from tests import postgres

ROOT = Path(__file__).resolve().parent.parent
START_S, STOP_S = 120.0, 10.0
QUIET = {"scan": {"enabled": False}, "screenshots": {"enabled": False}}
T = TypeVar("T")
_template: Path | None = None
_worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
_first = 10_000 + 2_800 * (int(_worker or 0) % 8) + os.getpid() % 300
_block = range(_first, _first + (2_500 if _worker else 20_000))
_REFUSED = 10_080  # by Chromium, as the port of another service
_ports = iter(port for port in _block if port != _REFUSED)
_numbers = itertools.count(1)  # of databases in the Redis of a run


def until(found: Callable[[], T], *, seconds: float = 10.0, what: str = "") -> T:
    """The first true result of `found`; fails after `seconds`. What takes long is asked for less
    often: each time is work, most often of a service, and others wait for the processor."""
    begun = time.monotonic()
    while not (result := found()):
        waited = time.monotonic() - begun
        if waited > seconds:
            raise AssertionError(f"not within {seconds} s: {what or found}")
        time.sleep(max(0.01, min(0.1, waited / 20)))
    return result


def free_port() -> int:
    """A port that nobody has, and nobody gets: below those the kernel hands out by itself, of a
    block of this test worker's own, and not twice in a run.
    """
    for port in _ports:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free any more")


def within_block(dashboard: dict[str, Any]) -> dict[str, Any]:
    """This config.yaml, for a dashboard that finds and probes the apps of its own test alone: what
    else listens may be the server of a test that runs beside it, and counts its callers.
    """
    if not _worker:  # nothing runs beside it
        return dashboard
    scan = {"ports": f"{_block.start}-{_block.stop - 1}", **dashboard.get("scan", {})}
    return dashboard | {"scan": scan}


def stores() -> dict[str, str]:
    """The variables of fresh stores for one service, of the kind that this run is about."""
    if (cluster := postgres.chosen()) is None:
        return {}
    made = {"SVC_DATABASE_URL": cluster.copy_of_migrated()}
    if redis := os.environ.get("SVC_REDIS_URL"):
        made["SVC_REDIS_URL"] = f"{redis.rpartition('/')[0]}/{next(_numbers)}"
    return made


def still_running(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that have not ended by then; one that waits for init to notice its end has."""
    left = psutil.wait_procs(processes, timeout=seconds)[1]
    return [one for one in left if _runs(one)]


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Service:
    """One running service. `config` becomes svc.config.yaml, `env` is added to its environment.

    `dashboard` becomes dashboard/config.yaml: without it nothing is scanned or photographed, so
    that the machine's other listeners are none of the test's business.
    """

    def __init__(
        self,
        tmp_path: Path,
        *,
        env: dict[str, str] | None = None,
        config: dict[str, Any] | None = None,
        scheduler: bool = True,
        dashboard: dict[str, Any] | None = None,
    ) -> None:
        self.home, self.data = tmp_path / "home", tmp_path / "data"
        self.home.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(mode=0o700, exist_ok=True)
        self.ports = {name: free_port() for name in ("main", "review", "dashboard")}
        self.env = self._environment(env or {}, scheduler)
        if "SVC_DATABASE_URL" not in self.env:
            self.env |= stores()
        if config is not None:
            (self.data / "svc.config.yaml").write_text(yaml.safe_dump(config))
        self._dashboard = QUIET if dashboard is None else dashboard
        self.python = sys.executable
        self.process: subprocess.Popen[str] | None = None
        self._output: TextIO | None = None
        self.http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def _settle_dashboard(self) -> None:
        home = self.data / "dashboard"
        home.mkdir(mode=0o700, exist_ok=True)
        if not (home / "config.yaml").exists():
            (home / "config.yaml").write_text(yaml.safe_dump(within_block(self._dashboard)))

    def _environment(self, extra: dict[str, str], scheduler: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        return kept | {
            "HOME": str(self.home),
            "SVC_DATA_DIR": str(self.data),
            "SVC_PORT": str(self.ports["main"]),
            "SVC_REVIEW_PORT": str(self.ports["review"]),
            "SVC_DASHBOARD_PORT": str(self.ports["dashboard"]),
            "SVC_SCHEDULER": "on" if scheduler else "off",
            **extra,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['main']}"

    @property
    def review_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['review']}"

    @property
    def dashboard_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['dashboard']}"

    @property
    def projects(self) -> Path:
        return self.data / "projects"

    @property
    def pid(self) -> int:
        """The server process."""
        return int(self.facts()["pid"])

    def facts(self) -> dict[str, Any]:
        """state/server.json, {} while no server is ready."""
        try:
            facts: dict[str, Any] = json.loads((self.data / "state" / "server.json").read_bytes())
        except FileNotFoundError:
            return {}
        return facts

    def log(self, name: str = "server") -> str:
        path = self.data / "logs" / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def spawn(self, *command: str, **kwargs: Any) -> subprocess.Popen[str]:
        """`manage.py COMMAND` in this service's environment."""
        argv = [self.python, str(ROOT / "manage.py"), *command]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            argv, env=self.env, cwd=self.data, text=True, start_new_session=True, **pipes | kwargs
        )

    def run(self, *command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """`manage.py COMMAND` to its end; stdout and stderr apart."""
        argv = [self.python, str(ROOT / "manage.py"), *command]
        return subprocess.run(
            argv,
            env=self.env,
            cwd=self.data,
            text=True,
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    def findings(self) -> list[dict[str, Any]]:
        """What its doctor says; asserts that it ends with 1 for a fault and only for one."""
        done = self.run("doctor", "--json")
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert found, done.stderr
        assert done.returncode == any(one["level"] == "fault" for one in found), done.stderr
        return found

    def faults(self) -> list[str]:
        """What its doctor calls a fault; how full the machine's disk is, is none of a test's."""
        return [f"{one['subject']}: {one['text']}" for one in self.findings()
                if one["level"] == "fault" and not one["text"].endswith(" MB free")]  # fmt: skip

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What its database answers, in words that both stores share."""
        if url := self.env.get("SVC_DATABASE_URL"):
            return postgres.ask(url, query)
        with contextlib.closing(sqlite3.connect(self.data / "svc.sqlite3")) as database:
            return database.execute(query).fetchall()

    def start(self, command: str = "up") -> Self:
        """Start and wait until all parts answer."""
        self._use_template()
        self._settle_dashboard()
        self._output = (self.data / "up.out").open("a")
        self.process = self.spawn(command, stdout=self._output, stderr=self._output)
        until(self._healthy, seconds=START_S, what="healthy")
        return self

    def _use_template(self) -> None:
        """An empty migrated database, made once per test run."""
        if "SVC_DATABASE_URL" in self.env:
            return
        global _template  # noqa: PLW0603 - one template per test run
        database = self.data / "svc.sqlite3"
        if database.exists() and database.stat().st_size:
            return
        if _template is None:
            self.run("migrate", "--verbosity", "0").check_returncode()
            _template = Path(os.environ["SVC_DATA_DIR"]).parent / "template.sqlite3"
            with contextlib.closing(sqlite3.connect(database)) as made:
                made.execute(f"VACUUM INTO '{_template}'")
        else:
            shutil.copyfile(_template, database)
            database.chmod(0o600)

    def _healthy(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"ended with {self.process.returncode}: {self.output()}")
        with contextlib.suppress(httpx.HTTPError, KeyError):
            if self.pid and self.http.get("/api/health").status_code == 200:
                # its daemon reads its files beside the first answers of the other parts
                return self.http.get("/dashboard/api/state").status_code != 503
        return False

    def output(self) -> str:
        """What `up` itself printed, then the server's log."""
        path = self.data / "up.out"
        return (path.read_text() if path.exists() else "") + self.log()[-4000:]

    def family(self) -> list[psutil.Process]:
        """`up` and everything it started, their descendants too."""
        if self.process is None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            top = psutil.Process(self.process.pid)
            return [top, *top.children(recursive=True)]
        return []

    def stop(self) -> None:
        """SIGTERM; asserts that it ends cleanly, in time, and leaves no process behind."""
        if self.process is None:
            return
        family = self.family()
        self.process.send_signal(signal.SIGTERM)
        code = self._wait(STOP_S)
        left = still_running(family, 1)
        self._forget()
        assert code == 0, f"ended with {code}: {self.output()}"
        assert left == [], f"still there: {left}"
        lines = self.log().splitlines()
        fault = list(itertools.dropwhile(lambda line: "Traceback" not in line, lines))
        assert fault == [], "\n".join(fault)

    def kill9(self) -> None:
        """SIGKILL everything at once."""
        family = self.family()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=5)
        if self.process is not None:
            self.process.wait(5)
        self._forget()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def _wait(self, seconds: float) -> int | None:
        assert self.process is not None
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill9()
            return None

    def _forget(self) -> None:
        self.process = None
        if self._output is not None:
            self._output.close()
            self._output = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.kill9()
            self.http.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        try:
            if kind is None:
                self.stop()
            else:
                self.kill9()
        finally:
            self.http.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service of the test's own."""
    with Service(tmp_path) as running:
        yield running


@pytest.fixture
def stopped_service(tmp_path: Path) -> Iterator[Service]:
    """A service that was not started; whatever the test started is ended."""
    service = Service(tmp_path, scheduler=False)
    yield service
    service.kill9()
    service.http.close()


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the tests of a module that leave it as they find it."""
    with Service(tmp_path_factory.mktemp("service")) as running:
        yield running
