"""The control channel of a turn process: JSON lines on stdin, and the signals that wake it.

Stop raises only where the turn waits (`stoppable`), so that a record or a file is never cut off
while it is written. End of file means that the worker is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType

LOOK_S = 0.2
MEANING: dict[int, str] = {signal.SIGALRM: "timeout", signal.SIGTERM: "shutdown"}


class TurnStopped(BaseException):
    """Stop was requested, for the reason user, timeout, shutdown or worker_lost.

    A BaseException, so that code which catches errors does not catch it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Control:
    """Lines from the worker: first the job, then stops and answers."""

    def __init__(self, fd: int = 0) -> None:
        self.fd = fd
        self.reason: str | None = None  # why the turn has to stop
        self.answers: dict[str, bool] = {}
        self.reasons: dict[str, str] = {}  # of denials, as far as a person gave one
        self.refused: dict[str, str] = {}  # call -> why the service accepts no answer to it
        self.kept: dict[str, float] = {}  # call -> when its wait ends, in seconds since 1970
        self.allowed: list[str] = []  # rules of allowing.py for the rest of the chat
        self.notify: Callable[[], object] | None = None  # called from a signal: something came
        self._buffer = b""
        self._waiting = False
        self._receiving = False
        self._signalled: str | None = None  # the reason a signal means, if no line gives one
        self.asking: set[str] = set()  # calls that wait for a person
        self._resting: set[str] = set()  # the calls among them that stop the turn's clock
        self._left = 0.0  # on that clock, in seconds

    def job_line(self) -> bytes:
        """The first line; b"" if the worker closed the channel instead."""
        while b"\n" not in self._buffer:
            part = os.read(self.fd, 65536)
            if not part:
                return b""
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def listen(self, seconds: float) -> None:
        """From now on a line, a SIGTERM or the end of the turn's time interrupts a wait."""
        for number in (signal.SIGTERM, signal.SIGIO, signal.SIGALRM):
            signal.signal(number, self._woken)
        flags = fcntl.fcntl(self.fd, fcntl.F_GETFL)
        fcntl.fcntl(self.fd, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(self.fd, fcntl.F_SETFL, flags | os.O_NONBLOCK | os.O_ASYNC)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        self._receive()

    def rest(self, call: str) -> None:
        """Stop the turn's clock until this question is over."""
        if call in self.asking:
            if not self._resting:
                self._left = signal.setitimer(signal.ITIMER_REAL, 0)[0]
            self._resting.add(call)

    def over(self, call: str) -> None:
        """The question was answered, or its time is over."""
        self.asking.discard(call)
        if call in self._resting:
            self._resting.discard(call)
            if not self._resting and self._left:
                signal.setitimer(signal.ITIMER_REAL, self._left)

    def check(self) -> None:
        """Raise TurnStopped if a stop has come."""
        if self.reason is not None:
            raise TurnStopped(self.reason)

    def __enter__(self) -> None:
        """A stretch in which a stop may interrupt at any moment."""
        self._waiting = True
        try:
            self.check()
        except TurnStopped:
            self._waiting = False  # __exit__ is not called after this
            raise

    def __exit__(self, *_: object) -> None:
        self._waiting = False

    def answer(self, call: str, seconds: float) -> bool | None:
        """What a person answered about this call; None if no answer came in time."""
        until = time.time() + seconds
        with self:
            while call not in self.answers and (left := self.until(call, until) - time.time()) > 0:
                # A signal just before select() may have read the answer already: look again soon.
                select.select([self.fd], [], [], min(left, LOOK_S))
                self._receive()
                self.check()
        return self.answers.get(call)

    def until(self, call: str, least: float) -> float:
        """When this question is denied; a person who looks at it puts that off."""
        return max(least, self.kept.get(call, 0))

    def _woken(self, number: int, frame: FrameType | None) -> None:
        self._signalled = MEANING.get(number, self._signalled)
        self._receive()
        if self._waiting and self.reason is not None:
            self._waiting = False
            raise TurnStopped(self.reason)
        if self.notify is not None:
            self.notify()

    def _receive(self) -> None:
        """Take every line that has arrived. A signal handler that interrupts this leaves the lines
        to it, so that the line which explains the signal is read first."""
        if self._receiving:
            return
        self._receiving = True
        ended = self._read()
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(line)
        self._receiving = False
        self.reason = self.reason or ("worker_lost" if ended else self._signalled)

    def _read(self) -> bool:
        """Read what is there; True at the end of file."""
        while True:
            try:
                part = os.read(self.fd, 65536)
            except BlockingIOError:
                return False
            if not part:
                return True
            self._buffer += part

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            kind = message["type"]
            if kind == "stop":
                self.reason = str(message["reason"])
            elif kind == "answer":
                self.answers[str(message["call"])] = message["allow"] is True
                self.reasons[str(message["call"])] = str(message.get("reason") or "")
            elif kind == "refuse":
                self.refused[str(message["call"])] = str(message["reason"])
                self.answers.setdefault(str(message["call"]), False)
            elif kind == "keep":
                self.kept[str(message["call"])] = float(message["until"])
                self.rest(str(message["call"]))
            elif kind == "allow":
                self.allowed.append(str(message["rule"]))
            elif kind == "revoke":
                self.allowed[:] = [rule for rule in self.allowed if rule != message["rule"]]
        except (ValueError, KeyError, TypeError):
            return
