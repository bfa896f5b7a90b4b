"""The real `manage.py qcluster`: three children that fire, survive a death and stop cleanly."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.service import Service, until

PROJECT = """\
name: Alpha
triggers:
  t:
    trigger: {type: schedule, interval: %s}
    run:
      prompt: |
        #!runbook
        ```Bash
        %s
        ```
      permissionMode: bypassPermissions
    enabled: true
"""


class Cluster:
    """A data directory with one project, and the qclusters started on it."""

    def __init__(self, folder: Path) -> None:
        self.service = Service(folder, scheduler=False)
        self.service._use_template()
        self.started: list[subprocess.Popen[str]] = []
        self.log = (folder / "qcluster.log").open("w+")

    def write(self, every: str, command: str) -> None:
        """The one trigger of the project, saved by hand."""
        folder = self.service.projects / "alpha"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "draft").write_text(PROJECT % (every, command))
        (folder / "draft").replace(folder / "project.yaml")

    def start(self) -> psutil.Process:
        self.started.append(self.service.spawn("qcluster", stdout=self.log, stderr=self.log))
        top = psutil.Process(self.started[-1].pid)
        until(lambda: len(top.children()) == 3, seconds=30, what="three children")
        return top

    def runs(self) -> list[tuple[Any, ...]]:
        query = "SELECT status, scheduled_for, reason FROM workspace_run ORDER BY id"
        return self.service.rows(query)

    def statuses(self) -> list[str]:
        return [status for status, *_ in self.runs()]

    def idle(self) -> bool:
        """Nothing is due, waits or runs, and every task has been acknowledged."""
        count = "SELECT count(*) FROM django_q_ormq"
        due = """SELECT count(*) FROM workspace_triggerstate WHERE "when" != 'interval 10d'"""
        left = [self.service.rows(query)[0][0] for query in (count, due)]
        return not any(left) and not {"queued", "running"} & {*self.statuses()}

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def close(self) -> None:
        for process in self.started:
            with contextlib.suppress(psutil.NoSuchProcess):
                for one in psutil.Process(process.pid).children(recursive=True):
                    one.kill()
            process.kill()
            process.wait(5)
        self.service.http.close()
        self.log.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


def test_a_schedule_written_by_hand_runs_and_goes_on_after_the_death_of_a_child(cluster):
    top = cluster.start()
    facts = json.loads((cluster.service.data / "state" / "qcluster.json").read_bytes())
    assert facts["pid"] == top.pid
    cluster.write("1s", "true")
    until(lambda: "completed" in cluster.statuses(), seconds=30, what="a completed run")

    dead = top.children()
    for child in dead:
        child.kill()
    until(lambda: len({*top.children()} - {*dead}) == 3, seconds=20, what="three new children")
    before = len(cluster.runs())
    # A start that died with its worker holds up the next one until its lease has ended and a chore
    # has looked: a minute each.
    until(lambda: "completed" in cluster.statuses()[before:], seconds=150, what="a new run")


@pytest.mark.slow
def test_two_clusters_on_one_directory_fire_each_nominal_time_once(cluster):
    cluster.write("1s", "true")
    cluster.start()
    cluster.start()

    until(lambda: cluster.statuses().count("completed") >= 3, seconds=60, what="three runs")

    times = [time for _, time, _ in cluster.runs()]
    assert len(times) == len(set(times))


def test_a_stop_ends_the_running_turn_and_leaves_nothing_behind(cluster):
    cluster.write("1s", "setsid sleep 300 & sleep 300")
    top = cluster.start()
    until(lambda: "running" in cluster.statuses(), seconds=30, what="a running turn")
    family = [top, *top.children(recursive=True)]

    top.send_signal(signal.SIGTERM)
    cluster.started[0].wait(10)
    _, left = psutil.wait_procs(family, timeout=2)

    assert left == []
    assert cluster.started[0].returncode == 0
    assert "Traceback" not in cluster.said()
    status, _, reason = cluster.runs()[0]
    assert (status, reason) == ("interrupted", "the server stopped while this run was in progress")
    state = cluster.service.data / "state"
    assert not (state / "qcluster.json").exists()
    assert [*(cluster.service.data / "run").glob("*.bell")] == []


def test_a_killed_supervisor_leaves_no_process(cluster):
    top = cluster.start()
    family = top.children(recursive=True)

    top.kill()
    _, left = psutil.wait_procs(family, timeout=15)

    assert left == []


TOLD_EARLY = """
import os, signal
from workspace.triggers.schedule.cluster import TurnKeeper
class Early(TurnKeeper):
    def start(self):
        os.kill(os.getpid(), signal.SIGTERM)
        return super().start()
Early().serve()
"""


def test_a_cluster_that_is_told_to_stop_before_it_has_started_stops(cluster):
    ended = cluster.service.run("shell", "-c", TOLD_EARLY)

    assert ended.returncode == 0


@pytest.mark.slow
def test_a_cluster_that_cannot_stop_is_killed_and_leaves_no_process(cluster):
    top = cluster.start()
    until(lambda: len(top.children(recursive=True)) > 12, seconds=20, what="all workers")
    family = top.children(recursive=True)
    sentinel = next(child for child in family if child.children() and child.parent() != top)
    sentinel.suspend()

    top.kill()
    _, left = psutil.wait_procs(family, timeout=15)

    assert left == []
    assert "does not stop, it is killed" in cluster.said()


@pytest.mark.slow
def test_a_ticker_that_cannot_stop_ends_with_the_service(tmp_path):
    with Service(tmp_path) as running:
        (cluster,) = [one for one in running.family()[0].children() if one.name() == "svc-qcluster"]
        until(lambda: len(cluster.children()) == 3, seconds=30, what="three children")
        until(lambda: len(cluster.children(recursive=True)) > 12, seconds=20, what="all workers")
        (ticker,) = [one for one in cluster.children() if not one.children()]
        ticker.suspend()

        running.stop()  # which asserts that nothing of it is left
        assert not ticker.is_running()


@pytest.mark.slow
def test_idle_workers_that_are_killed_are_replaced_and_keep_no_task(cluster):
    top = cluster.start()
    cluster.write("1s", "true")
    until(lambda: "completed" in cluster.statuses(), seconds=30, what="a completed run")
    cluster.write("10d", "true")
    until(cluster.idle, seconds=20, what="nothing left to do")
    before = cluster.statuses().count("completed")

    for worker in [one for one in top.children(recursive=True) if not one.children()]:
        if worker.parent() != top:
            worker.kill()
    cluster.write("1s", "true")

    until(lambda: cluster.statuses().count("completed") > before, seconds=30, what="one more run")


@pytest.mark.slow
def test_the_turn_of_a_worker_that_is_killed_is_settled_at_once(cluster):
    cluster.write("1s", "sleep 300")
    top = cluster.start()
    turn = until(lambda: turn_process(top), seconds=30, what="a running turn")
    assert turn is not None
    worker = turn.parent()
    assert worker is not None

    worker.kill()

    until(lambda: "interrupted" in cluster.statuses(), seconds=10, what="the settled run")
    assert not turn.is_running() or turn.status() == psutil.STATUS_ZOMBIE


def turn_process(top: psutil.Process) -> psutil.Process | None:
    """The first turn that runs a command."""
    for one in top.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "workspace.chats.turns.process" in one.cmdline() and one.children():
                return one
    return None
