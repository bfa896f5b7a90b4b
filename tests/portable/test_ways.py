"""What stands in for a call of Linux, by itself where no whole service comes to it."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from config.process import ending, table
from config.storage import opening
from workspace.triggers.schedule.shared import TaskQueue


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that does not say where an open file is."""
    monkeypatch.setattr(opening, "_NAMED", False)
    monkeypatch.setattr(opening, "_GETPATH", None)


@pytest.mark.usefixtures("untold")
def test_an_open_file_is_named_by_the_path_that_leads_to_it_without_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("a")
    (tmp_path / "link").symlink_to("real")
    with (tmp_path / "link" / "a").open() as file:
        assert opening.path_of(file.fileno(), tmp_path / "link" / "a") == str(tmp_path / "real/a")
    folder = os.open("/", os.O_RDONLY)
    assert opening.path_of(folder, "/") == "/"
    os.close(folder)


@pytest.mark.usefixtures("untold")
def test_a_file_from_elsewhere_is_never_named_by_what_took_the_place_of_its_link(tmp_path: Path):
    (tmp_path / "secret").write_text("s")
    asked = tmp_path / "project"
    asked.symlink_to("secret")
    with asked.open() as file:
        asked.unlink()
        asked.write_text("harmless")
        with pytest.raises(opening.Refused):
            opening.path_of(file.fileno(), asked)


def test_without_pidfds_an_end_is_seen_while_pipes_are_silent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    out, into = os.pipe()
    child = subprocess.Popen(["sh", "-c", "read _; exit 3"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    with ending.Ending(child, out) as end:
        assert end.wait(0) == (False, set())
        os.write(into, b"!")
        assert end.wait(10) == (False, {out})
        end.forget(out)
        child.stdin.close()
        assert end.wait(10) == (True, set())
    assert child.returncode == 3
    os.close(out)
    os.close(into)


def test_processes_are_told_by_psutil_as_by_proc(monkeypatch: pytest.MonkeyPatch):
    mine = table.find(os.getpid())
    assert mine is not None
    monkeypatch.setattr(table, "PROC", False)

    told = table.scan()[os.getpid()]

    assert (told.pid, told.parent, told.group) == (mine.pid, mine.parent, mine.group)
    assert table.same(told.pid, told.started)
    assert not table.same(told.pid, told.started - 1)
    assert any(entry.startswith(b"PATH=") for entry in table.environ(os.getpid()))


def test_a_message_waits_where_a_full_socket_is_an_error():
    class Full:
        """As a socket of macOS is while nobody reads."""

        tries = 0

        def sendmsg(self, *_: object) -> int:
            self.tries += 1
            if self.tries < 3:
                raise OSError(errno.ENOBUFS, "No buffer space available")
            return 1

        def close(self) -> None:
            """Nothing is open."""

    full = Full()
    queue = TaskQueue()
    queue._in = full  # type: ignore[assignment]
    queue.put("task")

    assert full.tries == 3
