"""A tiny world for turn tests: one project, one chat, and real turn processes run on it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import psutil

from config.process.ending import Ending
from workspace import ids
from workspace.chats import transcript
from workspace.engines import policy, procs, tools
from workspace.engines.base import Args, Job

BASE = Path(__file__).resolve().parents[4]
DEADLINE_S = 60  # counts only for what never ends


def fence(tool: str, body: str = "", attrs: str = "") -> str:
    return f"```{tool} {attrs}\n{body}\n```\n"


def book(*steps: str) -> str:
    return "#!runbook\n" + "".join(steps)


class World:
    """A project directory with one chat, and what a worker gives a turn."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "projects" / "alpha"
        self.chats = self.project / ".chats"
        self.home = root / "data" / "home" / "alpha"
        self.chat = ids.session_id()
        for folder in (self.chats, self.home):
            folder.mkdir(parents=True)

    @property
    def transcript(self) -> Path:
        return self.chats / f"{self.chat}.jsonl"

    def job(self, prompt: str, **fields: Any) -> Job:
        turn = fields.pop("turn", None) or ids.turn_id()
        run_dir = self.root / "data" / "run" / "turns" / turn
        (run_dir / "tmp").mkdir(parents=True, exist_ok=True)
        standard: dict[str, Any] = {
            "chats_dir": str(self.chats),
            "worker_pid": os.getpid(),
            "engine": "runbook",
            "message": prompt,
            "mode": "bypassPermissions",
            "sender": {"kind": "user", "id": "anonymous"},
            "turn_seconds": 60,
        }
        return Job(
            turn=turn,
            chat=self.chat,
            project="alpha",
            cwd=str(self.project),
            run_dir=str(run_dir),
            prompt=prompt,
            **(standard | fields),
        )

    def environ(self, job: Job) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": f"{job.run_dir}/tmp",
            procs.TAG: job.turn,
        }

    def start(self, job: Job, *, line: bytes | None = None) -> Running:
        child = subprocess.Popen(
            [sys.executable, "-m", "workspace.chats.turns.process", job.chat, job.turn],
            cwd=BASE,
            env=self.environ(job),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running = Running(self, job, child)
        running.send(job.to_json() if line is None else line)
        return running

    def run(self, prompt: str, **fields: Any) -> list[dict[str, Any]]:
        """The records of one turn that ends by itself, with exit code 0."""
        job = self.job(prompt, **fields)
        code, log = self.start(job).end()
        assert code == 0, (code, log)
        return self.records(job.turn)

    def records(self, turn: str | None = None) -> list[dict[str, Any]]:
        found = [record for _, record in transcript.read(str(self.transcript))]
        return [record for record in found if turn is None or record["turn"] == turn]


class Running:
    """One turn process, as its worker sees it."""

    def __init__(self, world: World, job: Job, child: subprocess.Popen[bytes]) -> None:
        self.world, self.job, self.child = world, job, child

    def send(self, line: bytes | dict[str, Any]) -> None:
        assert self.child.stdin
        self.child.stdin.write(
            line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
        )
        self.child.stdin.flush()

    def stop(self, reason: str = "user", *, signalled: bool = True) -> None:
        self.send({"type": "stop", "reason": reason})
        if signalled:
            self.child.send_signal(signal.SIGTERM)

    def end(self) -> tuple[int, str]:
        """Exit code and log; stdin stays open, as a worker keeps it."""
        assert self.child.stdout
        assert self.child.stdin
        with Ending(self.child) as ending:
            if not ending.wait(DEADLINE_S)[0]:
                self.child.kill()
        code = self.child.wait()
        self.child.stdin.close()
        with self.child.stdout as log:
            return code, log.read().decode(errors="replace")

    def until(self, seen: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The turn's records as soon as `seen` holds."""
        found: list[dict[str, Any]] = until(lambda: self.world.records(self.job.turn), seen)
        return found


def until(read: Callable[[], Any], seen: Callable[[Any], bool]) -> Any:
    """What `read` gives once `seen` holds; bounded."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        found = read()
        if seen(found):
            return found
        select.select([], [], [], 0.01)
    raise AssertionError(f"not seen within {DEADLINE_S} s: {read()}")


def pss_mb(pid: int) -> float:
    """MiB that a process holds, its share of what it shares."""
    return float(psutil.Process(pid).memory_full_info().pss) / 2**20


def kinds(records: list[dict[str, Any]]) -> list[str]:
    return [record["type"] for record in records]


def only(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found = [record for record in records if record["type"] == kind]
    assert len(found) == 1, found
    return found[0]


class Hands:
    """What tools need of a turn, without a turn process: the job's own gate, no sandbox."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.gate = policy.Gate(job)
        self.settings = tools.Settings(job.cwd, env={})

    def runner(self, tool: str, args: Args) -> None:
        """No sandbox: the tools act where the test runs."""

    def denial(self, path: str, *, write: bool) -> str | None:
        return self.gate.paths.denial(path, path, write=write)

    def stoppable(self) -> AbstractContextManager[None]:
        return nullcontext()

    def use(self, tool: str, seconds: float = 20, **args: Any) -> tools.Output:
        return tools.run(tool, args, self, self.settings, seconds)

    def ok(self, tool: str, **args: Any) -> str:
        output = self.use(tool, **args)
        assert not output.is_error, output.text
        return output.text

    def fails(self, tool: str, **args: Any) -> str:
        output = self.use(tool, **args)
        assert output.is_error, output.text
        return output.text
