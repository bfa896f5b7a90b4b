"""One turn from its delivery to its end, inside a django-q2 worker.

Delivered at least once, run at most once: one conditional update under a unique index claims the
row. Never raises, so every delivery is acknowledged. One turn per worker at a time. See
docs/design/engines.md#delivered-at-least-once-run-at-most-once.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import Q

from config.errors import NotFound, SvcError
from config.mcp.operations import Registry
from config.process import prctl
from config.process.ending import Ending
from config.storage import covered, database, homes
from workspace.access import clients
from workspace.chats.turns import endings, jobs, recovery, tokens
from workspace.chats.turns.delivery import OnChange, ignore
from workspace.chats.turns.output import Output
from workspace.chats.turns.questions import CROWDED, Follower, Question, is_crowded_out
from workspace.engines import procs
from workspace.engines import select as engines
from workspace.engines.base import Job
from workspace.engines.paths import Paths
from workspace.models import Turn
from workspace.projects import store
from workspace.projects.project import FILE
from workspace.trees import checkpoints

log = logging.getLogger(__name__)

LEASE_S, RENEW_S, LOOK_S = 30, 10, 0.25
GRACE_S = 5.0  # between asking a turn process to stop and killing its tree
SETTLE_S = 120
LATE_S = 2.0  # the turn process ends itself in time; after this the worker ends it
ANSWERED, LOCKED, KNOWN, UNREADABLE, UNWRITABLE = 0, 3, 4, 5, 6
GONE = "{reason}. Its folder was moved or renamed: put it back, then resume the queue"
BARRED = "Client {who} caused this and may not act in this project any more; send it yourself."
STOPPED = {"user": "stopped", "timeout": "timeout", "shutdown": "interrupted"}
VERDICTS = {  # exit code -> outcome unless the transcript has one
    KNOWN: ("interrupted", "worker_lost"),
    UNREADABLE: ("error", "engine_crashed"),
    UNWRITABLE: ("error", "storage_full"),
}


def run(turn_id: str, *, registry: Registry | None = None, on_change: OnChange = ignore) -> None:
    """Run the delivered turn; do nothing if it is not ours to run."""
    try:
        prctl.become_subreaper()
        prctl.hide_memory()
        by = recovery.new_claim()
        try:
            begun = _begin(turn_id, by, registry, on_change)
        except (OperationalError, InterfaceError) as error:
            log.warning("a turn goes back into the queue: %s", error, extra={"turn": turn_id})
            back = partial(_put_back, turn_id, by, on_change)
            database.once_there(back, within=SETTLE_S)
            return
        if begun is not None:
            _supervise(*begun, on_change)
    except Exception:
        log.exception("turn failed in its worker", extra={"turn": turn_id})


def _begin(
    turn_id: str, by: str, registry: Registry | None, on_change: OnChange
) -> tuple[Turn, Job, jobs.Surroundings] | None:
    """Claim the turn and prepare all that its process needs. Nothing of the turn begins in here.

    None if the turn is not ours to run or must not begin. OperationalError if the database is lost
    in between: whether the claim was stored is unknown then.
    """
    token, digest = tokens.new_token()
    turn = claim(turn_id, digest, by)
    if turn is None:
        recovery.revisit(turn_id, on_change)
        return None
    endings.tell(on_change, turn)
    if _hold_without_project(turn, on_change):
        return None
    if who := clients.barred_names((turn.client, *turn.clients), turn.project):
        _end(turn, ("error", endings.OUT_OF_SCOPE), on_change, text=BARRED.format(who=who))
        return None
    try:
        job = jobs.job_for(turn, token=token, registry=registry)
        refusal = engines.preflight(job)
        if not refusal:
            return turn, job, jobs.surroundings(turn)
    except (SvcError, OSError) as error:
        refusal = error.text if isinstance(error, SvcError) else f"cannot start: {error.strerror}"
    _end(turn, ("error", "refused"), on_change, text=refusal)
    return None


def claim(turn_id: str, token_hash: str, by: str = "") -> Turn | None:
    """Claim the row: only a queued one of this home that is first in its chat, while no other turn
    of the chat runs. Else None."""
    now = datetime.now(UTC)
    try:
        with transaction.atomic():
            turn = Turn.objects.filter(homes.mine(), id=turn_id, state="queued").first()
            if turn is None or _someone_before(turn):
                return None
            turn.state, turn.claim = "running", by or recovery.new_claim()
            turn.token_hash, turn.started = token_hash, turn.started or now
            turn.lease_until = now + timedelta(seconds=LEASE_S)
            claimed = Turn.objects.filter(id=turn_id, state="queued").update(
                state=turn.state,
                claim=turn.claim,
                token_hash=turn.token_hash,
                started=turn.started,
                lease_until=turn.lease_until,
            )
    except IntegrityError:  # another turn of the chat runs; its end delivers this one
        return None
    return turn if claimed else None


def _someone_before(turn: Turn) -> bool:
    """Whether an earlier message, a waiting turn, or a turn without a written end comes first."""
    waiting = Q(state="queued", id__lt=turn.id) | Q(state="waiting")
    return Turn.of(turn.project, turn.chat).filter(waiting | Q(unclosed=True)).exists()


def _supervise(turn: Turn, job: Job, around: jobs.Surroundings, on_change: OnChange) -> None:
    """Run the process and settle the row; whatever fails in between ends the turn."""
    watch = None
    job = checkpoints.begin(turn, job)
    try:
        with _beside_its_project(turn, job), Output(around.log) as output:
            try:
                watch = Watch(turn, job, around, output.into, on_change)
                code = watch.until_end()
            finally:  # so that no process prints any more
                procs.kill_rest(turn.id)
    except Exception:
        log.exception("turn process lost", extra={"turn": turn.id})
        code, watch = -1, None
    finally:
        around.remove()
    checkpoints.end(turn, job)
    if job.engine and job.engine != "runbook":
        _remember(turn, job.engine)
    _finish(turn, code, watch.why if watch else "", on_change)


def _beside_its_project(turn: Turn, job: Job) -> AbstractContextManager[None]:
    """While the turn works in its project's own directory, do not trust a replaced project.yaml."""
    if job.sandbox.mode != "bwrap" or not Paths.of(job).own:
        return nullcontext()
    return covered.beside(Path(job.chats_dir).with_name(FILE), turn.id)


