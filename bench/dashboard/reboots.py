"""D8: a machine that was started again, by a boot id of the test's own."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, counted
from tests.dashboard.served import NO_PICTURES, Served
from tests.service import free_port, until

GRACE_S = 2
JOURNAL_S = 5  # it is written at most every 2 s, after a scan
KINDS = ("kept", "plain", "lost", "back")  # `kept` starts by itself, `back` is started by hand
SERVER = "exec python3 -m http.server {port} --bind 127.0.0.1"


def figures(_sizes: Sizes) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        ports = {kind: free_port() for kind in (*KINDS, "dev")}
        settings = {
            **NO_PICTURES,
            "lost": {"grace": f"{GRACE_S}s"},
            "scan": {"ports": ",".join(map(str, ports.values()))},  # others' are not ours to start
        }
        served = Served(Path(folder), dashboard=settings)
        served.env["SVC_TEST_BOOT_ID"] = "first"
        for kind in KINDS:
            _declare(served, kind, ports[kind])
        served.start()
        dev = served.dev_server("dev", ports["dev"])
        for kind in KINDS:
            until(lambda kind=kind: served.act(kind, "start")["ok"])  # type: ignore[misc]
        until(lambda: served.observed(dev.port), what="the dev server is seen")
        time.sleep(JOURNAL_S)
        _reboot(served, dev)
        served.start()
        try:
            until(lambda: served.api.get("/api/state").status_code == 200)
            served.act("back", "start")
            notice = _notice(served)
            wrong = _wrong(notice, ports)
            failed = sum(not _brought_back(served, one) for one in notice)
            left = len(_items(served))
            served.stop_services()
        finally:
            served.kill9()
    return [
        counted("D8", "after a fake reboot: apps missing from the notice, or wrongly in it", wrong),
        counted("D8", f"of {len(notice)} lost ones: not brought back, as once or service", failed),
        counted("D8", "items still in the notice then", left),
    ]


def _declare(served: Served, kind: str, port: int) -> None:
    cwd = served.tmp / "src" / kind
    cwd.mkdir(parents=True)
    autostart = "true" if kind == "kept" else "false"
    served.declare(
        kind,
        f"port: {port}\nservice:\n  command: {SERVER.format(port=port)}\n"
        f"  cwd: {cwd}\n  autostart: {autostart}\n",
    )


def _reboot(served: Served, dev: Any) -> None:
    """Everything ends at once; the next start is of another boot."""
    pids = [one["service"]["pgid"] for one in served.state()["apps"] if one["service"]]
    served.kill9()
    dev.kill()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    served.env["SVC_TEST_BOOT_ID"] = "second"


def _items(served: Served) -> list[dict[str, Any]]:
    lost = served.api.get("/api/lost").raise_for_status().json()["lost"]
    items: list[dict[str, Any]] = lost["items"] if lost else []
    return items


def _notice(served: Served) -> list[dict[str, Any]]:
    """What is told once the grace time and one more scan are over."""
    time.sleep(GRACE_S + 4)
    until(lambda: _items(served), seconds=20, what="a notice")
    return _items(served)


def _wrong(notice: list[dict[str, Any]], ports: dict[str, int]) -> int:
    """The running set, without what starts by itself and what came back."""
    expected = {ports[kind] for kind in ("plain", "lost", "dev")}
    return len(expected.symmetric_difference(one["port"] for one in notice))


def _brought_back(served: Served, item: dict[str, Any]) -> bool:
    way = "service" if item["canService"] and item["slug"] is None else "restart"
    answer = served.api.post(f"/api/lost/{item['id']}/{way}", json={})
    return bool(answer.status_code == 200 and answer.json()["ok"])
