"""T3: a killed worker loses nothing and doubles nothing (a process crash, not a power cut)."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from django.db import connections

from tests.promises.rings import SLOW, ring, seeded
from tests.service import until
from tests.workspace.triggers.conftest import utc  # noqa: F401 - the zone of the host
from tests.workspace.triggers.test_qcluster import Cluster
from tests.workspace.triggers.world import World
from workspace.chats.turns import delivery, endings, recovery, worker
from workspace.models import Run, TriggerState, Turn
from workspace.triggers import runs
from workspace.triggers.firing import start
from workspace.triggers.schedule.clock import Clock
from workspace.triggers.schedule.ticker import Ticker

ENTRY = """\
triggers:
  t:
    trigger: {type: schedule, interval: 1h}
    run:
      prompt: |
        #!runbook
        ```Bash
        echo "$SVC_TURN_ID" >> fired.txt
        ```
      permissionMode: bypassPermissions
      overlap: parallel
    enabled: true
"""
WHOLE_S = 0.4  # about as long as claim, start and turn take together


def due_now() -> None:
    """The next nominal time of the trigger is now."""
    now = datetime.now(UTC)
    TriggerState.objects.update(next_at=now, armed_at=now - timedelta(hours=1))


def one_worker() -> None:
    """Everything a firing goes through, in one process."""
    Ticker(Clock()).start()
    work_off()


def work_off() -> None:
    for run_id in [*runs.waiting().values_list("id", flat=True)]:
        start(run_id)
    for turn_id in [*Turn.objects.filter(state="queued").values_list("id", flat=True)]:
        worker.run(turn_id, on_change=runs.follow)


def forked(work: Callable[[], None]) -> int:
    """A worker process: what a worker makes of its process would stay with the tests."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        try:
            work()
        finally:
            os._exit(0)
    return pid


def killed_after(seconds: float) -> None:
    """A worker process that gets SIGKILL while it does its work."""
    pid = forked(one_worker)
    time.sleep(seconds)  # the moment of the kill is what is random here
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def recover() -> None:
    """What the next start does, with every lease of the dead run out."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    Turn.objects.filter(state="running").update(lease_until=past)
    Run.objects.filter(lease_until__isnull=False).update(lease_until=past)
    deadline = time.monotonic() + 20
    while Turn.objects.filter(state="running").exists() and time.monotonic() < deadline:
        recovery.sweep(on_change=runs.follow)  # a dying turn process may still hold its chat
        Turn.objects.filter(state="running").update(lease_until=past)
    runs.recover(datetime.now(UTC))


@pytest.mark.promise("T3")
@pytest.mark.django_db(transaction=True)
def test_every_nominal_time_ends_completed_or_interrupted_exactly_once(
    settings, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(delivery, "hand_over", lambda turn: None)  # the workers are ours
    monkeypatch.setattr(runs, "deliver", lambda run_id: None)
    settings.PROJECTS_DIR = tmp_path
    world = World(tmp_path)
    world.write(ENTRY)
    world.arm()
    kills, random = ring(fast=12, slow=3_000), seeded()

    for number in range(kills):
        due_now()
        killed_after(random.uniform(0, WHOLE_S))
        Ticker(Clock()).start()  # claims what the dead one did not
        if number % 6 == 0:
            recover()
    due_now()
    os.waitpid(forked(one_worker), 0)
    recover()
    os.waitpid(forked(work_off), 0)

    check(world, kills + 1)


@pytest.mark.promise("T3")
@pytest.mark.skipif(not SLOW, reason="leases and redelivery take minutes: the slow ring")
def test_clusters_killed_whole_end_every_run_once_and_run_no_turn_twice(tmp_path: Path):
    """Two real clusters share the queues of the store; one dies at any moment, another comes."""
    clusters, random = Cluster(tmp_path), seeded()
    fired = clusters.service.projects / "alpha" / "fired.txt"
    clusters.write("1s", 'echo "$SVC_TURN_ID" >> fired.txt')
    running = [clusters.start(), clusters.start()]
    try:
        for _ in range(ring(fast=2, slow=60)):
            time.sleep(random.uniform(0, 2))  # the moment of the kill is what is random here
            dying = running.pop(random.randrange(2))
            kill_whole(dying)
            running.append(clusters.start())
        clusters.write("10d", "true")
        until(clusters.idle, seconds=300, what="every run has ended")
    finally:
        clusters.close()

    statuses = Counter(clusters.statuses())
    print(statuses)
    assert set(statuses) <= {"completed", "interrupted", "skipped"}
    assert statuses["completed"]
    times = [time for status, time, _ in clusters.runs() if status != "skipped"]
    assert len(times) == len(set(times))
    turns = Counter(fired.read_text().split())
    assert set(turns.values()) == {1}
    ended = "SELECT count(*) FROM workspace_turn WHERE state = 'done'"
    assert clusters.service.rows(ended) == [(statuses["completed"],)]
    assert statuses["completed"] <= len(turns)


def kill_whole(top: psutil.Process) -> None:
    family = [top, *top.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family, timeout=10)


def check(world: World, times: int) -> None:
    found = [*Run.objects.order_by("id")]
    statuses = Counter(run.status for run in found)
    print(statuses)
    assert set(statuses) <= {"completed", "interrupted"}
    assert statuses["completed"]
    assert statuses["interrupted"]
    assert len({run.scheduled_for for run in found}) == len(found) == times
    lines = Counter((world.folder / "alpha" / "fired.txt").read_text().split())
    assert set(lines.values()) == {1}
    for run in found:
        turns = [*Turn.objects.filter(run=run)]
        assert len(turns) <= 1
        for turn in turns:
            kinds = Counter(one["type"] for one in records(turn))
            assert (kinds["turn_start"], kinds["user"], kinds["turn_end"]) == (1, 1, 1)
        if run.status == "completed":
            assert lines[turns[0].id] == 1
            assert records(turns[0])[-1]["status"] == "ok"


def records(turn: Turn) -> list[dict[str, object]]:
    return [dict(one) for one in endings.records_of(endings.transcript_of(turn), turn.id)]