def _remember(turn: Turn, engine: str) -> None:
    """Store the engine's state; without it the next turn gets the earlier conversation as text."""
    try:
        endings.remember(turn, engine)
    except (SvcError, OSError) as error:
        log.warning("engine state not kept: %s", error, extra={"turn": turn.id})


def _finish(turn: Turn, code: int, why: str, on_change: OnChange) -> None:
    if code == LOCKED:
        _put_back(turn.id, turn.claim, on_change)
        return
    verdict = VERDICTS.get(code) or (STOPPED.get(why, "error"), why or "engine_crashed")
    _end(turn, verdict, on_change)


def _end(turn: Turn, verdict: tuple[str, str], on_change: OnChange, text: str = "") -> None:
    """Settle the row; if the database stays away, the sweep does it later.

    The end itself is in the transcript already, so every process that settles the row agrees.
    """
    status, reason = verdict
    settle = partial(endings.recover, turn.id, status=status, reason=reason, text=text)
    database.once_there(partial(settle, on_change=on_change), within=SETTLE_S)


def _put_back(turn_id: str, by: str, on_change: OnChange) -> None:
    """Another writer holds the chat, or the database was lost: the turn has not begun, so queue it
    again for the sweep to deliver."""
    rows = Turn.objects.filter(id=turn_id, claim=by, state="running")
    if rows.update(state="queued", delivered=datetime.now(UTC), **endings.UNBEGUN):
        endings.tell(on_change, Turn.objects.get(id=turn_id))


def _hold_without_project(turn: Turn, on_change: OnChange) -> bool:
    """Hold the claimed message if its project is gone: the folder may come back, or the chat under
    another name. A firing is not held: its run says why it failed."""
    try:
        store.get(turn.project)
        return False
    except NotFound as error:
        return endings.hold(turn, GONE.format(reason=error.text), on_change)


