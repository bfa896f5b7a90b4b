"""Live text: written in batches, bounded, and never mixed between turns."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workspace.chats import live

TURN, OTHER = "msg_1", "msg_2"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "chat.live")


def texts(path: str, offset: int = 0, turn: str = TURN) -> str:
    return "".join(delta.text for delta in live.read(path, offset, turn)[1])


def test_the_first_delta_is_written_at_once_and_the_next_ones_together(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    appender = live.Appender(path, TURN)

    appender.add("b", "text", "one ")
    assert texts(path) == "one "
    appender.add("b", "text", "two ")
    appender.add("b", "text", "three ")
    assert texts(path) == "one "
    now[0] += 0.06
    appender.add("b", "text", "four")

    assert texts(path) == "one two three four"
    assert len(Path(path).read_bytes().splitlines()) == 2


def test_four_kibibytes_do_not_wait(path, monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    appender = live.Appender(path, TURN)
    appender.add("b", "text", "a")
    appender.add("b", "text", "x" * 5000)
    assert len(texts(path)) == 5001


def test_a_turn_writes_at_most_four_mebibytes(path):
    appender = live.Appender(path, TURN)
    for _ in range(6):
        appender.add("b", "text", "x" * 1024 * 1024)
    appender.flush()
    assert Path(path).stat().st_size <= live.TURN_BYTES


def test_the_file_is_empty_after_the_turn_and_before_the_next(path):
    Path(path).write_text("left over from a crash\n")
    appender = live.Appender(path, TURN)
    assert Path(path).stat().st_size == 0
    appender.add("b", "text", "a")
    appender.close()
    assert Path(path).stat().st_size == 0


def test_a_turn_without_deltas_makes_no_file(path):
    live.Appender(path, TURN).close()
    assert not Path(path).exists()


def test_a_reader_sees_only_its_turn_and_whole_readable_lines(path):
    live.Appender(path, TURN).add("b", "text", "mine")
    with Path(path).open("ab") as file:
        file.write(b'{"t":"msg_2","b":"b","k":"text","s":"theirs"}\nnot json\n[]\n{"t":"msg_1"')

    offset, found = live.read(path, 0, TURN)
    assert found == [live.Delta("b", "text", "mine")]
    assert offset < Path(path).stat().st_size
    with Path(path).open("ab") as file:
        file.write(b',"b":"b","k":"text","s":"!"}\n')
    assert texts(path, offset) == "!"


def test_a_reader_stalled_across_a_turn_change_starts_again(path):
    first = live.Appender(path, TURN)
    first.add("b", "text", "a long text of the first turn")
    offset, _ = live.read(path, 0, TURN)
    first.close()
    live.Appender(path, OTHER).add("b", "text", "new")

    assert texts(path, offset, OTHER) == "new"
    assert texts(path, offset, TURN) == ""


def test_an_unwritable_file_costs_the_turn_nothing(tmp_path):
    appender = live.Appender(str(tmp_path / "no" / "folder.live"), TURN)
    appender.add("b", "text", "a")
    appender.add("b", "text", "x" * 5000)
    appender.close()
