"""Repair what a crash left behind: at every start, after the death of a worker that ran turns, and
every 60 s.

A turn whose worker is lost ends `interrupted` and is never run again. Rows that no worker took are
delivered again. Processes, directories and logs without a running turn are removed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import psutil
from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django_q.models import OrmQ

from config.errors import SvcError
from config.storage import covered, homes
from workspace.chats import transcript
from workspace.chats.turns import delivery, endings, jobs
from workspace.chats.turns.delivery import OnChange, hand_over, ignore
from workspace.chats.turns.states import BUSY
from workspace.engines import procs
from workspace.models import Run, Turn
from workspace.trees import checkpoints

log = logging.getLogger(__name__)

LEASE_S = 30
REDELIVER_S = 60
FOLLOW_S, LOOK_S = 2.0, 0.05  # a turn process ends within this time of its worker


def sweep(on_change: OnChange = ignore) -> int:
    """Run every step of the sweep. Return how many turns were recovered as interrupted."""
    running = Turn.objects.filter(state="running").values_list("id", flat=True)
    recovered = sum(revisit(turn_id, on_change) for turn_id in running)
    for turn in Turn.objects.filter(homes.mine(), unclosed=True):
        endings.complete(turn, on_change)
    kill_strays()
    remove_scratch()
    follow_files()
    redeliver()
    return recovered


def follow_files() -> None:
    """End the cover of files for turns that no longer run: their contents are a person's again."""
    for path, turns in covered.recorded_files():
        running = Turn.objects.filter(id__in=turns, state="running").values_list("id", flat=True)
        for turn in {*turns} - {*running}:
            covered.end(path, turn)


def new_claim() -> str:
    """A new claim: server, process group (a clean stop ends its turns), worker, a random part.

    At most 32 characters.
    """
    return f"{claims_of(os.getpgrp())}{os.getpid()}-{secrets.token_hex(3)}"


def claims_of(group: int) -> str:
    """The prefix of the claims of a process group."""
    return f"{_here()}-{group}-"


@cache
def _here() -> str:
    """A hash of this machine and data directory: the process ids of others mean nothing here."""
    return hashlib.sha256(f"{socket.gethostname()}:{settings.DATA_DIR}".encode()).hexdigest()[:8]


def adopt(slugs: Iterable[str]) -> None:
    """Assign rows and tasks from before the database had homes to this home: rows of these
    projects, and all such tasks."""
    if homes.home():
        for name in ("svc", delivery.QUEUE):
            OrmQ.objects.filter(key=name).update(key=homes.queue(name))
        for model in (Turn, Run):
            rows = model._default_manager.filter(home="", project__in=list(slugs))
            rows.update(home=homes.home())


def _is_lost(turn: Turn) -> bool:
    """Whether no worker runs the turn any more: its worker is dead, or its lease has expired.

    A turn of another home gets one more lease, so that hosts with its transcript act first. A lease
    that ends later than any lease can was set by a clock that ran ahead, and counts as expired.
    """
    server, _, worker = turn.claim.partition("-")
    pid = worker.split("-")[1:2]
    if server == _here() and pid and not psutil.pid_exists(int(pid[0])):
        return True
    patience = timedelta(seconds=0 if homes.is_mine(turn.home) else LEASE_S)
    if turn.lease_until is None:
        return True
    left = turn.lease_until - datetime.now(UTC)
    return not -patience <= left <= timedelta(seconds=2 * LEASE_S)


def revisit(turn_id: str, on_change: OnChange) -> bool:
    """Recover a running row whose worker is lost and whose chat no process writes."""
    turn = Turn.objects.filter(id=turn_id, state="running").first()
    if turn is None or not _is_lost(turn) or _still_writing(turn):
        return False
    lease = datetime.now(UTC) + timedelta(seconds=LEASE_S)
    as_found = Turn.objects.filter(id=turn_id, state="running", claim=turn.claim)
    if not as_found.update(claim=f"sweep-{secrets.token_hex(6)}", lease_until=lease):
        return False  # another sweep was faster
    procs.kill_tree(turn=turn_id)
    checkpoints.end_lost(turn)
    return endings.recover(turn_id, status="interrupted", reason="worker_lost", on_change=on_change)


def _still_writing(turn: Turn) -> bool:
    """Whether a process keeps the chat's writer lock for FOLLOW_S although its worker is lost."""
    deadline = time.monotonic() + FOLLOW_S
    while _is_locked(turn):
        if time.monotonic() > deadline:
            return True
        time.sleep(LOOK_S)
    return False


def _is_locked(turn: Turn) -> bool:
    try:
        transcript.Writer(endings.transcript_of(turn)).close()
    except transcript.Busy:
        return True
    except (transcript.StorageError, SvcError):
        return False
    return False


def kill_strays() -> None:
    """Kill processes that carry the tag of a turn that does not run."""
    found = procs.pids_by_turn(str(jobs.run_root()))
    running = set(_running(found))
    for turn_id, pids in found.items():
        if turn_id not in running:
            log.warning("killing what a turn left behind", extra={"turn": turn_id, "pids": pids})
            procs.kill_tree(turn=turn_id, roots=pids)


def remove_scratch() -> None:
    """Remove the run directories of turns that do not run."""
    try:
        found = {path.name: path for path in jobs.run_root().iterdir()}
    except FileNotFoundError:
        return
    running = set(_running(found))
    for turn_id, path in found.items():
        if turn_id not in running:
            jobs.discard(path)


def _running(ids: dict[str, list[int]] | dict[str, Path]) -> list[str]:
    """Which of these turns run; asked after they were found, so that a fresh claim is safe."""
    rows = Turn.objects.filter(id__in=list(ids), state="running")
    return list(rows.values_list("id", flat=True))


def redeliver() -> None:
    """Deliver the first row of each idle chat that had no delivery in the last minute. A delivery
    time in the future does not count."""
    now, patience = datetime.now(UTC), timedelta(seconds=REDELIVER_S)
    late = Q(delivered__lt=now - patience) | Q(delivered__gt=now + patience)
    chat = Turn.objects.filter(project=OuterRef("project"), chat=OuterRef("chat"))
    waiting = (
        Turn.objects.filter(homes.mine(), state="queued")
        .filter(Q(delivered=None) | late)
        .exclude(Exists(chat.filter(state__in=BUSY)))
        .exclude(Exists(chat.filter(state="queued", id__lt=OuterRef("id"))))
    )
    for turn in waiting.only("id", "home"):
        hand_over(turn)


def remove_logs() -> None:
    """Delete logs of turn processes that are older than the retention of runs."""
    limit = time.time() - settings.SVC.run_days * 86_400
    for path in (Path(settings.DATA_DIR) / "logs" / "turns").glob("*.log"):
        if path.stat().st_mtime < limit:
            path.unlink(missing_ok=True)
