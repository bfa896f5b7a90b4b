"""The turn process's end of the tools that run inside its sandbox (workspace/engines/inside.py).

One sandbox serves all of a turn's calls, so that a server started by one command is there for the
next. If a command kills the sandbox, the next call gets a new one; if a sandbox cannot be started,
the turn fails.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from marshal import dumps

from config.process.light_typing import Any
from workspace.engines import sandbox
from workspace.engines.base import EngineError
from workspace.engines.inside import HEADER, READY
from workspace.engines.paths import Paths
from workspace.engines.sandbox import Sandbox
from workspace.engines.tools import Output, ToolError

LOOK_S, CLOSE_S = 0.2, 0.1
LATE_S = 10.0  # a tool ends by itself at its limit; this much later the sandbox is given up
NOT_FOUND = 127  # exit status of a shell that finds its command nowhere on the PATH
ENDED = "the sandbox of this turn ended before the call did; the next call gets a new one"


class Runner:
    """One sandbox with the tools of a turn. It is started at once, without waiting for it."""

    def __init__(self, argv: list[str], cwd: str, paths: Paths, walls: Sandbox) -> None:
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        self.errors, errors = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, requests, 0),
            (os.POSIX_SPAWN_DUP2, answers, 1),
            (os.POSIX_SPAWN_DUP2, errors, 2),
        ]
        try:
            self.pid = os.posix_spawnp(
                argv[0], argv, os.environ, file_actions=actions, setsid=True,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )  # fmt: skip
        except OSError as error:
            raise EngineError("sandbox_unavailable", f"The sandbox failed: {error}") from None
        finally:
            for fd in (requests, answers, errors):
                os.close(fd)
        self.walls = walls
        self.ready = self.busy = self.lost = self.vanished = False
        os.set_blocking(self.errors, False)
        self._send([cwd, *paths])

    def run(
        self,
        tool: str,
        args: Mapping[str, Any],
        env: Mapping[str, str],
        seconds: float,
        stoppable: AbstractContextManager[None],
    ) -> Output:
        """Run one allowed call. ToolError if the sandbox ended, EngineError if it never began."""
        self._send([tool, dict(args), dict(env), seconds])
        deadline = time.monotonic() + seconds + LATE_S
        self.busy = True
        with stoppable:
            if not self.ready:
                self.ready = self._read(len(READY), deadline) == READY
            head = self._read(HEADER, deadline).split()
            status, is_error, text, raw = (int(part) for part in head)
            data = self._read(text + max(0, raw), deadline)
        self.busy = False
        shown = data[:text].decode(errors="replace")
        output = None if raw < 0 else data[text:].decode(errors="replace")
        if status == NOT_FOUND:
            from workspace.engines.tools import unseen

            advice = unseen.advice(self.walls)
            shown += f"\n[{advice}]" if advice else ""
        return Output(shown, bool(is_error), status, output)

    def close(self) -> None:
        """End the sandbox and everything in it; unless a call is under way it may end by itself."""
        family = [self.pid, *_children(self.pid)]
        handles = [os.pidfd_open(pid) for pid in family]
        for fd in (self.requests, self.answers, self.errors):
            os.close(fd)
        for handle in handles:
            if self.busy or not _over(handle, CLOSE_S):
                os.kill(self.pid, signal.SIGKILL)
                _over(handle, CLOSE_S)
            os.close(handle)
        for pid in family:  # the second became our child when the first ended
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _send(self, values: list[Any]) -> None:
        data = dumps(values)
        rest = memoryview(len(data).to_bytes(4, "big") + data)
        try:
            while rest:
                rest = rest[os.write(self.requests, rest) :]
        except BrokenPipeError:
            self.lost = True

    def _read(self, size: int, deadline: float) -> bytes:
        data = b""
        poller = select.poll()
        poller.register(self.answers, select.POLLIN)
        while len(data) < size:
            # A signal just before the call does not end it: wake soon, so that Stop is noticed.
            if poller.poll(LOOK_S * 1000):
                part = os.read(self.answers, size - len(data))
                if not part:
                    raise self._ended_error()
                data += part
            elif time.monotonic() > deadline:
                raise self._ended_error()
        return data

    def _ended_error(self) -> Exception:
        self.lost = True
        if self.ready:
            return ToolError(ENDED)
        try:
            said = os.read(self.errors, 4096).decode(errors="replace").strip()
        except BlockingIOError:
            said = ""
        line = (said.splitlines() or ["it did not answer"])[0]
        self.vanished = sandbox.says_moved(line)
        return EngineError("sandbox_unavailable", f"The sandbox failed: {line[:200]}")


def _children(pid: int) -> list[int]:
    """What bubblewrap started: the first process of the namespace; when it ends, all others do."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _over(handle: int, seconds: float) -> bool:
    """Whether a process has ended, or ends within this many seconds."""
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return bool(poller.poll(seconds * 1000))
