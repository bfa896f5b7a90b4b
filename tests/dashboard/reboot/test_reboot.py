"""A reboot as the user sees it, with the real service (case D47)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.dashboard.served import NO_PICTURES, Dev, Served
from tests.service import free_port, until

GRACE_S = 2


@dataclass
class Rebooted:
    """A machine whose four dev servers ran before its second boot."""

    served: Served
    devs: list[Dev]
    ids: list[str]

    def items(self) -> dict[str, dict[str, Any]]:
        """What is lost, by id."""
        shown = self.served.state()["lost"] or {"items": []}
        return {item["id"]: item for item in shown["items"]}

    def remembered(self, devs: list[Dev]) -> None:
        """Wait until the journal has all of them and their slugs."""
        path = self.served.data / "state/dashboard/running.json"

        def found() -> set[int]:
            with contextlib.suppress(FileNotFoundError):
                listeners = json.loads(path.read_bytes())["listeners"]
                return {one["port"] for one in listeners if one["slug"]}
            return set()

        until(lambda: found() >= {dev.port for dev in devs}, what="remembered")

    def reboot(self, name: str) -> None:
        """Everything ends at once, what the service runs too."""
        self.served.kill9()
        for dev in self.devs:
            dev.kill()
        self.served.env["SVC_TEST_BOOT_ID"] = name
        self.served.start()
        until(lambda: self.served.api.get("/api/state").is_success, what="loaded")

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self.served.api.post(f"/api/lost/{path}", json=body or {})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rebooted]:
    """It sees nothing but its own ports: other tests may run beside these."""
    ports = [free_port() for _ in range(4)]
    scan = {"ports": ",".join(map(str, ports))}
    config = {**NO_PICTURES, "scan": scan, "lost": {"grace": GRACE_S}}
    served = Served(tmp_path_factory.mktemp("reboot"), dashboard=config)
    served.env["SVC_TEST_BOOT_ID"] = "first"
    with served:
        devs = [served.dev_server(f"dev-{port}", port) for port in ports]
        made = Rebooted(served, devs, [])
        made.remembered(devs)
        made.ids = [served.observed(dev.port)["id"] for dev in devs]
        made.reboot("second")
        until(lambda: made.items().keys() == set(made.ids), what="the notice")
        yield made


@pytest.mark.slow
def test_a_stream_and_the_state_tell_what_was_lost(machine: Rebooted) -> None:
    with machine.served.events() as stream:
        machine.post(f"{machine.ids[3]}/dismiss")
        told = stream.until(lambda one: one.get("type") == "reboot" and len(one["lost"]) == 3)

    assert set(told["lost"]) == set(machine.ids[:3])
    assert machine.served.api.get("/api/lost").json()["lost"] == machine.served.state()["lost"]
    assert {item["port"] for item in machine.items().values()} == {
        dev.port for dev in machine.devs[:3]
    }


def test_what_cannot_be_done_is_refused_with_the_reason(machine: Rebooted) -> None:
    dev, id_ = machine.devs[2], machine.ids[2]
    (dev.cwd / "index.html").unlink()
    dev.cwd.rmdir()
    until(lambda: machine.items()[id_]["blocked"] == "cwd is gone")

    answer = machine.post(f"{id_}/restart")

    assert (answer["ok"], answer["reason"], answer["log"]) == (False, "blocked", [])
    for path, body, status in (
        ("o-000000000000/restart", {}, 404),
        ("o-000000000000/service", {}, 404),
        ("o-000000000000/dismiss", {}, 404),
        (f"{id_}/restart", {"slug": "A"}, 400),
        (f"{id_}/restart", {"slug": 7}, 400),
        (f"{id_}/service", {"name": "x"}, 400),
    ):
        refused = machine.served.api.post(f"/api/lost/{path}", json=body)
        assert refused.status_code == status, (path, body, refused.text)
    assert machine.items()[id_]["status"] == "lost"


@pytest.mark.slow
def test_each_way_back_leads_back_and_the_next_reboot_takes_only_what_does_not_start_by_itself(
    machine: Rebooted,
) -> None:
    served, (first, second, *_) = machine.served, machine.ids
    with served.events() as stream:
        once = machine.post(f"{first}/restart")
        kept = machine.post(f"{second}/service", {"slug": "kept"})
        assert machine.post("dismiss") == {"lost": None}
        stream.has(type="reboot", lost=[])

    assert (once["ok"], kept["ok"], kept["slug"]) == (True, True, "kept"), (once, kept)
    assert served.app(once["slug"])["observedId"] == first  # at once
    served.until_state(once["slug"], "up")
    served.until_state("kept", "up")
    assert served.app("kept")["service"]["autostart"] is True
    machine.remembered(machine.devs[:2])
    machine.reboot("third")

    assert until(machine.items, what="the notice").keys() == {first}
    served.until_state("kept", "up")
