"""The transcript: one writer, whole records, and a reader that survives any file."""

from __future__ import annotations

import errno
import json
import os
import sys
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.promises.rings import ring
from workspace.chats import lines, transcript

TURN = "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "chat.jsonl")


def fill(path: str, *texts: str) -> list[dict[str, Any]]:
    with transcript.Writer(path) as writer:
        return [writer.append("assistant", TURN, text=text, block="b") for text in texts]


def records(path: str) -> list[dict[str, Any]]:
    return [record for _, record in transcript.read(path)]


def test_a_record_has_the_envelope_and_is_linked_to_the_one_before(path):
    first, second = fill(path, "a", "b")

    assert list(first) == ["v", "seq", "id", "parent", "ts", "turn", "type", "text", "block"]
    assert (first["v"], first["seq"], first["parent"], second["seq"]) == (1, 1, None, 2)
    assert second["parent"] == first["id"]
    assert len(first["id"]) == 32
    assert len(first["ts"]) == len("2026-01-31T09:00:00.000Z")
    assert records(path) == [first, second]


def test_the_file_is_private(path):
    fill(path, "a")
    assert Path(path).stat().st_mode & 0o777 == 0o600


def test_a_second_writer_is_refused_and_changes_no_byte(path):
    fill(path, "a")
    before = Path(path).read_bytes()
    with transcript.Writer(path):
        with pytest.raises(transcript.Busy):
            transcript.Writer(path)
        assert Path(path).read_bytes() == before


def test_the_lock_is_free_after_close(path):
    fill(path, "a")
    assert fill(path, "b")[0]["seq"] == 2


def test_a_writer_goes_on_in_the_file_that_took_the_place_of_its_own(path, tmp_path):
    draft = tmp_path / "draft"
    with transcript.Writer(path) as writer:
        writer.append("user", "msg_1", text="pass1word")
        draft.write_bytes(Path(path).read_bytes().replace(b"pass1word", b"***"))
        draft.replace(path)

        writer.append("assistant", "msg_1", text="noted")

        with pytest.raises(transcript.Busy):
            transcript.Writer(path)
    records = [record for _, record in transcript.read(path)]
    assert [(one["seq"], one["text"]) for one in records] == [(1, "***"), (2, "noted")]
    assert records[1]["parent"] == records[0]["id"]


def test_a_chat_that_is_deleted_while_it_is_written_keeps_what_comes(path, tmp_path):
    with transcript.Writer(path) as writer:
        writer.append("user", "msg_1", text="one")
        Path(path).rename(tmp_path / "trash")

        writer.append("assistant", "msg_1", text="two")

    assert b"two" in (tmp_path / "trash").read_bytes()
    assert not Path(path).exists()


def test_a_writer_whose_place_was_taken_by_no_file_says_so(path):
    with transcript.Writer(path) as writer:
        Path(path).unlink()
        Path(path).mkdir()

        with pytest.raises(transcript.StorageError, match="not a regular file"):
            writer.append("user", "msg_1", text="one")


def test_a_torn_line_that_is_whole_json_becomes_a_record(path):
    last = fill(path, "a", "b")[-1]
    Path(path).write_bytes(Path(path).read_bytes().rstrip(b"\n"))

    assert len(records(path)) == 1  # a line without newline is never read
    added = fill(path, "c")[0]

    assert (added["seq"], added["parent"]) == (3, last["id"])
    scan = transcript.Scan(path)
    assert [record["seq"] for _, record in scan] == [1, 2, 3]
    assert scan.damaged == 0


def test_a_torn_line_that_is_half_a_record_is_counted_and_passed_over(path):
    first, _ = fill(path, "a", "b")
    Path(path).write_bytes(Path(path).read_bytes()[:-9])

    added = fill(path, "c")[0]

    assert (added["seq"], added["parent"]) == (2, first["id"])
    scan = transcript.Scan(path)
    assert [record["text"] for _, record in scan] == ["a", "c"]
    assert scan.damaged == 1
    assert scan.end == Path(path).stat().st_size