class Watch:
    """A turn process and its row: passes on stops and answers, and returns the exit code."""

    def __init__(
        self,
        turn: Turn,
        job: Job,
        around: jobs.Surroundings,
        output: int,
        on_change: OnChange = ignore,
    ) -> None:
        self.turn = turn
        self.why = ""  # why the worker ended the process, if it did
        self._go_on = around.run_dir / jobs.GOES_ON
        self._answered = 0
        self._waits, self._ask_most, self._asking_s = job.waits, job.ask_most, 0.0
        self._kill_at = float("inf")
        self._renew_at = time.monotonic() + RENEW_S
        self._late_at = time.monotonic() + job.turn_seconds + LATE_S
        self._looked_at = time.monotonic()
        self._questions = Follower(
            turn, Path(job.chats_dir, f"{job.chat}.jsonl"), lambda row: endings.tell(on_change, row)
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workspace.chats.turns.process", turn.chat, turn.id],
            cwd=settings.BASE_DIR, env=dict(around.environ), start_new_session=True,
            stdin=subprocess.PIPE, stdout=output, stderr=output, bufsize=0,
        )  # fmt: skip
        self._ending = Ending(self._process)
        self._tell(job.to_json())

    def until_end(self) -> int:
        """The exit code, once the process and all its descendants are gone."""
        try:
            while not self._ending.wait(LOOK_S)[0]:
                self._look()
            self._follow()
        finally:
            if self._process.poll() is None:
                self._kill()
            self._close()
        return self._process.returncode

    def _look(self) -> None:
        now = time.monotonic()
        try:
            row = Turn.objects.filter(id=self.turn.id, claim=self.turn.claim, state="running")
            if now >= self._renew_at:
                row.update(lease_until=datetime.now(UTC) + timedelta(seconds=LEASE_S))
                self._renew_at = now + RENEW_S
            state = row.values_list("stop", "answers", "asks").first()
        except DatabaseError:
            log.exception("the row of a running turn was not read", extra={"turn": self.turn.id})
            self._stop_when_due("", now)
            return
        if state is None:  # another process ended the turn
            self._kill()
            return
        stop, answers, asks = state
        self._put_off(asks, now)
        self._obey(stop, answers, now)
        self._follow()

    def _put_off(self, asks: list[Question], now: float) -> None:
        """Pass on the later deadlines of questions that a person sees. While such a question is
        open, or any question of an unattended turn, the turn's clock stops, in all for as long as
        one question may wait."""
        rests = (
            self._questions.open if self._waits else self._questions.kept & {*self._questions.open}
        )
        if rests and self._asking_s < self._ask_most:
            self._asking_s += now - self._looked_at
            self._late_at += now - self._looked_at
        self._looked_at = now
        for call, until in self._questions.put_off(asks).items():
            at = datetime.fromisoformat(until).timestamp()
            self._tell(jobs.line({"type": "keep", "call": call, "until": at}))

    def _follow(self) -> None:
        """Note new questions; if the database fails, the next look tries again."""
        known = {*self._questions.open}
        try:
            self._questions.look()
            for call in {*self._questions.open} - known:
                if self._waits and is_crowded_out(self.turn):
                    said = {"type": "refuse", "call": call, "reason": CROWDED}
                    self._tell(jobs.line(said))
        except DatabaseError:
            log.exception("the questions of a turn were not kept", extra={"turn": self.turn.id})

    def _obey(self, stop: str, answers: list[dict[str, object]], now: float) -> None:
        for answer in answers[self._answered :]:
            self._tell(jobs.line({"type": "answer", **answer}))
        self._answered = len(answers)
        self._stop_when_due(stop, now)

    def _stop_when_due(self, stop: str, now: float) -> None:
        """Ask the process to stop, and kill it after its grace. Needs no database."""
        if not stop and not self._go_on.exists():
            stop = "user"
        if not self.why and (stop or now >= self._late_at):
            self.why = stop or "timeout"
            self._kill_at = now + GRACE_S
            self._tell(jobs.line({"type": "stop", "reason": self.why}))
            self._process.send_signal(signal.SIGTERM)
        if now >= self._kill_at:
            self._kill()

    def _tell(self, line: bytes) -> None:
        """Write a line to the control channel; a dead process is noticed by its exit instead."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:
            return

    def _kill(self) -> None:
        self._kill_at = float("inf")
        procs.kill_tree(turn=self.turn.id, roots=[self._process.pid], below=[os.getpid()])
        self._process.wait()

    def _close(self) -> None:
        self._ending.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
