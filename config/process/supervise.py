"""The parent of the service's processes: starts them, keeps their logs, restarts the dead.

`manage.py up` runs it once everything is prepared and loaded. Its children are forked, so they
share what it loaded; `manage.py qcluster` is a second supervisor below it. It sleeps in one select:
no threads, no polling. However it ends, nothing that it started outlives it.
"""

from __future__ import annotations

import contextlib
import json
import logging.handlers
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.context import ForkProcess
from pathlib import Path

from config.process import fork

LOG_BYTES, LOGS_KEPT = 10 * 1024 * 1024, 5
STOP_S = 8.0  # after this the children are killed; a whole stop takes less than 10 s
STEADY_S = 60.0  # the backoff of a child that lived this long starts again
BACKOFF_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
REFUSED = 2  # exit code of a refused start: trying again would not help


@dataclass(slots=True, eq=False)
class Child:
    """One process to keep alive, and the state of its last start."""

    name: str
    run: Callable[..., object]
    log: Path | None = None  # None: it shares our output
    tells_ready: bool = False  # `run` gets a descriptor to write the ports to
    process: ForkProcess | None = None
    started: float = 0.0
    deaths: int = 0
    due: float | None = 0.0  # when to start it (monotonic); None while it runs
    refusal: str = ""
    output: int | None = None  # descriptor its output is read from
    rest: bytes = b""  # an incomplete output line
    writer: logging.Handler = field(default_factory=logging.NullHandler)

    def __post_init__(self) -> None:
        if self.log is not None:
            self.writer = logging.handlers.RotatingFileHandler(
                self.log, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT - 1, delay=True
            )

    def write(self, data: bytes) -> None:
        """Append output to the log line by line; remember why a start was refused."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in (one.decode(errors="replace") for one in lines):
            if line.startswith("not starting:"):
                self.refusal = line
            self.writer.emit(logging.makeLogRecord({"msg": line}))

    def start(self, leave: Callable[[], None]) -> tuple[int | None, int | None]:
        """Fork it; return the descriptors of its output and of its readiness, or None."""
        output, into = os.pipe() if self.log is not None else (None, None)
        ready, tell = os.pipe() if self.tells_ready else (None, None)
        ours, its = present(output, ready), present(into, tell)

        def begin() -> None:
            leave()
            for end in ours:
                os.close(end)

        self.process = fork.start(
            self.name, self.run if tell is None else partial(self.run, tell), begin, into
        )
        for end in its:
            os.close(end)
        self.started, self.due, self.refusal = time.monotonic(), None, ""
        return output, ready

    def poll(self, now: float) -> int | None:
        """The exit code if the process has just ended, else None; plans the next start."""
        code = self.process.exitcode if self.process else None
        if code is None:
            return None
        self.process = None
        self.deaths = 0 if now - self.started > STEADY_S else self.deaths
        self.due = now + BACKOFF_S[min(self.deaths, len(BACKOFF_S) - 1)]
        self.deaths += 1
        return code

    def signal(self, number: int, *, group: bool = False) -> None:
        if self.process is not None and self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(self.process.pid, number)


class Supervisor:
    """One select over outputs, readiness and signals.

    A stop kills what is left after `stop_s`. A supervisor below another one gets less time: else
    the upper one would kill it first, and its remaining children would live on.
    """

    def __init__(self, children: list[Child], stop_s: float = STOP_S) -> None:
        self.children, self.stop_s = children, stop_s
        self.selector = selectors.DefaultSelector()
        self.stopping: float | None = None  # the deadline of a stop
        self.code = 0
        self._wakeup, self._signals = socket.socketpair()

    def run(self) -> int:
        """Run until stopped, or until a child's start is refused; return the exit code."""
        self._watch_signals()
        try:
            while self.stopping is None or any(child.process for child in self.children):
                self._start_due()
                for key, _events in self.selector.select(self._timeout()):
                    key.data(key.fd)
                self._reap()
                self._kill_late()
        finally:
            self._kill()  # children are left only if this raised
        return self.code

    def stop(self) -> None:
        if self.stopping is None:
            self.stopping = time.monotonic() + self.stop_s
            for child in self.children:
                child.due = None
                child.signal(signal.SIGTERM)

    def _watch_signals(self) -> None:
        for end in (self._wakeup, self._signals):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        for number in fork.SIGNALS:
            signal.signal(number, lambda _number, _frame: None)
        self.selector.register(self._signals, selectors.EVENT_READ, self._on_signal)

    def _on_signal(self, descriptor: int) -> None:
        if set(self._signals.recv(4096)) - {signal.SIGCHLD}:
            self.stop()

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.due is not None and child.due <= now:
                child.output, ready = child.start(self._leave)
                if child.output is not None:
                    self._read(child.output, child.write)
                if ready is not None:
                    self._read(ready, announce)

    def _leave(self) -> None:
        """In a forked child: close what belongs to the parent."""
        for key in self.selector.get_map().values():
            os.close(key.fd)
        self.selector.close()
        self._wakeup.close()

    def _read(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        def on_readable(descriptor: int) -> None:
            data = os.read(descriptor, 65536)
            if data:
                take(data)
            else:
                self.selector.unregister(descriptor)
                os.close(descriptor)

        self.selector.register(descriptor, selectors.EVENT_READ, on_readable)

    def _timeout(self) -> float | None:
        now = time.monotonic()
        times = [child.due for child in self.children if child.due is not None]
        times += [] if self.stopping is None else [self.stopping]
        return max(0.0, min(times) - now) if times else None

    def _reap(self) -> None:
        for child in self.children:
            code = child.poll(time.monotonic())
            if code is None:
                continue
            self._hear_out(child)
            if self.stopping is not None:
                child.due = None
            elif code == REFUSED:
                self._on_refused(child)
            elif child.due is not None:
                wait = child.due - time.monotonic()
                say(f"{child.name} ended ({_how(code)}); starting again in {wait:.1f} s")

    def _hear_out(self, child: Child) -> None:
        """Read what a child wrote just before it ended: one read empties a pipe."""
        for key, _events in self.selector.select(0):
            if key.fd == child.output:
                key.data(key.fd)

    def _on_refused(self, child: Child) -> None:
        child.due = None
        self.code = REFUSED
        if child.log is not None:
            told = child.refusal or f"not starting: {child.name} refused, see {child.log}"
            print(told, file=sys.stderr)
        self.stop()

    def _kill_late(self) -> None:
        if self.stopping is not None and time.monotonic() >= self.stopping:
            self._kill()
            self.stopping = time.monotonic() + self.stop_s

    def _kill(self) -> None:
        for child in self.children:
            child.signal(signal.SIGKILL, group=True)


def announce(data: bytes) -> None:
    """Print the addresses of the parts for the person who started the service."""
    ports = json.loads(data)
    for part, label in (("main", "workspace"), ("review", "review"), ("dashboard", "dashboard")):
        if part in ports:
            say(f"  {label:10} http://localhost:{ports[part]}")
        else:
            say(f"  {label:10} http://localhost:{ports['main']}/{label}/")


def say(line: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone; the service is not
        print(line, flush=True)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def present(*descriptors: int | None) -> list[int]:
    return [one for one in descriptors if one is not None]
