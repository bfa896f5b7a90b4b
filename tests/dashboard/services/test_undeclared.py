"""Runs that no file declares: started once, or their file is away. They are adopted too."""

from __future__ import annotations

import os
import signal

import pytest

from config.errors import Conflict
from dashboard.services import layout, record
from dashboard.services.definition import Ready, Service
from tests.dashboard.services.world import Scene, alive, server
from tests.service import free_port

UP = Service("echo up; exec sleep 64", ready=Ready(log="up"))


async def test_a_service_whose_file_is_away_is_adopted_and_can_be_stopped(scene: Scene):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid or 0

    await scene.again()

    view = scene.view()
    assert (view["status"], view["pid"], view["adopted"]) == ("running", pid, True)
    assert scene.supervisor.families().keys() == {"shop"}
    assert scene.supervisor.running()["shop"][0] == pid
    assert (await scene.supervisor.act("shop", "stop")).ok
    assert not alive(pid)
    assert scene.supervisor.wire("shop") is None


async def test_a_file_that_returns_finds_its_service(scene: Scene):
    service = server(free_port(), restart="always")
    await scene.begin(shop=service)
    pid = (await scene.supervisor.act("shop", "start")).pid
    await scene.again()

    scene.supervisor.declare("shop", service)

    view = scene.view()
    assert (view["status"], view["pid"], view["stale"]) == ("running", pid, False)
    assert (await scene.supervisor.act("shop", "start")).already
    assert (await scene.supervisor.act("shop", "restart")).pid != pid


async def test_what_was_started_once_is_adopted_and_not_restarted(scene: Scene):
    await scene.begin()
    pid = (await scene.supervisor.once("shop", server(free_port()))).pid or 0

    await scene.again()

    view = scene.view()
    assert (view["status"], view["pid"], view["once"]) == ("running", pid, True)
    with pytest.raises(Conflict) as refused:
        await scene.supervisor.act("shop", "restart")
    assert refused.value.code == "not_managed"
    assert alive(pid)
    assert (await scene.supervisor.act("shop", "stop")).ok
    assert not alive(pid)


@pytest.mark.parametrize("reason", ["user", "restarting"])
async def test_a_stop_that_was_cut_short_is_finished_though_the_file_is_away(
    scene: Scene, reason: str
):
    await scene.begin(shop=UP)
    pid = (await scene.supervisor.act("shop", "start")).pid or 0
    unit = scene.supervisor._units["shop"]
    unit.state.status, unit.state.reason = "stopping", reason
    await unit.life.save()

    await scene.again()

    await scene.until(lambda: not alive(pid), what="ended")
    await scene.until(lambda: scene.supervisor.status("shop") == "stopped")


async def test_only_runs_that_may_live_are_taken_up(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    await scene.begin(over=UP, lives=UP)
    for slug in ("over", "lives"):
        await scene.supervisor.act(slug, "start")
    await scene.supervisor.act("over", "stop")
    layout.record("torn").write_text("{")
    layout.record("lives").with_name("Not a slug.json").write_bytes(
        layout.record("lives").read_bytes()
    )

    await scene.again()
    assert scene.supervisor.slugs() == {"lives"}

    monkeypatch.setenv("SVC_TEST_BOOT_ID", "another")
    await scene.again()
    assert scene.supervisor.slugs() == set()


async def test_how_an_undeclared_run_ended_is_known_when_its_file_returns(scene: Scene):
    await scene.begin(shop=UP)
    outcome = await scene.supervisor.act("shop", "start")
    await scene.again()
    known = record.load("shop")
    assert known is not None

    os.killpg(known.leader, signal.SIGKILL)
    await scene.until(lambda: scene.supervisor.status("shop") == "failed")
    scene.supervisor.declare("shop", UP)

    assert scene.view()["lastExit"] is not None
    assert scene.view()["pid"] is None
    assert not alive(outcome.pid or 0)
