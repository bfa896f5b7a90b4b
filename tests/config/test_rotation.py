"""The service's own logs: bounded, and the newest lines are the ones that stay."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from config.process import supervise
from config.process.supervise import Child
from tests.service import ROOT, until

LINES, BYTES = 2000, 4096


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(supervise, "LOG_BYTES", BYTES)
    return tmp_path / "server.log"


def test_what_a_child_writes_is_kept_in_a_bounded_number_of_bounded_files(log: Path) -> None:
    child = Child("server", print, log=log)

    for number in range(LINES):
        child.write(b"line %06d\n" % number)
    child.writer.close()

    files = sorted(log.parent.iterdir(), key=lambda path: path.name, reverse=True)
    assert len(files) == supervise.LOGS_KEPT
    assert all(path.stat().st_size <= BYTES for path in files)
    lines = [line for path in files for line in path.read_text().splitlines()]
    first = LINES - len(lines)
    assert lines == [f"line {number:06}" for number in range(first, LINES)]
    assert len(lines) > BYTES * (supervise.LOGS_KEPT - 2) / len(b"line 000000\n")


def test_a_line_that_comes_in_pieces_is_not_cut_by_a_rotation(log: Path) -> None:
    child = Child("server", print, log=log)

    for _ in range(BYTES // 4):
        for piece in (b"be", b"gin-", b"end\nbegin", b"-end\n"):
            child.write(piece)
    child.writer.close()

    lines = [line for path in log.parent.iterdir() for line in path.read_text().splitlines()]
    assert set(lines) == {"begin-end"}


def test_a_log_that_cannot_be_written_stops_no_child(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.mkdir()  # nobody can open it
    told = "print('x' * 9000); print('not starting: as asked'); sys.exit(2)"

    with supervised(told, log) as supervisor:
        _out, err = supervisor.communicate(timeout=30)

    assert supervisor.returncode == supervise.REFUSED
    assert err.endswith("not starting: as asked\n")


def test_the_last_words_of_a_child_are_heard_however_busy_its_parent_is(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    os.mkfifo(log)  # who writes to it waits until somebody reads
    told = """
        print("loading", flush=True)
        unread = array.array("i", [1])
        while unread[0]:
            time.sleep(0.01)
            fcntl.ioctl(1, termios.FIONREAD, unread)
        print("not starting: as asked")
        sys.exit(2)
    """
    with supervised(told, log) as supervisor:
        until(lambda: ended_child(supervisor.pid), what="the child has ended")
        log.read_text()  # now the parent comes to what there was to read
        assert supervisor.stderr
        assert supervisor.stderr.read() == "not starting: as asked\n"
    assert supervisor.returncode == supervise.REFUSED


def supervised(code: str, log: Path) -> subprocess.Popen[str]:
    """A supervisor of one child that runs this code."""
    program = f"""
import array, fcntl, sys, termios, time
from pathlib import Path
from config.process.supervise import Child, Supervisor

def run():
{textwrap.indent(textwrap.dedent(code), "    ")}

sys.exit(Supervisor([Child("server", run, Path({str(log)!r}))]).run())
"""
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended_child(pid: int) -> bool:
    children = psutil.Process(pid).children()
    return bool(children) and all(one.status() == psutil.STATUS_ZOMBIE for one in children)
