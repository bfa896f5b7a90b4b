"""Services as the daemon shows them: started, ended, adopted after a kill -9."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections import Counter

import psutil
import pytest

from config.process import table
from dashboard.daemon.sightings import Sightings
from dashboard.services.system import processes
from dashboard.services.system.processes import Family
from tests.dashboard.served import Served
from tests.service import free_port, until

SERVICE = """
name: {slug}
port: {port}
service:
  command: exec {python} -m http.server {port} --bind 127.0.0.1
  cwd: {cwd}
"""


def declared(served: Served, slug: str, **more: str) -> int:
    port = free_port()
    text = SERVICE.format(slug=slug, port=port, python=sys.executable, cwd=served.tmp)
    served.declare(slug, text + "".join(f"  {key}: {value}\n" for key, value in more.items()))
    until(lambda: served.app(slug))
    return port


def kept_state(served: Served, slug: str) -> str:
    """What the next daemon will know of the app."""
    query = "SELECT state FROM dashboard_slug WHERE slug = ?"
    with contextlib.closing(sqlite3.connect(served.data / "svc.sqlite3")) as database:
        return str(next(iter(database.execute(query, [slug])), ("",))[0])


def test_the_processes_of_many_services_cost_one_look_at_each(monkeypatch: pytest.MonkeyPatch):
    asked: Counter[int] = Counter()
    environ = table.environ
    monkeypatch.setattr(processes, "environ", lambda pid: asked.update([pid]) or environ(pid))
    families = {f"app-{n}": Family(f"{n:032x}", 2**22 + n, 1) for n in range(60)}
    with subprocess.Popen(["sleep", "60"], env={"SVC_RUN": families["app-7"].run}) as ours:
        found = Sightings(frozenset())._pids(families, 0.0, fresh=True)
        ours.kill()

    assert found["app-7"] == {families["app-7"].leader, ours.pid}
    assert found["app-8"] == {families["app-8"].leader}
    assert set(asked.values()) == {1}


def test_a_service_is_an_app_although_it_is_our_child(served: Served) -> None:
    port = declared(served, "shop")
    with served.events() as stream:
        assert served.act("shop", "start")["ok"]

        stream.has(type="state", slug="shop", state="up")
        found = until(lambda: (app := served.app("shop"))["observedId"] and app, seconds=10)

    assert found["service"]["status"] == "running"
    above = [one["pid"] for one in found["identity"]["process"]["parents"]]
    assert found["service"]["pid"] in above
    assert served.observed(port) == {}
    assert served.act("shop", "stop")["ok"]
    assert served.app("shop")["state"] == "stopped"


def test_a_start_is_never_told_as_down_first(served: Served) -> None:
    declared(served, "starts")
    served.until_state("starts", "stopped")
    with served.events() as stream:
        served.act("starts", "start")
        stream.has(type="state", slug="starts", state="up")

    told = [one["state"] for one in stream.all if one.get("slug") == "starts" and "state" in one]
    assert "down" not in told
    assert served.app("starts")["lastKnown"] is None


def test_an_exit_nobody_asked_for_is_told_at_once(served: Served) -> None:
    declared(served, "dies")
    pid = served.act("dies", "start")["pid"]
    served.until_state("dies", "up")
    [command] = psutil.Process(pid).children()
    with served.events() as stream:
        command.kill()

        stream.has(type="state", slug="dies", state="down", seconds=5)

    assert served.app("dies")["reason"] == "exited"
    assert served.app("dies")["service"]["lastExit"]["signal"] == "SIGKILL"


def test_a_service_that_crashes_over_and_over_is_never_up(served: Served) -> None:
    block = "{command: 'sleep 0.3; exit 3', cwd: /, restart: on-failure}"
    served.declare("loops", f"service: {block}\n")
    until(lambda: served.app("loops"))
    with served.events() as stream:
        served.act("loops", "start")
        until(lambda: served.app("loops")["service"]["restarts"] >= 2, seconds=20)

    told = {one["state"] for one in stream.all if one.get("slug") == "loops" and "state" in one}
    assert "up" not in told
    served.act("loops", "stop")


def test_a_service_that_could_not_start_says_why_over_a_restart_too(served: Served) -> None:
    served.declare("nowhere", "service: {command: x, cwd: /nope/x}\n")
    until(lambda: served.app("nowhere"))
    served.act("nowhere", "start")
    why = "service.cwd: /nope/x is not a directory; create it or change service.cwd"

    assert why in served.app("nowhere")["message"]
    served.kill_server()
    until(lambda: why in (served.app("nowhere").get("message") or ""), what="the reason")


def test_a_restart_that_cannot_start_says_why_and_each_start_after_it(served: Served) -> None:
    folder, port = served.tmp / "goes", free_port()
    text = SERVICE.format(slug="goes", port=port, python=sys.executable, cwd=folder)
    folder.mkdir()
    served.declare("goes", text + "expected: always\n")
    until(lambda: served.app("goes"))
    served.act("goes", "start")
    folder.rmdir()

    answer = served.act("goes", "restart")

    assert (answer["ok"], answer["app"]["state"], answer["app"]["reason"]) == (
        False,
        "down",
        "exited",
    )
    assert "goes is not a directory" in answer["app"]["message"]
    served.declare("goes", text.replace("cwd:", "envFile:") + "expected: always\n")
    until(lambda: "cwd" not in served.app("goes")["config"]["service"])
    assert "service.envFile" in served.act("goes", "start")["app"]["message"]


def test_a_stop_of_what_does_not_run_leaves_what_answers_there_up(served: Served) -> None:
    dev = served.dev_server("elsewhere")
    text = SERVICE.format(slug="elsewhere", port=dev.port, python=sys.executable, cwd=dev.cwd)
    served.declare("elsewhere", text)
    before = served.until_state("elsewhere", "up")

    answer = served.act("elsewhere", "stop")

    assert (answer["ok"], answer["already"], answer["app"]["state"]) == (True, True, "up")
    assert answer["app"]["since"] == before["since"]


@pytest.mark.slow
def test_a_service_whose_file_was_renamed_can_be_stopped_where_it_runs(served: Served) -> None:
    port = free_port()
    text = SERVICE.format(slug="was", port=port, python=sys.executable, cwd=served.tmp)
    served.declare("was", text)
    until(lambda: served.app("was"))
    served.act("was", "start")
    served.until_state("was", "up")

    served.file("was").rename(served.file("now"))

    until(lambda: served.app("was").get("source") == "discovered", what="the old name")
    assert served.app("was")["service"]["status"] == "running"
    assert f"port {port} is held by" in served.until_state("now", "down")["message"]
    answer = served.act("was", "stop")
    assert (answer["ok"], answer["app"]["state"]) == (True, "stopped")
    assert served.act("now", "start")["ok"]
    served.until_state("now", "up")
    until(lambda: served.app("was") == {}, seconds=15, what="the end of the old name")


@pytest.mark.slow
def test_what_a_user_stopped_is_no_alarm_to_the_next_server(served: Served) -> None:
    declared(served, "rests")
    path = served.file("rests")
    path.write_text(path.read_text() + "expected: always\n")
    served.act("rests", "start")
    served.act("rests", "stop")
    served.until_state("rests", "stopped")
    until(lambda: kept_state(served, "rests") == "stopped")

    served.kill_server()

    with served.events() as stream:
        found = until(lambda: (app := served.app("rests"))["last"] and app, seconds=10)
    assert (found["state"], found["reason"]) == ("stopped", "user")
    assert not [one for one in stream.all if one.get("slug") == "rests" and "state" in one]


@pytest.mark.slow
def test_since_and_reason_of_what_goes_on_survive_a_restart(served: Served) -> None:
    declared(served, "halted")
    served.declare("gone", f"port: {free_port()}\nexpected: always\n")
    served.act("halted", "start")
    served.act("halted", "stop")
    served.until_state("gone", "down")
    until(lambda: {kept_state(served, slug) for slug in ("halted", "gone")} == {"stopped", "down"})
    before = {slug: served.app(slug) for slug in ("halted", "gone")}

    served.kill_server()

    for slug, was in before.items():
        now = served.until_state(slug, was["state"])
        assert (now["since"], now["reason"]) == (was["since"], was["reason"]), slug
    assert before["halted"]["reason"] == "user"

    def changes() -> list[tuple[str, str]]:
        history = served.api.get("/api/apps/gone/history").json()
        return [(one["to"], one["reason"]) for one in history["transitions"]]

    until(lambda: [to for to, _ in changes()][-3:] == ["down", "unknown", "down"], what="all three")
    assert ("unknown", "off") in changes()
    served.declare("gone", "paused: true\n")


def test_services_outlive_a_killed_server_and_are_adopted(served: Served) -> None:
    declared(served, "lives")
    pid = served.act("lives", "start")["pid"]
    served.until_state("lives", "up")

    served.kill_server()

    found = served.until_state("lives", "up", seconds=10)
    assert (found["service"]["status"], found["service"]["pid"]) == ("running", pid)
    assert found["service"]["adopted"]
    assert psutil.pid_exists(pid)


@pytest.mark.slow
def test_an_app_is_unknown_with_its_last_known_state_until_it_was_asked(served: Served) -> None:
    declared(served, "remembered")
    served.act("remembered", "start")
    served.until_state("remembered", "up")
    until(lambda: kept_state(served, "remembered") == "up", what="its state on disk")

    served.kill_server()
    with served.events() as stream:
        served.until_state("remembered", "up")

        told = [one for one in stream.all if one.get("type") == "state"]

    assert [one for one in told if one["slug"] == "remembered"] == []  # it is what it was


def test_a_paused_app_is_not_probed_and_asked_again_when_it_is_not(served: Served) -> None:
    dev = served.dev_server("pausing")
    path = served.declare("pausing", f"name: Pausing\nport: {dev.port}\npaused: true\n")
    assert served.until_state("pausing", "unknown")["reason"] == "paused"

    path.write_text(f"name: Pausing\nport: {dev.port}\n")

    served.until_state("pausing", "up")
