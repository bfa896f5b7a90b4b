"""What a service wrote: tails, following, and rotation that loses nothing (case D46)."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Invalid, NotFound
from dashboard.services import layout, logs, rotation
from dashboard.services.definition import Service
from dashboard.services.logs import tail
from dashboard.services.state import Limits
from tests.dashboard.services.world import Scene

NOW = datetime(2026, 11, 20, 11, 57, tzinfo=UTC)
MOST = 64 * 1024
BLOCK = 4096
WRITER = """
import sys, time
count, pause = int(sys.argv[1]), float(sys.argv[2])
for n in range(0, count, 100):
    sys.stdout.write("".join(f"line {n + k:09d} " + "." * 80 + chr(10) for k in range(100)))
    sys.stdout.flush()
    time.sleep(pause)
"""


def write(text: str | bytes) -> None:
    fd, _ = logs.append_to("shop")
    os.write(fd, text if isinstance(text, bytes) else text.encode())
    os.close(fd)


def cut(most: int = 2 * BLOCK, keep: int = 5) -> bool:
    return rotation.rotate("shop", max_bytes=most, keep=keep, now=NOW)


def everything() -> bytes:
    return b"".join(
        part.path.read_bytes() for part in logs.list_parts("shop") if part.path.exists()
    )


@pytest.mark.parametrize("lines", [0, 5001, "x", "", "-1", "1.5", "٣", "9" * 30])
def test_another_number_of_lines_is_refused(data: Path, lines: int | str):
    with pytest.raises(Invalid, match='Query "lines" must be 1 to 5000') as refused:
        tail("shop", lines)

    assert refused.value.code == "bad_query"


@pytest.mark.parametrize("after", ["x", "-1", "1e3", ""])
def test_another_position_is_refused(data: Path, after: str):
    with pytest.raises(Invalid, match='Query "after"'):
        tail("shop", 10, after)


def test_a_log_that_never_was_is_empty(data: Path):
    assert tail("shop").wire() == {
        "slug": "shop", "lines": [], "partial": None, "truncated": False, "from": 0, "bytes": 0
    }  # fmt: skip


def test_the_last_lines_and_where_they_are(data: Path):
    write("one\ntwo\nthree\nfour")

    told = tail("shop", 2)

    assert (told.lines, told.start, told.end, told.truncated) == (["two", "three"], 4, 14, True)
    assert told.partial == b"four"
    assert logs.last("shop", 2) == ["three", "four"]


def test_older_lines_end_where_those_at_hand_begin(data: Path):
    write("one\ntwo\nthree\nfour\n")
    cut()
    write("five\nsix\n")
    at_hand = tail("shop", 2)

    older = tail("shop", 3, before=at_hand.start)

    assert (older.lines, older.end, older.truncated) == (
        ["two", "three", "four"],
        at_hand.start,
        True,
    )
    oldest = tail("shop", 3, before=older.start)
    assert (oldest.lines, oldest.truncated, oldest.partial) == (["one"], False, b"")
    assert tail("shop", before=0).lines == []


@pytest.mark.parametrize("around", [{"before": "x"}, {"before": "-1"}, {"before": 0, "after": 0}])
def test_a_position_is_one_number_of_bytes(data: Path, around: dict[str, int | str]):
    with pytest.raises(Invalid, match='"before"') as refused:
        tail("shop", 10, **around)

    assert refused.value.code == "bad_query"


def test_a_line_that_is_not_finished_is_told_once_it_is(data: Path):
    write("one\ntw")
    first = tail("shop")
    with layout.current("shop").open("a") as log:
        log.write("o\nthree\n")

    assert (first.lines, first.partial) == (["one"], b"tw")
    assert tail("shop", after=first.end).lines == ["two", "three"]


def test_bytes_that_are_no_text_and_colours(data: Path):
    write(b"\xff\xfe bad\n\x1b[31mred\x1b[0m\nwith\x00nul\r\n")

    assert tail("shop").lines == ["\ufffd\ufffd bad", "\x1b[31mred\x1b[0m", "with\x00nul"]


def test_a_long_line_is_cut_and_its_log_goes_on(data: Path):
    write("x" * 100_000 + "\nnext\n")

    assert tail("shop").lines == ["x" * 16384, "next"]


def test_a_line_without_end_is_told_in_pieces(data: Path):
    size = 20 * 1024 * 1024
    write(b"x" * size + b"\nnext\n")

    ends, told = [0], tail("shop", after=0)
    while told.data:
        ends.append(told.end)
        told = tail("shop", after=told.end)

    assert ends == [0, 8 << 20, 16 << 20, size + 6]
    assert tail("shop", 1).lines == ["next"]
    assert tail("shop", 2).truncated


def test_the_end_of_a_huge_unfinished_line_is_where_it_is(data: Path):
    size = 20 * 1024 * 1024
    write(b"x" * size)

    told = tail("shop")

    assert (told.lines, told.truncated) == ([], True)
    assert told.end + len(told.partial) == size


def test_more_news_than_asked_for_come_without_a_gap(data: Path):
    write("".join(f"{n}\n" for n in range(25)))

    seen, after = [], 0
    while (told := tail("shop", 10, after)).lines:
        seen += told.lines
        after = told.end

    assert seen == [str(n) for n in range(25)]


def test_following_over_rotations_has_no_gap_and_no_repeat(data: Path):
    seen, after, count = [], 0, 0
    for round_ in range(12):
        lines = [f"{count + n} {'.' * (n % 90)}" for n in range(400)]
        write("\n".join(lines) + "\n")
        count += 400
        if round_ % 2:
            assert cut(most=MOST // 4)
        while (told := tail("shop", 150, after)).lines:
            assert not told.truncated
            seen += told.lines
            after = told.end

    assert [int(line.split()[0]) for line in seen] == list(range(count))
    assert tail("shop", 300).lines == seen[-300:]
    assert logs.end("shop") == after


def test_what_is_not_kept_any_more_is_said_to_be_missing(data: Path):
    for n in range(8):
        write(f"{n}" * 20_000 + "\n")
        cut(most=20_000)
    first = logs.list_parts("shop")[0].start

    told = tail("shop", after=0)

    assert len(logs.archives("shop")) == 5
    assert (told.truncated, told.start) == (True, first)
    assert first > 0


def test_a_position_beyond_the_end_begins_anew(data: Path):
    write("one\n")

    assert tail("shop", after=10_000).lines == ["one"]


@given(chunks=st.lists(st.binary(max_size=9000), max_size=12), lines=st.integers(1, 40))
def test_any_bytes_cut_anywhere_read_as_they_were_written(chunks: list[bytes], lines: int):
    for path in layout.logs("shop").glob("*"):
        path.unlink()
    written = b""
    for n, chunk in enumerate(chunks):
        if written and not written.endswith(b"\n"):
            written += b"\n"  # a new run begins a new line
        write(chunk)
        written += chunk
        if n % 3 == 2:
            cut(keep=99)

    told = tail("shop", lines)
    whole = written[: written.rfind(b"\n") + 1]

    assert everything() == written
    assert told.data == whole[told.start : told.end]
    assert told.end == len(whole)
    assert told.data.count(b"\n") == min(lines, whole.count(b"\n"))
    assert told.partial == written[len(whole) :]


def test_a_run_begins_on_a_line_of_its_own(data: Path):
    write("boom")
    fd, start = logs.append_to("shop")
    os.close(fd)

    assert start == 5
    assert tail("shop").lines == ["boom"]


def test_a_small_log_is_left_alone(data: Path):
    write("x" * 4000)

    assert not cut(most=4001)
    assert not cut(most=10)
    assert logs.archives("shop") == []


def test_archives_are_named_by_time_and_position(data: Path):
    write(b"x" * 10_000)
    cut()
    write(b"y" * 10_000)
    cut()

    assert [part.path.name for part in logs.archives("shop")] == [
        "@20261120T115700Z-0.log", "@20261120T115700Z-8192.log"
    ]  # fmt: skip
    assert {part.path.stat().st_mode & 0o777 for part in logs.list_parts("shop")} == {0o600}


def _write_and_rotate(count: int, pause: float, most: int) -> tuple[int, list[bytes]]:
    fd, _ = logs.append_to("shop")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(count), str(pause)], stdout=fd, start_new_session=True
    )
    os.close(fd)
    rotations = 0
    while writer.poll() is None:
        rotations += cut(most=most, keep=10_000)
        time.sleep(0.001)  # a second of the daemon, scaled as the log is
    return rotations, everything().splitlines()


def test_a_child_that_never_stops_writing_loses_no_line_over_twenty_rotations(data: Path):
    count = 60_000

    rotations, lines = _write_and_rotate(count, 0.0005, 96 * 1024)

    assert rotations >= 20
    assert len(lines) == count
    assert all(line.startswith(b"line %09d " % n) for n, line in enumerate(lines))


def test_where_ranges_cannot_be_cut_the_log_is_copied_and_emptied(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rotation, "COLLAPSES", False)
    text = "".join(f"line {n}\n" for n in range(1000))
    write(text + "two")
    assert cut()
    write("three\n")

    assert tail("shop", 3).lines == ["line 999", "two", "three"]
    assert everything().decode() == f"{text}two\nthree\n"
    assert layout.current("shop").read_text() == "\nthree\n"


def test_an_archive_is_no_larger_than_a_log_may_be(data: Path):
    written = b"".join(b"line %d\n" % n for n in range(30_000))
    write(written)

    rounds = [cut(most=MOST) for _ in range(6)]

    assert len(written) < 6 * MOST
    assert rounds[:2] == [True, True]
    assert not rounds[-1]
    assert max(part.size for part in logs.list_parts("shop")) <= MOST
    assert everything() == written


@pytest.mark.parametrize("collapses", [True, False])
def test_what_is_written_faster_than_it_can_be_kept_is_left_out_with_a_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, collapses: bool
):
    monkeypatch.setattr(rotation, "COLLAPSES", rotation.COLLAPSES and collapses)
    write("first\n" + "x" * MOST)
    assert cut(most=MOST)
    fd, _ = logs.append_to("shop")
    with subprocess.Popen([sys.executable, "-c", WRITER, "100000", "0"], stdout=fd) as writer:
        pass
    os.close(fd)
    assert writer.returncode == 0
    end = logs.end("shop")

    assert cut(most=MOST, keep=2)

    told = tail("shop", 5000, after=0)
    left = re.fullmatch(r"\[svc left out (\d+) bytes here\]", told.lines[0])
    assert left is not None
    assert int(left[1]) + told.end - told.start - len(left[0]) - 1 == end
    assert (told.truncated, told.end) == (True, end)
    while cut(most=MOST, keep=2):
        assert sum(part.size for part in logs.list_parts("shop")) <= 3 * MOST + 2 * BLOCK
    assert layout.current("shop").stat().st_size < MOST
    assert logs.end("shop") == end
    assert tail("shop", 1).lines[0].startswith(f"line {99_999:09d}")


@pytest.mark.parametrize("collapses", [True, False])
def test_a_full_disk_keeps_no_log_from_becoming_shorter(
    data: Path, monkeypatch: pytest.MonkeyPatch, collapses: bool
):
    for n in range(3):
        write(f"{n}" * MOST)
        assert cut(most=MOST)
    written = b"".join(b"line %d\n" % n for n in range(20_000))
    write(written)
    end = logs.end("shop")
    monkeypatch.setattr(rotation, "COLLAPSES", rotation.COLLAPSES and collapses)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(rotation, "_copy", full)
    assert cut(most=MOST)

    assert sum(part.size for part in logs.list_parts("shop")) <= MOST + 2 * BLOCK
    assert (logs.end("shop"), tail("shop", 1).lines) == (end, ["line 19999"])
    assert tail("shop", after=0).lines[0].startswith("[svc left out ")
    assert list(layout.logs("shop").glob("*.draft")) == []


def test_a_writer_that_is_faster_than_the_copy_does_not_keep_it_busy_for_ever(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rotation, "COLLAPSES", False)
    write("x" * 2 * MOST)
    copy, grown = rotation._copy, 0

    def copied_while_it_grows(source: int, target: int, start: int, end: int) -> int:
        nonlocal grown
        grown += 1
        assert grown < 20
        with layout.current("shop").open("a") as log:
            log.write("y" * 2 * (end - start))
        return copy(source, target, start, end)

    monkeypatch.setattr(rotation, "_copy", copied_while_it_grows)
    assert cut(most=MOST)

    assert sum(part.size for part in logs.list_parts("shop")) <= 3 * MOST


@pytest.mark.parametrize("moment", ["copied", "cut"])
def test_a_kill_in_the_middle_of_a_rotation_loses_and_repeats_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch, moment: str
):
    text = "".join(f"line {n}\n" for n in range(5000))
    write(text)

    class Killed(BaseException):
        """What no handler catches, as a kill."""

    def killed(*_: object) -> None:
        raise Killed

    collapse = rotation._collapse

    def cut_then_killed(fd: int, size: int) -> None:
        assert collapse(fd, size)
        killed()

    stop = {"copied": killed, "cut": cut_then_killed}[moment]
    with monkeypatch.context() as patch:
        patch.setattr(rotation, "_collapse", stop)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(Killed):
            cut()

    rotation.recover("shop")

    assert everything().decode() == text
    assert list(layout.logs("shop").glob("*.draft")) == []
    assert len(logs.archives("shop")) == (moment == "cut")


async def test_the_daemon_rotates_by_itself_and_counts_on(scene: Scene):
    scene.limits = Limits(log_max_bytes=20_000, log_keep=3)
    await scene.begin(shop=Service("yes | head -c 30000; sleep 60"))
    await scene.supervisor.act("shop", "start")

    await scene.until(lambda: logs.archives("shop"))
    await scene.until(lambda: scene.view()["logBytes"] == 30_000)

    assert scene.supervisor.tail("shop", 5000).end == 30_000


async def test_the_log_of_what_is_not_managed_is_not_found(scene: Scene):
    await scene.begin()

    with pytest.raises(NotFound) as refused:
        scene.supervisor.tail("shop", 10)

    assert refused.value.code == "not_managed"
