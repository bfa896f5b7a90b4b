"""Bash: one command, its output merged and bounded, its process tree killed at the time limit.

Output is data: only its length is examined.
"""

from __future__ import annotations

import os
import subprocess
import time

from config.process.ending import Ending
from workspace.engines import procs
from workspace.engines.tools import Output, Settings, ToolContext

CHARACTERS = 30_000
_KEPT_BYTES = CHARACTERS * 4
TIMED_OUT = 124
LOOK_S = 0.2


def run(command: str, place: ToolContext, settings: Settings, seconds: float) -> Output:
    """Run the command. Steps run one at a time, so all processes below this one belong to it."""
    deadline = time.monotonic() + seconds
    read_end, write_end = os.pipe()
    try:
        child = _spawn(command, settings, write_end)
    except (OSError, ValueError) as error:
        os.close(read_end)
        return Output(f"the command cannot be started: {error}", True, 126, "")
    finally:
        os.close(write_end)
    sink = _Sink(read_end)
    try:
        with place.stoppable():
            ended = _wait(child, sink, deadline)
    except BaseException:
        _kill(child)
        raise
    finally:
        os.close(read_end)
    if not ended:
        _kill(child)
        note = f"[timed out after {seconds:g} s; the process tree was killed]"
        return sink.output(TIMED_OUT, note)
    status = _status(child.wait())
    return sink.output(status, f"[exit status {status}]" if status else "")


def _spawn(command: str, settings: Settings, out: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        cwd=settings.cwd,
        env={**os.environ, **settings.env},
        start_new_session=True,
    )


def _wait(child: subprocess.Popen[bytes], sink: _Sink, deadline: float) -> bool:
    """Wait until the command ends (True) or its time is over (False). A background child that keeps
    the pipe open does not keep the step open."""
    with Ending(child, sink.pipe) as ending:
        while True:
            left = deadline - time.monotonic()
            # A signal just before the call does not end it: wake soon, so that Stop is noticed.
            ended, ready = ending.wait(min(max(0.0, left), LOOK_S))
            if sink.pipe in ready and not sink.take():
                ending.forget(sink.pipe)
            if ended:
                for _ in range(16):  # what a pipe can hold, and a little more
                    if not sink.take():
                        break
                return True
            if left <= 0:
                return False


class _Sink:
    """The output of one command: its beginning is kept, the rest is only counted."""

    def __init__(self, pipe: int) -> None:
        self.pipe, self.kept, self.total = pipe, bytearray(), 0
        os.set_blocking(pipe, False)

    def take(self) -> bool:
        """Read once; False when nothing is there."""
        try:
            part = os.read(self.pipe, 65536)
        except BlockingIOError:
            return False
        self.total += len(part)
        self.kept += part[: _KEPT_BYTES - len(self.kept)]
        return bool(part)

    def output(self, status: int, note: str) -> Output:
        head = self.kept.decode(errors="surrogateescape")[:CHARACTERS]
        shown = head.encode(errors="surrogateescape")  # exactly these bytes, whatever they are
        left_out = self.total - len(shown)
        raw = shown.decode(errors="replace").rstrip("\n")
        lines = [raw, f"[{left_out} bytes left out]" if left_out else "", note]
        return Output("\n".join(filter(None, lines)), status != 0, status, raw)


def _kill(child: subprocess.Popen[bytes]) -> None:
    procs.kill_tree(roots=(child.pid,), below=(os.getpid(),))
    child.wait()


def _status(code: int) -> int:
    return 128 - code if code < 0 else code
