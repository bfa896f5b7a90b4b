"""Dev servers come and go by themselves."""

from __future__ import annotations

import socket
import time

from tests.dashboard.served import Served, scanning
from tests.service import until


def test_a_dev_server_is_observed_within_2_5_s_and_its_end_is_told_within_5(
    served: Served,
) -> None:
    with served.events() as stream:
        dev = served.dev_server("alpha")
        begun = time.monotonic()
        until(lambda: served.observed(dev.port), what="observed")
        observed = time.monotonic()
        stream.has(type="observed", reason="scan")
        slug = until(lambda: discovered(served, dev.port), what="discovered")
        served.until_state(slug, "up")
        stream.has(type="apps", reason="discovered")

        dev.kill()
        ended = time.monotonic()
        gone = stream.until(
            lambda one: one.get("slug") == slug and one.get("state") in ("stopped", "down")
        )

    assert observed - begun <= 2.5
    assert gone["at"] - ended <= 5.0


def test_a_restarted_dev_server_keeps_its_id(served: Served) -> None:
    dev = served.dev_server("again")
    before = until(lambda: served.observed(dev.port))
    dev.kill()

    dev = served.dev_server("again", dev.port)

    pid = dev.process.pid
    after = until(lambda: by_pid(served, dev.port, pid), what="the new process")
    assert after["id"] == before["id"]


def test_a_claim_moves_the_listener_from_observed_to_its_app(served: Served) -> None:
    dev = served.dev_server("claimed")
    found = until(lambda: served.observed(dev.port))
    with served.events() as stream:
        answer = served.api.post(f"/api/observed/{found['id']}/claim", json={"slug": "taken"})

        assert answer.status_code == 201, answer.text
        assert served.observed(dev.port) == {}
        assert served.app("taken")["observedId"] == found["id"]
        stream.has(type="observed", reason="claimed")
        served.until_state("taken", "up")


def test_an_ignored_listener_leaves_observed_and_discovered_at_once(served: Served) -> None:
    dev = served.dev_server("noisy")
    slug = until(lambda: discovered(served, dev.port))
    found = served.observed(dev.port)
    with served.events() as stream:
        served.api.post(f"/api/observed/{found['id']}/ignore", json={}).raise_for_status()

        assert served.observed(dev.port) == {}
        assert served.app(slug) == {}
        stream.has(type="observed", reason="ignored")
        stream.has(type="apps", reason="gone")


def test_a_scan_asked_for_sees_what_has_just_started(served: Served) -> None:
    dev = served.dev_server("asked")
    until(lambda: connects(dev.port))

    told = served.api.post("/api/scan", json={}).raise_for_status().json()

    assert served.observed(dev.port)["id"] in told["added"] or served.observed(dev.port)
    assert set(told) == {"scannedAt", "observed", "added", "gone", "ms"}


def test_our_own_ports_are_never_listed(served: Served) -> None:
    served.api.post("/api/scan", json={}).raise_for_status()

    found = {one["port"] for one in served.api.get("/api/observed").json()["observed"]}

    assert found.isdisjoint(served.ports.values())


def test_scanning_turned_off_and_on_again_takes_effect_without_a_restart(
    served: Served,
) -> None:
    path = served.data / "dashboard" / "config.yaml"
    text = path.read_text()
    dev = served.dev_server("toggled")
    until(lambda: served.observed(dev.port))

    path.write_text(scanning(text, enabled=False))
    until(lambda: not served.observed(dev.port), what="nothing observed")
    assert served.api.post("/api/scan", json={}).json()["code"] == "scan_off"

    path.write_text(text)
    until(lambda: served.observed(dev.port), what="observed again")


def test_an_app_that_ends_is_stopped_at_its_first_refusal_and_never_down(
    served: Served,
) -> None:
    path = served.data / "dashboard" / "config.yaml"
    text = path.read_text()
    dev = served.dev_server("ended")
    until(lambda: connects(dev.port))
    served.declare("ended", f"port: {dev.port}\nhealth: {{interval: 1s, failures: 1}}\n")
    served.until_state("ended", "up")
    until(lambda: served.app("ended")["listens"], what="its listener is seen")
    try:
        path.write_text(scanning(text, interval="1h"))
        until(lambda: served.state()["config"]["scan"]["interval"] == "1h", what="no more scans")

        dev.kill()
        served.until_state("ended", "stopped")
    finally:
        path.write_text(text)

    [*_, last] = served.api.get("/api/apps/ended/history").json()["transitions"]
    assert (last["from"], last["to"]) == ("up", "stopped")


def discovered(served: Served, port: int) -> str:
    """The slug of the discovered app on a port."""
    apps = served.state()["apps"]
    found = (one["slug"] for one in apps if one["source"] == "discovered" and one["port"] == port)
    return next(found, "")


def by_pid(served: Served, port: int, pid: int) -> dict[str, object]:
    found = served.observed(port)
    return found if found and found["identity"]["process"]["pid"] == pid else {}


def connects(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
