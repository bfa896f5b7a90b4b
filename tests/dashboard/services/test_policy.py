"""When an ended service is started again: case D43 and T11, on a clock that the test turns."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.services.definition import Ready, Service
from dashboard.services.policy import Restarts, wants_restart
from tests.dashboard.services.world import Scene, alive, log_of
from tests.service import free_port

DIES = Service("echo again; exit 1", restart="on-failure")


@pytest.mark.parametrize(
    ("policy", "clean", "again"),
    [
        ("no", True, False),
        ("no", False, False),
        ("on-failure", True, False),
        ("on-failure", False, True),
        ("always", True, True),
        ("always", False, True),
    ],
)
def test_the_policy_decides_by_how_it_ended(policy: str, clean: bool, again: bool):
    assert wants_restart(policy, clean=clean) is again


def test_delays_double_to_half_a_minute_with_a_little_jitter():
    restarts = Restarts()

    delays = [restarts.delay() for _ in range(8)]

    for delay, base in zip(delays, [1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert base <= delay <= base * 1.1


def test_a_minute_up_begins_anew():
    restarts = Restarts()
    for _ in range(5):
        restarts.delay()

    restarts.count_run(started=0, now=60)

    assert restarts.delay() < 1.2


def test_six_short_lives_within_a_minute_are_a_loop_and_long_ones_are_not():
    short, late, longer = Restarts(), Restarts(), Restarts()
    for n in range(6):
        assert not short.looping
        short.count_run(started=n * 9, now=n * 9 + 9)
        late.count_run(started=n * 13, now=n * 13 + 1)
        longer.count_run(started=n * 11, now=n * 11 + 10)

    assert short.looping
    assert not late.looping
    assert not longer.looping


@pytest.mark.parametrize(("autostart", "policy"), [(True, "on-failure"), (False, "no")])
def test_on_failure_is_the_default_only_with_autostart(autostart: bool, policy: str):
    assert Service("true", autostart=autostart).policy == policy


async def test_a_command_that_exits_at_once_six_times_is_a_crash_loop(turned: Scene):
    await turned.begin(shop=DIES)
    failed = await _loop(turned)
    turned.turn.advance(3600)

    assert (failed["reason"], failed["restarts"], failed["nextRetryAt"]) == ("crash-loop", 5, None)
    assert log_of() == "again\n" * 6
    assert turned.changes[-1].reason == "crash-loop"


async def test_a_changed_file_tries_a_crash_loop_again(turned: Scene):
    await turned.begin(shop=DIES)
    await _loop(turned)

    turned.supervisor.declare("shop", DIES)
    assert turned.view()["status"] == "failed"
    turned.supervisor.declare("shop", Service("echo up; sleep 60", ready=Ready(log="up")))

    assert (await turned.turned_until("running"))["pid"]


async def test_a_user_may_start_a_crash_loop_again(turned: Scene):
    await turned.begin(shop=DIES)
    await _loop(turned)

    told = await turned.supervisor.act("shop", "start")

    assert (told.ok, told.status) == (False, "backoff")


@pytest.mark.slow
async def test_how_it_ended_is_told_to_the_next_daemon_unless_somebody_has_its_port(scene: Scene):
    web, bad = Service("sleep 64", port=free_port()), Service("exit 9")
    await scene.begin(shop=web, bad=bad)
    await scene.supervisor.act("shop", "start")
    await scene.supervisor.act("shop", "stop")
    await scene.supervisor.act("bad", "start")
    await scene.becomes("failed", "bad")

    await scene.again(shop=web, bad=bad)
    told = {(c.slug, c.status, c.reason) for c in scene.changes}
    with socket.create_server(("127.0.0.1", web.port)):
        await scene.again(shop=web)

    assert told == {("shop", "stopped", "user"), ("bad", "failed", "exited")}
    assert scene.changes == []


async def test_an_end_is_seen_at_once_with_its_code(turned: Scene):
    await turned.begin(shop=Service("echo up; exec sleep 60", ready=Ready(log="up")))
    starting = asyncio.create_task(turned.supervisor.act("shop", "start"))
    await turned.turned_until("running")
    await starting
    wrapper = turned.record().leader
    child = int(Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text())

    before = turned.turn.now()
    os.kill(child, signal.SIGSEGV)
    ended = await turned.becomes("failed")

    assert (ended["lastExit"]["code"], ended["lastExit"]["signal"]) == (139, "SIGSEGV")
    assert turned.changes[-1].reason == "exited"
    assert turned.turn.now() == before  # nothing was waited for but the process


async def test_a_clean_end_is_stopped_and_not_failed(turned: Scene):
    await turned.begin(shop=Service("exit 0", restart="on-failure"))

    told = await turned.supervisor.act("shop", "start")

    assert (told.ok, told.status, told.reason) == (False, "stopped", "exited")


async def test_no_more_restarts_than_the_file_allows(turned: Scene):
    await turned.begin(shop=replace(DIES, max_restarts=2))
    await turned.supervisor.act("shop", "start")

    failed = await turned.turned_until("failed")

    assert (failed["reason"], failed["restarts"]) == ("exited", 2)
    assert log_of() == "again\n" * 3


async def test_stop_during_a_backoff_ends_the_tries(turned: Scene):
    await turned.begin(shop=DIES)
    await turned.supervisor.act("shop", "start")
    await turned.becomes("backoff")

    told = await turned.supervisor.act("shop", "stop")
    turned.turn.advance(60)

    assert (told.ok, told.already, told.status) == (True, False, "stopped")
    assert turned.view()["nextRetryAt"] is None
    assert log_of() == "again\n"


async def test_what_a_dead_command_left_behind_is_ended_before_the_next_start(turned: Scene):
    leaves = Service("setsid sleep 63 & echo $!; exit 1", restart="on-failure")
    await turned.begin(shop=leaves)
    await turned.supervisor.act("shop", "start")
    left = int(log_of().split()[0])
    assert alive(left)
    await turned.until(lambda: turned.turn.sleeps(1, 1.1))

    turned.turn.advance(1.2)
    await turned.until(lambda: len(log_of().split()) == 2)

    assert not alive(left)


async def test_a_service_started_once_is_not_started_again(turned: Scene):
    await turned.begin(shop=DIES)

    told = await turned.supervisor.once("shop", DIES)

    assert (told.ok, told.status) == (False, "failed")
    assert turned.view()["once"]


async def _loop(scene: Scene) -> dict[str, Any]:
    """Started by the user, and again after each delay of the policy."""
    await scene.supervisor.act("shop", "start")
    for delay in (1, 2, 4, 8, 16):
        assert (await scene.becomes("backoff"))["nextRetryAt"] is not None
        await scene.until(lambda least=delay: scene.turn.sleeps(least, least * 1.1))  # type: ignore[misc]
        scene.turn.advance(delay * 1.1)
    failed = await scene.becomes("failed")
    assert failed["reason"] == "crash-loop"
    return failed
