"""The processes of this machine, and signals that reach exactly one of them.

Uses /proc and pidfds where the system has them, elsewhere psutil and plain signals. A process is
identified by its pid and its start time together, so a reused pid is never signalled. Light: turn
processes load it too.
"""

from __future__ import annotations

import os
import signal
import time
from collections import namedtuple

TYPE_CHECKING = False  # do not load `typing` only for annotations

if TYPE_CHECKING:
    from typing import NamedTuple

    class Process(NamedTuple):
        """One process. `started`: clock ticks since boot; not on Linux, seconds since 1970.

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
PER_S = os.sysconf("SC_CLK_TCK") if PROC else 1  # units of `started` per second
DEAD = "ZX"
BOUNDS = slice(47, 49)  # fields of /proc/<pid>/stat: start and end of the environment
EXECUTING_S = 0.1  # an exec takes a fraction of it; a busy machine takes longer


def scan() -> dict[int, Process]:
    """Every process of this machine, zombies too."""
    found = map(find, _numbers())
    return {process.pid: process for process in found if process}


def find(pid: int) -> Process | None:
    """The process with this pid, zombie or not; None if there is none."""
    return _stat(pid) if PROC else _by_psutil(pid)


def living(pid: int) -> Process | None:
    """The process with this pid; None if there is none, or only a zombie."""
    found = find(pid)
    return found if found and found.state not in DEAD else None


def same(pid: int, started: int) -> bool:
    """Whether the process with this pid and start time still lives."""
    found = living(pid)
    return found is not None and found.started == started


def age(started: int) -> float:
    """Seconds since `started`, by the clock it was taken from: on Linux one that is never set."""
    if not PROC:
        return max(0.0, time.time() - started)
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return max(0.0, since_boot - started / PER_S)


def environ(pid: int) -> list[bytes]:
    """The environment the process was started with, as `NAME=value`; [] if it is gone or not ours.

    During an exec a process shows no environment; this waits until it does.
    """
    if not PROC:
        return _environ_by_psutil(pid)
    try:
        return (_read(pid, "environ") or _wait_for_environ(pid)).split(b"\0")
    except (OSError, ValueError):  # ValueError: `stat` has fewer fields here
        return []


def _wait_for_environ(pid: int) -> bytes:
    """Wait for the environment of a process that shows none; b"" if it really has none.

    The kernel sets the bounds of the environment while it executes a program, and an `environ`
    file that was opened before an exec reads as empty, so a second empty read proves nothing.
    """
    os.readlink(f"/proc/{pid}/exe")  # raises for kernel threads, which have no program
    end = time.monotonic() + EXECUTING_S
    while time.monotonic() < end:
        first, last = _fields(pid)[BOUNDS]
        if told := _read(pid, "environ"):
            return told
        if int(first) == int(last) != 0:
            break
        time.sleep(0.001)
    return b""


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
        return file.read()


def handle(process: Process) -> int | None:
    """A pidfd of exactly this process; None if it is gone. OSError if the system has no pidfds."""
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
    """Signal exactly this process; False if it is gone, or set-uid and not ours to signal."""
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
    """Signal by pid: wrong only if the pid is reused between the check and the signal."""
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
    """The fields of /proc/<pid>/stat after the name, which may contain any character."""
    return _read(pid, "stat").rpartition(b")")[2].split()


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
