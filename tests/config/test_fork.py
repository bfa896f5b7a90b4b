"""A forked child is a process of its own: its signals, its descriptors, its end."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.service import ROOT, Service

START = """
import atexit, os, signal, socket, sys, time
from config.options import OptionError
from config.process import fork
"""


def output(code: str) -> subprocess.CompletedProcess[str]:
    """What a program prints and how it ends."""
    command = [sys.executable, "-c", START + code]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_signal_ends_a_child_however_early_and_reaches_its_parent_never():
    code = """
told, heard = socket.socketpair()
for end in (told, heard):
    end.setblocking(False)
signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
signal.signal(signal.SIGTERM, lambda *_: None)
codes = []
for _ in range(100):
    child = fork.start("child", signal.pause)
    os.kill(child.pid, signal.SIGTERM)
    child.join(10)
    codes.append(child.exitcode)
try:
    said = set(heard.recv(4096)) - {signal.SIGCHLD}
except BlockingIOError:
    said = set()
print(set(codes), said)
"""
    assert output(code).stdout == "{-15} set()\n"


def test_a_child_ends_as_a_program_does_with_the_code_of_what_it_ran():
    code = """
atexit.register(lambda: os.write(1, b"settled "))
def refused():
    raise OptionError("as asked")
def exits():
    sys.exit(7)
def raises():
    raise ValueError
for run in (int, refused, exits, raises):
    child = fork.start("child", run)
    child.join(20)
    os.write(1, b"%d\\n" % child.exitcode)
os._exit(0)
"""
    done = output(code)

    assert done.stdout.splitlines() == ["settled 0", "settled 2", "settled 7", "settled 1"]
    assert "not starting: as asked\n" in done.stderr


def test_a_child_reads_nothing_writes_where_it_is_told_and_leads_a_session():
    code = """
got, into = os.pipe()
def run():
    print(sys.stdin.read(), os.read(0, 10), os.getsid(0) == os.getpid(), flush=True)
    print("to stderr", file=sys.stderr)
child = fork.start("child", run, lambda: os.close(got), into)
os.close(into)
child.join(20)
print("child:", os.read(got, 4096).decode())
"""
    done = output(code)

    assert done.stdout.split() == ["child:", "b''", "True", "to", "stderr"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a process has open, on Linux")
def test_server_and_qcluster_hold_nothing_of_each_other(tmp_path: Path):
    with Service(tmp_path) as running:
        children = {one.name(): one.pid for one in running.family()[0].children()}
        server, qcluster = children["svc-server"], children["svc-qcluster"]

        assert output_of(server) not in opened(qcluster)
        assert output_of(qcluster) not in opened(server)


def output_of(pid: int) -> str:
    """The pipe that its stdout and stderr lead to."""
    out, err = (os.readlink(f"/proc/{pid}/fd/{number}") for number in (1, 2))  # noqa: PTH115
    assert out == err
    return out


def opened(pid: int) -> set[str]:
    """What its descriptors lead to."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(str(one.readlink()))
    return found
