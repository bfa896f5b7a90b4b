"""All apps in one loop, against real servers: no app waits for the silent, nothing is left over."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from dashboard.health import clock, connect, gates, runner
from dashboard.health.evidence import Edge, Notice, Silenced, Started
from dashboard.health.gates import Gate
from dashboard.health.record import LastKnown, Policy, Port, State
from dashboard.health.result import Kind
from dashboard.health.runner import Report, Runner
from dashboard.health.target import Target
from tests.dashboard.health.servers import (
    answers,
    closed_port,
    eventually,
    hangs,
    server_context,
    serving,
)
from tests.wire import make_certificate


class Watched:
    """A running runner and everything it reported."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.runner = Runner(self.reports.append)

    def of(self, slug: str) -> list[Report]:
        return [report for report in self.reports if report.slug == slug]

    def state(self, slug: str) -> str | None:
        record = self.runner.record(slug)
        return record.state.value if record else None

    def notices(self, slug: str) -> list[str]:
        events = [event for report in self.of(slug) for event in report.events]
        return [event.state.value for event in events if isinstance(event, Notice)]

    def probes(self, slug: str) -> int:
        return sum(report.result is not None for report in self.of(slug))


@asynccontextmanager
async def watching() -> AsyncIterator[Watched]:
    watched = Watched()
    task = asyncio.create_task(watched.runner.run())
    await asyncio.sleep(0)
    try:
        yield watched
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """First probes without the spread of a daemon's start."""
    monkeypatch.setattr(runner, "FIRST_SPREAD_S", 0.0)


async def test_an_app_gets_its_state_and_its_edge_is_told_once():
    async with serving(answers()) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port), Policy())
        await eventually(lambda: watched.state("shop") == "up")
        await eventually(lambda: watched.notices("shop") == ["up"])

    report = watched.of("shop")[0]
    assert report.result is not None
    assert report.result.status == 200
    assert [type(event) for event in report.events] == [Edge, Notice]


async def test_a_server_that_dies_and_returns_is_seen_through_probes_and_scans():
    policy = Policy(always=True, interval=1)
    async with watching() as watched:
        async with serving(answers()) as server:
            watched.runner.watch("shop", Target(port=server.port), policy)
            watched.runner.take_scan({"shop": Port.OWN})
            await eventually(lambda: watched.state("shop") == "up")
        died = time.monotonic()
        watched.runner.take_scan({"shop": Port.EMPTY})
        watched.runner.take_scan({"shop": Port.EMPTY})
        await eventually(lambda: watched.state("shop") == "down")

        assert time.monotonic() - died <= 5
        async with serving(answers(), port=server.port):
            watched.runner.take_scan({"shop": Port.OWN})
            await eventually(lambda: watched.state("shop") == "up")

    assert watched.notices("shop") == ["up", "down", "starting", "up"]


async def test_a_refusal_where_it_listened_waits_for_a_look_before_it_counts():
    looks: list[str | None] = []
    async with watching() as watched:

        async def look() -> None:
            looks.append(watched.state("shop"))
            watched.runner.take_scan({"shop": Port.EMPTY})

        watched.runner._look = look
        async with serving(answers()) as server:
            policy = Policy(interval=1, failures=1)
            watched.runner.watch("shop", Target(port=server.port), policy)
            watched.runner.take_scan({"shop": Port.OWN})
            await eventually(lambda: watched.state("shop") == "up")
        await eventually(lambda: watched.state("shop") == "stopped")

    assert looks == ["up"]
    assert watched.notices("shop") == ["up", "stopped"]


async def test_an_app_that_starts_is_asked_every_half_second_until_it_answers():
    with closed_port() as port:
        async with watching() as watched:
            watched.runner.watch("shop", Target(port=port), Policy(should_run=True))
            watched.runner.evidence("shop", Started())
            began = time.monotonic()
            await eventually(lambda: watched.probes("shop") >= 4)
            took = time.monotonic() - began

    assert 1.4 <= took < 4
    assert watched.state("shop") == "starting"


async def test_500_hanging_targets_do_not_delay_a_good_one_nor_block_the_loop():
    lags: list[float] = []

    async def lag() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            lags.append(time.monotonic() - began - 0.01)

    async with serving(hangs) as silent, serving(answers()) as good, watching() as watched:
        meter = asyncio.create_task(lag())
        slow = Target(port=silent.port, timeout=30)
        for number in range(500):
            watched.runner.watch(f"silent-{number}", slow, Policy())
        await eventually(lambda: len(silent.heard) >= 300, seconds=60)
        watched.runner.watch("good", Target(port=good.port), Policy(interval=1))
        lags.clear()
        began = time.monotonic()
        await eventually(lambda: watched.probes("good") >= 4, seconds=20)
        took = time.monotonic() - began
        meter.cancel()

    assert took < 10
    assert watched.state("good") == "up"
    assert sorted(lags)[int(len(lags) * 0.9)] < 0.1