@pytest.mark.parametrize(
    "junk",
    [
        b"\n",
        b"null\n",
        b"[1]\n",
        b'{"seq":"1"}\n',
        b'{"seq":9,"turn":"x"}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_line_that_is_no_record_hides_nothing_after_it(path, junk):
    fill(path, "a")
    with Path(path).open("ab") as file:
        file.write(junk)
    fill(path, "b")

    scan = transcript.Scan(path)
    assert [record["text"] for _, record in scan] == ["a", "b"]
    assert scan.damaged == 1
    assert [record["seq"] for _, record in transcript.backwards(path)] == [2, 1]


def test_a_disk_that_fills_up_in_a_record_is_told_and_heals_at_the_next_turn(path, monkeypatch):
    fill(path, "a")
    real = os.write
    writer = transcript.Writer(path)
    room = [20]

    def write(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[: room.pop()])

    monkeypatch.setattr(os, "write", write)

    with pytest.raises(transcript.StorageError, match="No space"):
        writer.append("assistant", TURN, text="b", block="b")
    monkeypatch.undo()
    writer.close()

    assert fill(path, "c")[0]["seq"] == 2
    assert [record["text"] for record in records(path)] == ["a", "c"]


def test_a_short_write_is_continued(path, monkeypatch):
    real = os.write
    with transcript.Writer(path) as writer:
        monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
        writer.append("user", TURN, text="x" * 100, sender={})
    monkeypatch.undo()
    assert records(path)[0]["text"] == "x" * 100


def test_long_tool_output_goes_to_a_blob_under_its_hash(path, tmp_path):
    text = "ä" * 50_000
    with transcript.Writer(path) as writer:
        record = writer.append("tool_result", TURN, call="c", is_error=False, text=text, ms=1)

    name = sha256(text.encode()).hexdigest()
    assert record["blob"] == name
    assert record["bytes"] == 100_000
    assert text.startswith(record["text"])
    assert len(record["text"].encode()) == 16 * 1024
    assert (tmp_path / "blobs" / name).read_text() == text
    assert [path.name for path in (tmp_path / "blobs").iterdir()] == [name]


def test_output_of_64_kib_stays_in_the_record(path):
    with transcript.Writer(path) as writer:
        record = writer.append(
            "tool_result", TURN, call="c", is_error=False, text="x" * 65536, ms=1
        )
    assert "blob" not in record


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "\x01" * 300_000, "sender": {}},
        {"input": {"content": "\x01" * 400_000, "file_path": "a"}, "text": ""},
        {"input": {f"k{n}": "\x01" * 9_000 for n in range(500)}},
        {"input": {"a": {"b": {"c": "\x01" * 400_000}}}},
    ],
)
def test_no_record_is_longer_than_a_mebibyte(path, fields):
    with transcript.Writer(path) as writer:
        writer.append("tool_use", TURN, **fields)
    line = Path(path).read_bytes()
    assert len(line) <= 1024 * 1024
    assert len(records(path)) == 1


def test_what_json_has_no_number_for_is_kept_as_null():
    line = lines.encode({"input": {"a": [1.5, float("nan"), (float("inf"),)]}})
    assert json.loads(line) == {"input": {"a": [1.5, None, [None]]}}


def test_lone_surrogates_become_the_replacement_character(path):
    fill(path, "a\ud800b\udfffc")
    assert records(path)[0]["text"] == "a\ufffdb\ufffdc"


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=ring(fast=40, slow=500), deadline=None)
@given(st.lists(st.fixed_dictionaries({"text": st.text(), "input": anything}), min_size=1))
def test_whatever_is_written_is_read_back(tmp_path_factory, written):
    path = str(tmp_path_factory.mktemp("chat") / "chat.jsonl")
    with transcript.Writer(path) as writer:
        kept = [writer.append("notice", TURN, **fields) for fields in written]

    assert [json.dumps(r) for r in records(path)] == [json.dumps(r) for r in kept]
    assert [r["seq"] for r in records(path)] == list(range(1, len(kept) + 1))


@settings(max_examples=ring(fast=40, slow=500), deadline=None)
@given(st.lists(st.integers(0, 30_000), max_size=30), st.binary(max_size=40), st.data())
def test_reading_backwards_gives_the_same_lines(tmp_path_factory, sizes, tail, data):
    path = tmp_path_factory.mktemp("chat") / "chat.jsonl"
    lines = [b"x" * size for size in sizes]
    path.write_bytes(b"".join(line + b"\n" for line in lines) + tail.replace(b"\n", b" "))
    ends = [sum(len(line) + 1 for line in lines[: n + 1]) for n in range(len(lines))]

    found = list(transcript.lines_backwards(str(path)))
    cut = data.draw(st.integers(0, len(lines)))
    part = list(transcript.lines_backwards(str(path), ends[cut - 1] if cut else 0))

    expected = list(zip(ends, lines, strict=True))
    assert found == expected[::-1]
    assert part == expected[:cut][::-1]


def test_the_last_lines_of_a_long_transcript_are_read_without_the_rest(path, monkeypatch):
    fill(path, *("word " * 20 for _ in range(3000)))
    pread, read = os.pread, 0

    def counted(fd: int, size: int, offset: int) -> bytes:
        nonlocal read
        read += size
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", counted)

    last = [line for _, line in islice(transcript.lines_backwards(path), 80)]

    assert last == Path(path).read_bytes().splitlines()[:-81:-1]
    assert read < 4 * len(b"".join(last))


def test_the_tail_is_found_behind_a_megabyte_of_damage(path):
    last = fill(path, "a")[0]
    with Path(path).open("ab") as file:
        file.write(b"\0" * 1_500_000 + b"\n")
    found = transcript.tail(path)
    assert (found.seq, found.head, found.end) == (1, last["id"], Path(path).stat().st_size)


