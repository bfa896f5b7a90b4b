"""One turn from its delivery to its end, inside a django-q2 worker.

Delivered at least once, run at most once: one conditional update under a unique index claims the
row. Never raises, so that every delivery is acknowledged; one turn per worker at a time. See
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

from config.errors import SvcError
from config.mcp.operations import Registry
from config.process import prctl
from config.process.ending import Ending
from config.storage import covered, database, homes
from workspace.access import clients
from workspace.chats.turns import endings, jobs, recovery, tokens
from workspace.chats.turns.delivery import OnChange, ignore
from workspace.chats.turns.output import Output
from workspace.chats.turns.questions import CROWDED, Follower, Question, crowded
from workspace.engines import procs
from workspace.engines import select as engines
from workspace.engines.base import Job
from workspace.engines.paths import Paths
from workspace.models import Turn
from workspace.projects.project import FILE
from workspace.trees import checkpoints

log = logging.getLogger(__name__)

LEASE_S, RENEW_S, LOOK_S = 30, 10, 0.25
GRACE_S = 5.0  # between asking a turn process to stop and killing its tree
SETTLE_S = 120
LATE_S = 2.0  # the turn process ends itself in time; past this the worker does it
ANSWERED, LOCKED, KNOWN, UNREADABLE, UNWRITABLE = 0, 3, 4, 5, 6
BARRED = "Client {who} caused this and may not act in this project any more; send it yourself."
STOPPED = {"user": "stopped", "timeout": "timeout", "shutdown": "interrupted"}
VERDICTS = {  # exit code -> what holds unless the transcript says otherwise
    KNOWN: ("interrupted", "worker_lost"),
    UNREADABLE: ("error", "engine_crashed"),
    UNWRITABLE: ("error", "storage_full"),
}


def run(turn_id: str, *, registry: Registry | None = None, on_change: OnChange = ignore) -> None:
    """Run the delivered turn, or do nothing when it is not for us to run."""
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
    """Claim the turn, and make all that its process needs; nothing of it has begun before that.

    None for one that is not ours to run, or that may not begin. OperationalError of a database that
    goes meanwhile: whether the claim was stored is not known then.
    """
    token, digest = tokens.new_token()
    turn = claim(turn_id, digest, by)
    if turn is None:
        recovery.revisit(turn_id, on_change)
        return None
    endings.tell(on_change, turn)
    if who := clients.barred((turn.client, *turn.clients), turn.project):
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
    """Make the row ours: only a queued one of this home, first of its chat, with no other turn
    running."""
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
    except IntegrityError:  # another turn of the chat runs; its end enqueues this one
        return None
    return turn if claimed else None


def _someone_before(turn: Turn) -> bool:
    """An earlier message, or a turn that waits or whose end has to be written first."""
    waiting = Q(state="queued", id__lt=turn.id) | Q(state="waiting")
    return Turn.objects.filter(waiting | Q(unclosed=True), chat=turn.chat).exists()


def _supervise(turn: Turn, job: Job, around: jobs.Surroundings, on_change: OnChange) -> None:
    """From its process to the settled row; whatever happens in between ends the turn."""
    watch = None
    job = checkpoints.begin(turn, job)
    try:
        with _beside_its_project(turn, job), Output(around.log) as output:
            try:
                watch = Watch(turn, job, around, output.into, on_change)
                code = watch.until_end()
            finally:  # and no process prints any more
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
    """While it works in the project's own directory, nothing else is believed of project.yaml."""
    if job.sandbox.mode != "bwrap" or not Paths.of(job).own:
        return nullcontext()
    return covered.beside(Path(job.chats_dir).with_name(FILE), turn.id)


def _remember(turn: Turn, engine: str) -> None:
    """Without it the next turn is given the earlier conversation as text."""
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
    """Settle the row, or leave that to the sweep where the database stays away.

    The end itself is in the transcript already, so every process that settles it says the same.
    """
    status, reason = verdict
    settle = partial(endings.recover, turn.id, status=status, reason=reason, text=text)
    database.once_there(partial(settle, on_change=on_change), within=SETTLE_S)


def _put_back(turn_id: str, by: str, on_change: OnChange) -> None:
    """Another writer holds the chat, or the database went: the turn never began, the sweep delivers
    it again."""
    rows = Turn.objects.filter(id=turn_id, claim=by, state="running")
    blank = {"claim": "", "token_hash": "", "lease_until": None, "started": None}
    if rows.update(state="queued", delivered=datetime.now(UTC), **blank):
        endings.tell(on_change, Turn.objects.get(id=turn_id))


class Watch:
    """A turn process and its row: stops and answers go in, the exit code comes out."""

    def __init__(
        self,
        turn: Turn,
        job: Job,
        around: jobs.Surroundings,
        output: int,
        on_change: OnChange = ignore,
    ) -> None:
        self.turn = turn
        self.why = ""  # why the worker ended it, when it did
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
        """The exit code, once the process is gone and so is everything below it."""
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
            return
        if state is None:  # another process ended it
            self._kill()
            return
        stop, answers, asks = state
        self._put_off(asks, now)
        self._obey(stop, answers, now)
        self._follow()

    def _put_off(self, asks: list[Question], now: float) -> None:
        """Who sees a question keeps it waiting. Meanwhile, and while one waits that nobody attends,
        the turn's time stands still, so long in all as one question may wait."""
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
        """What the turn asks; a database that is gone is told at the next look."""
        known = {*self._questions.open}
        try:
            self._questions.look()
            for call in {*self._questions.open} - known:
                if self._waits and crowded(self.turn):
                    said = {"type": "refuse", "call": call, "reason": CROWDED}
                    self._tell(jobs.line(said))
        except DatabaseError:
            log.exception("the questions of a turn were not kept", extra={"turn": self.turn.id})

    def _obey(self, stop: str, answers: list[dict[str, object]], now: float) -> None:
        for answer in answers[self._answered :]:
            self._tell(jobs.line({"type": "answer", **answer}))
        self._answered = len(answers)
        if not self.why and (stop or now >= self._late_at):
            self.why = stop or "timeout"
            self._kill_at = now + GRACE_S
            self._tell(jobs.line({"type": "stop", "reason": self.why}))
            self._process.send_signal(signal.SIGTERM)
        if now >= self._kill_at:
            self._kill()

    def _tell(self, line: bytes) -> None:
        """A line on the control channel; a process that is gone is noticed by its end."""
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
