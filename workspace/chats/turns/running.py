"""A running turn: it records the events of its engine, and it is what the engine calls back."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager

from config.process.light_typing import TYPE_CHECKING
from workspace.chats import live, transcript
from workspace.chats.turns.recorder import STOPS, Recorder, scrub
from workspace.engines import base, policy, procs
from workspace.engines.base import (
    Args,
    End,
    Engine,
    EngineError,
    Event,
    Job,
    Notice,
    ToolResult,
    ToolUse,
)
from workspace.engines.confinement import Confinement
from workspace.engines.control import Control, TurnStopped

if TYPE_CHECKING:
    from workspace.engines.runner import Runner
    from workspace.trees.touched import Touched

NEEDS_ENGINE = "No engine can run this message: {reason}."
MOVED = "The working directory leads elsewhere than a moment ago; send the message again."
SILENT = End("error", "engine_crashed", "The engine ended without a word.")


class Log:
    """stdout and stderr of the turn, secrets as ***; output.py limits how much is kept."""

    encoding = "utf-8"

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self.secrets = secrets

    def write(self, text: str) -> int:
        rest = scrub(text, self.secrets).encode(errors="replace")
        while rest:
            rest = rest[os.write(2, rest) :]
        return len(text)

    def flush(self) -> None:
        """Nothing to do: writes are not buffered."""


class Turn:
    """One turn: records the events of its engine, whose TurnIO it is."""

    def __init__(
        self, job: Job, control: Control, recorder: Recorder, confinement: Confinement
    ) -> None:
        self.job, self.control, self.recorder = job, control, recorder
        self.policy = policy.Gate(job)
        control.allowed.extend(job.allow)
        self.policy.allowed = control.allowed  # which a person may change while the turn runs
        self.confinement = confinement
        self.touched = _make_touched(job)
        self.live = live.Appender(recorder.writer.path.removesuffix("jsonl") + "live", job.turn)
        self.before = recorder.writer.end  # records from before this try

    def run(self) -> None:
        """Run from turn_start to turn_end; only a failing transcript ends it without turn_end."""
        self.recorder.begin()
        for notice in self.job.notices:
            self.recorder.take(Notice(*notice))
        try:
            engine = base.engine(self.job.engine) if self.job.engine else None
            end = self._refusal(engine)
            if end is None and engine is not None:
                end = self._perform(engine)
        except TurnStopped as stop:
            end = STOPS.get(stop.reason, STOPS["shutdown"])
        except EngineError as error:
            end = End("error", error.reason, error.text)
        except transcript.StorageError:
            raise
        except Exception as error:
            _log(error)
            text = f"The engine failed: {type(error).__name__}: {error}"
            end = End("error", "engine_crashed", text)
        self.confinement.close()
        procs.kill_tree(below=(os.getpid(),))
        if self.touched is not None:
            self.touched.close()
        self.recorder.finish(end or SILENT, self.confinement.hosts)
        self.live.close()

    def _refusal(self, engine: Engine | None) -> End | None:
        """The end of a turn that must not start; None if it may start."""
        job = self.job
        if engine is None:
            return End("needs_engine", "needs_engine", NEEDS_ENGINE.format(reason=job.refusal))
        if job.sandbox.mode == "unavailable":
            text = f"The sandbox is unavailable: {job.sandbox.reason}."
            return End("error", "sandbox_unavailable", text)
        if job.attachments_dir and self.confinement.paths.root != job.cwd:
            return End("error", "refused", MOVED)
        refusal = engine.preflight(job)
        if refusal:
            return End("error", "refused", refusal)
        if job.mode == "bypassPermissions" and os.geteuid() == 0 and job.sandbox.mode == "off":
            text = "This turn runs as root without a sandbox and without asking."
            self.recorder.take(Notice("warn", "root_unsandboxed", text))
        return None

    def _perform(self, engine: Engine) -> End | None:
        if engine.looped:
            from workspace.engines import looped

            return looped.perform(engine, self.job, self)
        events = engine.run(self.job, self)
        try:
            self.control.check()
            while not isinstance(event := _now(_next(events)), End | None):
                self.take(event)
                self.control.check()
            return event
        finally:
            _now(events.aclose())

    async def gate(self, tool: str, args: Args, call: str) -> str | None:
        """Allow, ask or deny; any failure here denies."""
        self.control.check()
        use = ToolUse(tool, call, args)
        decision = self.judge(use)
        if isinstance(decision, policy.Ask):
            self.record_question(use, decision.seconds)
            answer = self.control.answer(call, decision.seconds)
            return self.record_answer(use, answer, decision.seconds)
        return decision

    def judge(self, use: ToolUse) -> str | policy.Ask | None:
        """None = allowed, the text of a denial, or Ask; any failure here denies."""
        try:
            decision = self.policy.decide(use.tool, use.input)
        except Exception as error:
            _log(error)
            decision = f"{use.tool} was denied: the permission check failed"
        if isinstance(decision, str) and decision != policy.ALLOW:
            self.recorder.permission(use, "denied", "policy", decision)
        if not decision:
            self._note(use)
        return decision or None

    def record_question(self, use: ToolUse, seconds: int) -> None:
        self.control.asking.add(use.call)
        if self.job.waits:
            self.control.rest(use.call)
        self.recorder.question(use, seconds)

    def record_answer(self, use: ToolUse, allowed: bool | None, seconds: int) -> str | None:
        """None if allowed, else the text of the denial: by an answer or by the lack of one."""
        self.control.over(use.call)
        if allowed:
            self.recorder.permission(use, "allowed", "user", None)
            self._note(use)
            return None
        by, reason = "user", f"{use.tool} was denied by the user"
        if why := self.control.reasons.get(use.call):
            reason += f", who says: {why}"
        if allowed is None:
            within = "in time" if use.call in self.control.kept else f"within {seconds} s"
            by, reason = "timeout", f"nobody answered {within}"
        if refused := self.control.refused.get(use.call):
            by, reason = "policy", refused
        self.recorder.permission(use, "denied", by, reason)
        return reason

    def _note(self, use: ToolUse) -> None:
        """Note the files that a call may change before it acts; a failed note stops nothing."""
        if self.touched is not None:
            try:
                self.touched.before(use)
            except OSError as error:
                _log(error)

    async def svc(self, tool: str, args: Args, seconds: float = 60) -> tuple[bool, str]:
        with self.control:
            return self.call_svc(tool, args, seconds)

    def call_svc(self, tool: str, args: Args, seconds: float) -> tuple[bool, str]:
        from workspace.engines.mcp import own_tools

        if self.job.svc is None:
            return True, own_tools.UNREACHABLE
        return own_tools.call(self.job.svc, tool, args, seconds)

    def wrap(
        self,
        argv: list[str],
        *,
        writable: Sequence[str] = (),
        needed: Sequence[str] = (),
        endpoints: Sequence[tuple[str, int]] = (),
    ) -> list[str]:
        return self.confinement.wrap(argv, writable, needed, endpoints)

    def runner(self, tool: str, args: Args) -> Runner | None:
        return self.confinement.runner(tool, args)

    def count(self, host: str, port: int, refused: bool) -> None:
        self.confinement.count(host, port, refused)

    def delta(self, block: str, kind: str, text: str) -> None:
        self.live.add(block, kind, text)

    def flush(self) -> None:
        self.live.flush()

    def take(self, event: Event) -> None:
        if self.touched is not None and isinstance(event, ToolResult):
            try:
                self.touched.after(event.call)
            except OSError as error:
                _log(error)
        self.recorder.take(event)

    def on_stop(self, farewell: Callable[[], Awaitable[object]]) -> None:
        """Nothing to send: an engine without a loop has no child process that listens."""

    def earlier(self) -> Iterator[Args]:
        """Records before those of this try, newest first, including the ones a fork inherited."""
        for _, record in transcript.backwards(self.recorder.writer.path, self.before):
            yield record

    def denial(self, path: str, *, write: bool) -> str | None:
        return self.confinement.denial(path, write=write)

    def stoppable(self) -> AbstractContextManager[None]:
        return self.control


def _make_touched(job: Job) -> Touched | None:
    """Imported only if needed, as every module of a turn process."""
    if job.keep is None:
        return None
    from workspace.trees.touched import Touched

    return Touched(job.keep)


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    async for event in events:
        return event
    return None


def _now(work: Coroutine[object, None, Event | None]) -> Event | None:
    """The result of a coroutine that never suspends: this engine needs no event loop, and importing
    one would take as long as the rest of the turn (S5)."""
    try:
        work.send(None)
    except StopIteration as done:
        result: Event | None = done.value
        return result
    raise RuntimeError("the engine waits for an event loop")


def _log(error: BaseException) -> None:
    import traceback

    traceback.print_exception(error, file=sys.stderr)