async def test_silent_targets_never_fill_the_gate():
    gate = Gate(8)
    async with AsyncExitStack() as held:
        for _ in range(6):
            await held.enter_async_context(gate.lane(silent=True))
        seventh = asyncio.create_task(held.enter_async_context(gate.lane(silent=True)))
        await asyncio.sleep(0)
        async with asyncio.timeout(5), gate.lane(silent=False), gate.lane(silent=False):
            assert not seventh.done()
            ninth = asyncio.create_task(held.enter_async_context(gate.lane(silent=False)))
            await asyncio.sleep(0)
            assert not ninth.done()
        await ninth
        seventh.cancel()


async def test_a_loop_whose_timers_are_early_is_woken_once_for_each_probe(monkeypatch):
    loop = asyncio.get_running_loop()
    later, woken = loop.call_later, 0

    def early(delay: float, call, *args):
        nonlocal woken
        woken += call.__name__ == "_due"
        return later(max(0.0, delay - 0.0015), call, *args)

    monkeypatch.setattr(loop, "call_later", early)
    async with serving(answers()) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port), Policy(interval=0.1))
        await eventually(lambda: watched.probes("shop") >= 4)
        assert woken <= watched.probes("shop") + 1


async def test_no_more_connections_are_begun_at_once_than_the_limit(monkeypatch):
    monkeypatch.setattr(runner, "CONNECTING", 5)
    begun, most, go = 0, 0, asyncio.Event()
    begin, arrived = connect._begin, connect._finish

    def counted(where: str, port: int):
        nonlocal begun, most
        begun += 1
        most = max(most, begun)
        return begin(where, port)[0], False

    async def late(sock: socket.socket):
        nonlocal begun
        await go.wait()
        try:
            return await arrived(sock)
        finally:
            begun -= 1

    monkeypatch.setattr(connect, "_begin", counted)
    monkeypatch.setattr(connect, "_finish", late)
    async with serving(answers()) as server, watching() as watched:
        target = Target(port=server.port, host="127.0.0.1")
        for number in range(40):
            watched.runner.watch(f"app-{number}", target, Policy())
        await eventually(lambda: begun == 5)
        go.set()
        await eventually(lambda: all(watched.state(f"app-{n}") == "up" for n in range(40)))

    assert most == 5
    assert gates.CONNECTING == 64


async def test_a_listener_of_unknown_protocol_is_asked_twice_within_the_gates(tmp_path):
    tls = server_context(*make_certificate(tmp_path))
    async with serving(answers(), tls=tls) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port, scheme="auto"), Policy())
        await eventually(lambda: watched.state("shop") == "up")

    assert [report.result.scheme for report in watched.reports if report.result] == ["https"]


async def test_one_app_has_one_probe_at_a_time():
    async with serving(hangs) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port, timeout=1), Policy(interval=1))
        await eventually(lambda: len(server.heard) == 1)
        for _ in range(10):
            watched.runner.take_scan({"shop": Port.EMPTY})
            watched.runner.take_scan({"shop": Port.OWN})
        await asyncio.sleep(0)
        assert len(server.heard) == 1
        await eventually(lambda: watched.probes("shop") == 1)


async def test_a_tick_while_a_probe_is_under_way_begins_no_second_one():
    async with serving(hangs) as server, watching() as watched:
        policy = Policy(should_run=True, grace=0.3)
        watched.runner.watch("shop", Target(port=server.port, timeout=60), policy)
        watched.runner.evidence("shop", Started())
        await eventually(lambda: watched.state("shop") == "down")
        await eventually(lambda: server.heard)

        assert len(server.heard) == 1


async def test_a_forgotten_app_is_neither_asked_nor_reported():
    async with serving(hangs) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port, timeout=60), Policy())
        await eventually(lambda: server.heard)
        watched.runner.forget("shop")
        watched.runner.forget("shop")

        assert watched.runner.record("shop") is None
        assert watched.runner.evidence("shop", Started()) is None
        assert watched.reports == []


