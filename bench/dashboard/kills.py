"""D7: the server is killed again and again; its services live on, are adopted, and tell how they
ended while nobody looked."""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, counted
from tests.dashboard.served import Served
from tests.service import until

SERVICES, ENDING = 20, 3
COMMAND = "while [ ! -e {flag} ]; do sleep 0.2; done; rm {flag}; exit {code}"
START_S, ADOPTED_S = 40, 5


def figures(sizes: Sizes) -> list[Figure]:
    rnd = random.Random(7)
    died = unknown = torn = strangers = 0
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        for number in range(SERVICES):
            _declare(served, number)
        with served:
            for number in range(SERVICES):
                until(lambda number=number: served.act(f"s-{number}", "start")["ok"])  # type: ignore[misc]
            for _ in range(sizes.kills):
                before = _pids(served)
                ending = rnd.sample(sorted(before), ENDING)
                time.sleep(rnd.random() * 0.2)
                _killed(served, ending, before)
                torn += _torn(served)
                apps = _services(served)
                died += sum(
                    not _same(apps[slug], pid) for slug, pid in before.items() if slug not in ending
                )
                strangers += sum(not apps[slug]["adopted"] for slug in before.keys() - {*ending})
                unknown += sum(_code(apps[slug]) != _expected(slug) for slug in ending)
                for slug in ending:
                    served.act(slug, "start")
    what = f"{sizes.kills} kill -9 of the server, {SERVICES} services"
    return [
        counted("D7", f"{what}: services that died or are another process", died),
        counted("D7", "the same: services not adopted", strangers),
        counted("D7", f"exit codes unknown of {ENDING} that ended meanwhile, each time", unknown),
        counted("D7", "the same: torn files", torn),
    ]


def _flag(served: Served, slug: str) -> Path:
    return served.tmp / f"{slug}.end"


def _expected(slug: str) -> int:
    return 10 + int(slug.removeprefix("s-"))


def _declare(served: Served, number: int) -> None:
    slug = f"s-{number}"
    command = COMMAND.format(flag=_flag(served, slug), code=_expected(slug))
    service = {"command": command, "restart": "no"}
    served.declare(slug, json.dumps({"name": slug, "service": service}))


def _pids(served: Served) -> dict[str, int]:
    return {slug: one["pid"] for slug, one in _services(served).items() if one["pid"]}


def _services(served: Served) -> dict[str, dict[str, Any]]:
    """Ours: others start servers on this machine, too."""
    return {one["slug"]: one["service"] for one in served.state()["apps"] if one["service"]}


def _killed(served: Served, ending: list[str], before: dict[str, int]) -> None:
    """SIGKILL the server, then let these services end; returns once the next server knows."""
    boot = served.state()["boot"]
    psutil.Process(served.pid).kill()
    for slug in ending:
        _flag(served, slug).touch()
    until(lambda: not any(map(psutil.pid_exists, (before[slug] for slug in ending))), seconds=20)

    def next_one() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            answer = served.api.get("/api/state")
            return bool(answer.status_code == 200 and answer.json()["boot"] != boot)
        return False

    until(next_one, seconds=START_S, what="the next server")
    left = before.keys() - {*ending}
    with contextlib.suppress(AssertionError):  # what is missing after that is counted
        until(lambda: all(_services(served)[slug]["adopted"] for slug in left), seconds=ADOPTED_S)


def _same(service: dict[str, Any], pid: int) -> bool:
    return bool(service["status"] == "running" and service["pid"] == pid)


def _code(service: dict[str, Any]) -> int | None:
    code: int | None = (service["lastExit"] or {}).get("code")
    return code


def _torn(served: Served) -> int:
    """Files of ours that hold no whole value."""
    wrong = 0
    for path in (served.data / "state" / "dashboard").rglob("*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            wrong += 1
    return wrong + len(served.state()["fileErrors"])