def test_an_absent_or_empty_file_is_an_empty_chat(path):
    assert records(path) == []
    assert transcript.tail(path) == transcript.Tail(0, None, 0)
    assert not transcript.has_turn(path, TURN)
    Path(path).touch()
    assert records(path) == []
    assert transcript.last_turn_end(path) == (0, 0)


def test_a_turn_is_found_by_its_records_and_not_by_text_that_names_it(path):
    with transcript.Writer(path) as writer:
        writer.append("user", "msg_other", text=f'"turn":"{TURN}"', sender={})
        writer.append("tool_use", "msg_other", tool="x", call="c", input={"turn": TURN}, target="")
    assert not transcript.has_turn(path, TURN)

    with transcript.Writer(path) as writer:
        writer.append("turn_start", TURN)
    assert transcript.has_turn(path, TURN)


def test_a_fork_is_cut_after_the_last_turn_end(path):
    with transcript.Writer(path) as writer:
        writer.append("turn_start", TURN)
        writer.append("turn_end", TURN, status="ok")
        end = writer.end
        writer.append("turn_start", "msg_2")
        writer.append("user", "msg_2", text='{"type":"turn_end"}', sender={})

    assert transcript.last_turn_end(path) == (end, 2)
    assert [offset for offset, _ in transcript.read(path)][1] == end
    assert len(list(transcript.read(path, 0, end))) == 2
    assert [r["type"] for _, r in transcript.read(path, end)] == ["turn_start", "user"]


def test_offsets_resume_exactly(path):
    fill(path, "a", "ä", "c")
    offsets = [offset for offset, _ in transcript.read(path)]
    assert offsets[-1] == Path(path).stat().st_size
    for at, offset in enumerate(offsets):
        assert [r["text"] for _, r in transcript.read(path, offset)] == ["a", "ä", "c"][at + 1 :]


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551616", "-9223372036854775809", "1e400", "NaN", r'"\\ud800"', "-0", "1.0",
        '{"a":1,"a":2}', '"1234567890123456789012"', "[" * 2000, r'"\ud83d\ude00\uD800"', '"한"',
    ],
)  # fmt: skip
def test_a_line_means_the_same_in_a_process_with_the_quick_reader(monkeypatch, text: str):
    line = b'{"seq":1,"turn":"t","type":"tool_use","input":%b}' % text.encode()
    assert "orjson" in sys.modules

    quick = lines.decode(line)
    monkeypatch.delitem(sys.modules, "orjson")

    assert repr(quick) == repr(lines.decode(line))


def test_the_quick_reader_is_used_where_it_is_loaded(monkeypatch):
    monkeypatch.setattr(lines, "json", None)

    found = lines.decode(b'{"seq":1,"turn":"t","type":"user"}')

    assert found == {"seq": 1, "turn": "t", "type": "user"}


odd_lines = st.sampled_from(
    [
        b"", b"{", b"[]", b"null", b"7", b"{}", b'{"seq":1,"turn":"t"}', b'"seq turn type"',
        b'{"seq":true,"turn":"t","type":"user"}', b'{"seq":1.0,"turn":"t","type":"user"}',
        b'{"seq":1,"turn":{},"type":"user"}', b'{"seq":1,"type":"user"}', b"\xff" * 20,
        b'{"seq":1,"turn":null,"type":"user","text":7}', b'{"seq":1,"turn":"t","type":null}',
        b'{"seq":1,"turn":"t","type":"user","sender":"ann"}', b'{"seq":1,"turn":"t",',
        b'{"seq":1,"turn":"t","type":"x","n":18446744073709551616}', b'"type":"user"},{"a":1}',
        b'{"seq":1,"turn":"t","type":"user","text":"\\ud800"}', b"[" * 5000,
    ]
)  # fmt: skip
sound_lines = st.builds(
    b'{"seq":%d,"turn":"t","type":"%b","text":"%b","sender":null}'.__mod__,
    st.tuples(st.integers(0, 1 << 40), st.sampled_from([b"user", b"assistant"]), st.just(b"a")),
)


@settings(max_examples=ring(fast=100, slow=2000), deadline=None)
@given(st.lists(st.one_of(sound_lines, sound_lines, odd_lines), max_size=60))
@example([b'{"seq":1,"turn":"t","type":"x","n":18446744073709551616}'])
def test_lines_mean_the_same_one_by_one_and_all_at_once(tmp_path_factory, mixed):
    path = tmp_path_factory.mktemp("chat") / "chat.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in mixed))

    one_by_one = [lines.decode(line) for line in mixed]

    assert repr(lines.decode_many(mixed)) == repr(one_by_one)
    forwards = list(transcript.read(str(path)))
    assert repr([record for _, record in forwards]) == repr([one for one in one_by_one if one])
    assert repr(list(transcript.backwards(str(path)))) == repr(forwards[::-1])