async def test_new_words_of_the_file_are_asked_about_at_once():
    async with serving(answers()) as old, serving(answers(500)) as new, watching() as watched:
        watched.runner.watch("shop", Target(port=old.port), Policy(interval=3600))
        await eventually(lambda: watched.state("shop") == "up")
        watched.runner.watch("shop", Target(port=old.port), Policy(interval=3600))
        watched.runner.watch("shop", Target(port=new.port), Policy(interval=3600))
        await eventually(lambda: watched.state("shop") == "degraded")

    assert len(old.heard) == 1


async def test_a_paused_app_is_not_asked():
    async with serving(answers()) as server, watching() as watched:
        watched.runner.watch("shop", Target(port=server.port), Policy(interval=1))
        await eventually(lambda: watched.state("shop") == "up")
        watched.runner.evidence("shop", Silenced())
        heard = len(server.heard)
        watched.runner.watch("other", Target(port=server.port), Policy(interval=1))
        await eventually(lambda: watched.probes("other") >= 2)

    assert watched.state("shop") == "unknown"
    assert len(server.heard) == heard + watched.probes("other")


async def test_the_machines_sleep_is_noticed_before_any_result(monkeypatch):
    slept = 0.0
    monkeypatch.setattr(clock, "asleep", lambda: slept)
    go = asyncio.Event()

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await go.wait()

    async with serving(answers()) as good, serving(late) as bad, watching() as watched:
        watched.runner.watch("good", Target(port=good.port), Policy(always=True))
        watched.runner.watch("bad", Target(port=bad.port), Policy(always=True), None)
        await eventually(lambda: watched.state("good") == "up" and bad.heard)
        slept = 3600.0
        go.set()
        await eventually(lambda: watched.probes("bad") >= 1)

        assert watched.state("bad") == "unknown"
        assert watched.of("good")[-1].record.reason.value == "resumed"
        assert watched.notices("good") == ["up"]


async def test_a_reader_that_raises_stops_nothing(caplog):
    def breaks(report: Report) -> None:
        raise RuntimeError("a defect")

    watch = Runner(breaks)
    async with serving(answers()) as server:
        task = asyncio.create_task(watch.run())
        with caplog.at_level(logging.ERROR):
            watch.watch("shop", Target(port=server.port), Policy(interval=1))
            await eventually(lambda: len(server.heard) >= 2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert "the report of shop was not taken" in caplog.text


async def test_a_probe_that_cannot_be_made_here_is_no_evidence(monkeypatch, caplog):
    calls = 0

    async def full(*_, **__):
        nonlocal calls
        calls += 1
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(runner, "probe", full)
    with caplog.at_level(logging.ERROR):
        async with watching() as watched:
            watched.runner.watch("shop", Target(), Policy(always=True, interval=1))
            await eventually(lambda: calls >= 2)

    assert calls == 2
    assert watched.state("shop") == "unknown"


async def test_a_last_known_state_is_kept_until_the_first_result():
    async with serving(answers()) as server:
        watched = Watched()
        record = watched.runner.watch(
            "shop", Target(port=server.port), Policy(), LastKnown(State.UP, 1.0)
        )
        task = asyncio.create_task(watched.runner.run())
        await eventually(lambda: watched.state("shop") == "up")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert record.last_known == (State.UP, 1.0, None)
    assert watched.notices("shop") == []


async def test_stopping_the_runner_leaves_no_task_and_no_timer():
    before = asyncio.all_tasks()
    async with serving(hangs) as server:
        async with watching() as watched:
            for number in range(20):
                watched.runner.watch(
                    f"app-{number}", Target(port=server.port, timeout=60), Policy()
                )
            await eventually(lambda: len(server.heard) == 20)
        left = {task for task in asyncio.all_tasks() - before if "probe" in repr(task)}

        assert left == set()
        assert watched.reports == []
        watched.runner.take_scan({})
        assert len(server.heard) == 20


async def test_500_apps_have_a_state_within_five_seconds_of_the_start(monkeypatch):
    monkeypatch.undo()
    async with AsyncExitStack() as servers:
        open_ = [await servers.enter_async_context(serving(answers())) for _ in range(20)]
        began, busy = time.monotonic(), time.process_time()
        async with watching() as watched:
            for number in range(500):
                target = Target(port=open_[number % 20].port)
                watched.runner.watch(f"app-{number}", target, Policy())
            await eventually(
                lambda: all(watched.state(f"app-{n}") == "up" for n in range(500)), seconds=60
            )
            took, busy = time.monotonic() - began, time.process_time() - busy

    assert took <= 5 or busy <= 3, "the rest of the time the machine was busy elsewhere"
    assert {report.result.kind for report in watched.reports if report.result} == {Kind.OK}
