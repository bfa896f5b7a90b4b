"""The processes of this machine, and signals that reach exactly one of them.

By /proc and pidfds where the system has them, elsewhere by psutil and plain signals. A process is
known by its number and its start together, so a number that was given out again is never hit.
Light: turn processes load it too.
"""

from __future__ import annotations

import os
import signal
import time
from collections import namedtuple

TYPE_CHECKING = False  # `typing` is not loaded for annotations alone

if TYPE_CHECKING:
    from typing import NamedTuple

    class Process(NamedTuple):
        """`started`: clock ticks since boot, elsewhere than on Linux seconds since 1970.

        `state`: the letter of /proc/<pid>/stat; Z, a zombie, is known on every system.
        """

        pid: int
        parent: int
        group: int
        started: int
        state: str = ""
else:
    Process = namedtuple("Process", "pid parent group started state", defaults=("",))

PROC = os.path.isdir("/proc/self")
PIDFDS = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")
PER_S = os.sysconf("SC_CLK_TCK") if PROC else 1  # of `started` in a second
DEAD = "ZX"
BOUNDS = slice(47, 49)  # of /proc/<pid>/stat: where the environment begins and ends
EXECUTING_S = 0.1  # a process takes a fraction of it, a busy machine more


def scan() -> dict[int, Process]:
    """Every process of this machine, zombies too."""
    found = map(find, _numbers())
    return {process.pid: process for process in found if process}


def find(pid: int) -> Process | None:
    """The process with this number, or its zombie."""
    return _stat(pid) if PROC else _by_psutil(pid)


def living(pid: int) -> Process | None:
    """The process with this number, None when there is none or only its zombie."""
    found = find(pid)
    return found if found and found.state not in DEAD else None


def same(pid: int, started: int) -> bool:
    """Whether this very process still lives."""
    found = living(pid)
    return found is not None and found.started == started


def age(started: int) -> float:
    """Seconds since such a start, by the clock it is counted in: on Linux one that nobody sets."""
    if not PROC:
        return max(0.0, time.time() - started)
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return max(0.0, since_boot - started / PER_S)


def environ(pid: int) -> list[bytes]:
    """`NAME=value` as the process was started with; none of one that is gone or not ours.

    Between one program and the next a process has none, which is waited out.
    """
    if not PROC:
        return _environ_by_psutil(pid)
    try:
        return (_told(pid, "environ") or _executed(pid)).split(b"\0")
    except (OSError, ValueError):  # or a system whose `stat` has fewer fields
        return []


def _executed(pid: int) -> bytes:
    """The environment of a process that shows none: that of its next program, unless it is bare.

    Where an environment begins and ends the kernel notes as it begins the program, and a file that
    was opened before another one was begun tells nothing, so one more look proves nothing.
    """
    os.readlink(f"/proc/{pid}/exe")  # the kernel's own have no program, and never get any
    end = time.monotonic() + EXECUTING_S
    while time.monotonic() < end:
        first, last = _fields(pid)[BOUNDS]
        if told := _told(pid, "environ"):
            return told
        if int(first) == int(last) != 0:
            break
        time.sleep(0.001)
    return b""


def _told(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
        return file.read()


def handle(process: Process) -> int | None:
    """A pidfd of surely this process; None when it is gone. OSError where there are no pidfds."""
    if not PIDFDS:
        raise OSError("this system has no pidfds")
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if same(process.pid, process.started):
        return fd
    os.close(fd)
    return None


def send(process: Process, number: signal.Signals) -> bool:
    """Signal this very process; False when it is gone, or set-uid and not ours to signal."""
    try:
        fd = handle(process)
    except OSError:
        return _send_by_number(process, number)
    if fd is None:
        return False
    try:
        signal.pidfd_send_signal(fd, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(fd)
    return True


def _send_by_number(process: Process, number: signal.Signals) -> bool:
    """Between the look and the signal a number would have to be given out again."""
    try:
        if same(process.pid, process.started):
            os.kill(process.pid, number)
            return True
    except (ProcessLookupError, PermissionError):
        pass
    return False


def _numbers() -> list[int]:
    if PROC:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    import psutil

    return list(psutil.pids())


def _stat(pid: int) -> Process | None:
    try:
        fields = _fields(pid)
        state = fields[0].decode()
        return Process(pid, int(fields[1]), int(fields[2]), int(fields[19]), state)
    except (OSError, IndexError, ValueError):
        return None


def _fields(pid: int) -> list[bytes]:
    """What /proc/<pid>/stat tells behind the name, which may hold anything."""
    return _told(pid, "stat").rpartition(b")")[2].split()


def _by_psutil(pid: int) -> Process | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            dead = process.status() == psutil.STATUS_ZOMBIE
            group = 0 if dead else os.getpgid(pid)
            state, started = "Z" if dead else "S", int(process.create_time())
            return Process(pid, process.ppid(), group, started, state)
    except (psutil.Error, OSError):
        return None


def _environ_by_psutil(pid: int) -> list[bytes]:
    import psutil

    try:
        pairs = psutil.Process(pid).environ().items()
    except (psutil.Error, OSError):
        return []
    return [f"{name}={value}".encode(errors="surrogateescape") for name, value in pairs]
