"""YAML is read by one grammar, and changed without touching what stands around."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from config.storage.yamlio import (
    Block,
    Document,
    NotSpliceable,
    Quoted,
    YamlError,
    dump,
    forget_recent,
    merge_entry,
    parse,
    parse_recent,
    remove_entry,
    set_entry,
)
from tests.config.odd_yaml import OddFile, any_value

PROJECT = b"""\
# top
name: Demo   # the name
triggers:   # all of them
  # nightly comment
  nightly:
    trigger: {type: schedule, cron: "0 9 * * *"}  # when
    run:
      prompt: Hello  # what
      tools: [Read, Glob]
      x-mine: 1   # mine
    enabled: false
    # deep tail
  # shallow tail

  other:
      trigger:
          type: event
          on: onArchive
# end
zeta:
list:
- a: 1   # one
  b: 2
- c
"""


def changed(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    """(lines that went, lines that came)"""
    old, new = before.decode().splitlines(), after.decode().splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("Yes", "Yes"), ("y", "y"), ("true", True), ("FALSE", False),
        ("1:30", "1:30"), ("012", 12), ("08", 8), ("0o17", 15), ("0x1F", 31), ("-5", -5),
        ("1_000", "1_000"), ("2026-11-20", "2026-11-20"), ("=", "="), ("<<", "<<"),
        (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("12e5678", "12e5678"),
        ("1234567890123456789012345678901234567890", "1234567890123456789012345678901234567890"),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", "9223372036854775808"),
        ("~", None), ("null", None), ("", None), ("'1'", "1"), ('"\\u00e9"', "é"),
        ("!!str 012", "012"), ("!!int '3'", 3), ("!!float 3", 3.0), ("! 5", "5"),
    ],
)  # fmt: skip
def test_a_scalar_means_what_yaml_1_2_says(text: str, value: Any):
    read = parse(f"key: {text}\n".encode()).value["key"]

    assert (read, type(read)) == (value, type(value))


def test_keys_are_text_however_they_look():
    assert parse(b"1: a\nnull: b\non: c\n.nan: d\n").value == {
        "1": "a", "null": "b", "on": "c", ".nan": "d",
    }  # fmt: skip


@pytest.mark.parametrize("key", ["1", "0x1F", "1e3", "null", "~", "true", ".nan", "!!int 1"])
def test_keys_that_are_no_text_can_be_refused(key: str):
    with pytest.raises(YamlError, match=r"line 2, column 1: the key .* is not text; quote it"):
        parse(f"ok: 1\n{key}: a\n".encode(), text_keys=True)

    assert parse(b"'1': a\non: b\n2026-11-20: c\n1:30: d\n", text_keys=True).value == {
        "1": "a", "on": "b", "2026-11-20": "c", "1:30": "d",
    }  # fmt: skip


def test_an_alias_stands_for_what_it_names():
    assert parse(b"a: &x [1]\nb: *x\n").value == {"a": [1], "b": [1]}


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"---\n", b"\xef\xbb\xbf"])
def test_an_empty_file_holds_nothing(data: bytes):
    assert parse(data).value is None


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"a: 1\nb: 2\na: 3\n", 'line 3, column 1: the key "a" is given twice (first in line 1)'),
        (b"a:\n\t- b\n", "line 2, column 1: a tab cannot indent; use spaces"),
        (b"a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"),
        (b"a: 1\n---\nb: 2\n", "line 2, column 1: a second document begins here; one is allowed"),
        (b"a: *b\n", 'line 1, column 4: the alias "*b" has no anchor'),
        (b"a: &a [*a]\n", 'line 1, column 8: the alias "*a" holds itself'),
        (b"a: \xff\n", "line 1, column 4: not valid UTF-8"),
        (b"ok: 1\na: \x01\n", "line 2, column 4: the character U+0001 is not allowed"),
        (b"a: .nan\n", "line 1, column 4: .nan has no place in these files; "),
        (b"a: !python/name:os.system x\n", "line 1, column 4: the tag !python/name:os.system is"),
        (b"a: !!python/object/apply:os.system [x]\n", "line 1, column 4: the tag !!python/object"),
        (b"? [a]\n: b\n", "line 1, column 3: a key must be plain or quoted text"),
        (b"[" * 100_000, "line 1, column 65: nested deeper than 64 levels"),
        (b"x" * (1 << 20) + b"x", "line 1, column 1: the file is larger than 1048576 bytes"),
    ],
)
def test_a_mistake_is_told_with_its_place(data: bytes, error: str):
    with pytest.raises(YamlError) as caught:
        parse(data)

    assert str(caught.value).startswith(error)


def test_aliases_are_counted_as_what_they_stand_for():
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in (1, 2, 3, 4)
    ]

    assert parse(b"\n".join(lines[:3])).value["a2"][9][9] == ["x"] * 10
    with pytest.raises(YamlError, match=r"line 5, .*: more than 20971 values"):
        parse(b"\n".join(lines))


def test_aliases_can_be_refused():
    for data in (b"a: &x 1\n", b"a: *x\n"):
        with pytest.raises(YamlError):
            parse(data, aliases=False)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("1234567", "1234567"), ("0123456", "0123456"), ("12e5678", "12e5678"),
        ("12e4", "12e4"), ("1:30", "1:30"), ("no", "no"), ("true", "true"), ("1.50", "1.50"),
        ("0x1F", "0x1F"), ("2026-01-01", "2026-01-01"), ('"a\\n1"', "a\n1"), ("'~'", "~"),
        ("~", None), ("null", None), ("", None), ('""', ""), ("!!int '012'", "012"),
        ("two\n  lines", "two lines"), ("|\n  0123\n", "0123\n"),
    ],
)  # fmt: skip
def test_texts_are_what_is_written(written: str, text: str | None):
    assert parse(f"- key: {written}\n".replace("\n  ", "\n    ").encode()).texts() == [
        {"key": text}
    ]


def test_texts_follow_aliases_as_values_do():
    document = parse(b"a: &x {n: 012, l: [&y 1e3]}\nb: [*x, *y]\n")

    assert document.texts() == {
        "a": {"n": "012", "l": ["1e3"]},
        "b": [{"n": "012", "l": ["1e3"]}, "1e3"],
    }


def test_a_long_chain_of_aliases_is_no_deep_recursion():
    deep = "[" * 60 + "{}" + "]" * 60
    lines = [f"a0: &a0 {deep.format(0)}"]
    lines += [f"a{n}: &a{n} {deep.format(f'*a{n - 1} ')}" for n in range(1, 24)]

    texts = parse("\n".join(lines).encode()).texts()

    assert texts["a1"][0][0][0] is not None
    assert len(texts) == 24


def test_values_are_counted_up_to_the_bound_that_is_given():
    with pytest.raises(YamlError, match="more than 10 values"):
        parse(b"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", nodes=10)

    assert parse(b"[1, 2, 3, 4, 5, 6, 7, 8, 9]", nodes=10).value[-1] == 9


def test_the_line_of_an_entry_is_that_of_its_key():
    document = parse(PROJECT)

    assert document.line("triggers", "nightly") == 5
    assert document.line("triggers", "nightly", "run", "tools", 1) == 9
    assert document.line("list", 1) == 24
    assert document.line("triggers", "none") is None
    assert document.line("list", 7) is None


def test_a_typical_project_file_costs_little_more_than_its_yaml_events():
    entry = (
        b"  trig-%d:\n    # why\n    trigger: {type: schedule, cron: '0 9 * * *'}\n    run:\n"
        b"      prompt: |\n        Do the thing\n        and more\n      tools: [Read, Glob]\n"
        b"    enabled: true\n"
    )
    data = b"name: Demo\ntriggers:\n" + b"".join(entry % n for n in range(30))
    assert len(data) > 5000

    costs, floors = zip(
        *((timed(parse, data), timed(events, data)) for _ in range(20)), strict=True
    )

    assert min(costs) < 4 * min(floors)


def events(data: bytes) -> list[Any]:
    """What libyaml itself needs for every reading: the floor."""
    return list(yaml.parse(data, Loader=yaml.CSafeLoader))


def timed(work: Callable[[bytes], object], data: bytes) -> float:
    start = time.perf_counter()
    work(data)
    return time.perf_counter() - start


# -- editing ---------------------------------------------------------------------------------------


def test_one_scalar_changes_and_its_comment_stays():
    after = set_entry(PROJECT, ("name",), "New: name")

    assert changed(PROJECT, after) == (
        ["name: Demo   # the name"],
        ['name: "New: name"   # the name'],
    )


def test_a_merge_keeps_unknown_keys_and_comments_of_the_entry():
    patch = {
        "trigger": {"cron": None, "interval": "1h"},
        "run": {"prompt": "a\nb\n"},
        "enabled": True,
    }

    after = merge_entry(PROJECT, ("triggers", "nightly"), patch)

    assert changed(PROJECT, after)[1] == [
        '    trigger: {type: schedule, interval: "1h"}  # when',
        "    run:",
        "      prompt: |  # what",
        "        a",
        "        b",
        "      tools: [Read, Glob]",
        "      x-mine: 1   # mine",
        "    enabled: true",
    ]


def test_a_new_entry_comes_last_in_the_indentation_of_its_neighbours():
    data = b"triggers:\n    a:\n        enabled: true\n        # about a\n# end\n"

    after = set_entry(data, ("triggers", "b"), {"enabled": False, "run": {"prompt": "x"}})

    assert after == (
        b"triggers:\n    a:\n        enabled: true\n        # about a\n"
        b"    b:\n        enabled: false\n        run:\n            prompt: x\n# end\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_an_entry_loses_its_last_line_while_another_comes_below_it(end: str):
    text = "x:\n  a:\n    b: 1\n    c: 2\ny: 3"
    lines = text.replace("\n", end or "\n") + end

    changed = set_entry(lines.encode(), ("x",), {"a": {"b": 1}, "d": 4})

    wanted = "x:\n  a:\n    b: 1\n  d: 4\ny: 3"
    assert changed.decode() == wanted.replace("\n", end or "\n") + end


def test_a_removed_entry_takes_its_lines_and_leaves_the_comments_above():
    after = remove_entry(PROJECT, ("triggers", "nightly"))

    assert b"# nightly comment\n  # shallow tail\n" in after
    assert b"nightly:" not in after
    assert b"deep tail" not in after


def test_removing_the_last_entry_leaves_an_empty_mapping():
    assert remove_entry(b"t: # c\n  a: 1\nb: 2\n", ("t", "a")) == b"t: {} # c\nb: 2\n"
    assert remove_entry(b"# c\na: 1\n", ("a",)) == b"# c\n{}\n"


def test_removing_what_is_not_there_changes_nothing():
    assert remove_entry(PROJECT, ("triggers", "no")) is PROJECT
    assert remove_entry(PROJECT, ("no", "no")) is PROJECT


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        (b"", ("a", "b"), 1, b"a:\n  b: 1\n"),
        (b"# only\n", ("a",), 1, b"# only\na: 1\n"),
        (b"triggers:\nb: 1\n", ("triggers", "x"), 1, b"triggers:\n  x: 1\nb: 1\n"),
        (b"triggers: {}  # c\n", ("triggers", "x"), 1, b"triggers:  # c\n  x: 1\n"),
        (b"t: {a: 1}\n", ("t", "a"), 2, b"t: {a: 2}\n"),
        (b"a: 1\r\nb: 2\r\n", ("c",), "x\ny\n", b"a: 1\r\nb: 2\r\nc: |\r\n  x\r\n  y\r\n"),
        (b"a: 1", ("b",), 2, b"a: 1\nb: 2"),
        (b"\xef\xbb\xbfa: 1\n", ("a",), 2, b"\xef\xbb\xbfa: 2\n"),
        (b"--- # c\na: 1\n...\n", ("b",), 2, b"--- # c\na: 1\nb: 2\n...\n"),
        (b"a: |+\n  x\n\n\n", ("b",), 1, b"a: |+\n  x\n\n\nb: 1\n"),
        (b"a: | # head\n  x\n# c\nb: 1\n", ("a",), "z", b"a: z # head\n# c\nb: 1\n"),
        (b"'a' :   1\n", ("a",), 2, b"'a' :   2\n"),
        (b"a:\n- 1\n- 2 # two\n", ("a",), [1, 2, 3], b"a:\n- 1\n- 2 # two\n- 3\n"),
        (b"a:\n- 1\n# c\n- 2\n", ("a",), [2], b"a:\n# c\n- 2\n"),
        (b"a:\n  - x: 1\n    y: 2 # y\n", ("a",), [{"y": 2}], b"a:\n  - y: 2 # y\n"),
        (b"a: [1, 2] # c\n", ("a",), [2, 3], b"a: [2, 3] # c\n"),
        (b"a: old # c\n", ("a",), {"k": [1]}, b"a: # c\n  k: [1]\n"),
        (b"a:\n  k: 1 # k\nb: 1\n", ("a",), "x", b"a: x\nb: 1\n"),
        (b"a: &x 1\nb: 2\n", ("b",), 3, b"a: &x 1\nb: 3\n"),
        (b"a:\nb: 1\n", ("a",), None, b"a:\nb: 1\n"),
        (b"a: 1   \nb: 2\n", ("a",), 5, b"a: 5   \nb: 2\n"),
        (b"a:\t1\n", ("a",), 5, b"a:\t5\n"),
        (b"a: 1\n", ("a",), 1.0, b"a: 1.0\n"),
        (b"a: 1\n", ("a",), True, b"a: true\n"),
    ],
)
def test_an_edit_gives_exactly_these_bytes(before: bytes, path: Any, value: Any, after: bytes):
    assert set_entry(before, path, value) == after


@pytest.mark.parametrize(
    ("data", "path", "line"),
    [
        (b"a: &x {e: 1}\nt:\n  b: *x\n", ("t", "b"), 3),
        (b"a: &x {e: 1}\nt:\n  b:\n    <<: *x\n    e: 2\n", ("t", "b"), 4),
        (b"a: 1\nt: {a: {e: 1}, b: {e: 1}}\n", ("t", "a"), 2),
        (b"a: 1\nt: {a: {e: 1}}\n", ("t", "b"), 2),
        (b'{"t": {"b": 1}, "u": 2}\n', ("t",), 1),
        (b"x: 1\nt: text\n", ("t", "b"), 2),
        (b"a: &x 1\nb: *x\n", ("a",), 1),
        (b"a: &x 1\nt:\n  keep: *x\n  e: 2\n", ("t",), 3),
        (b"t:\n  <<: {z: {}}\n  b: {e: 1}\n", ("t", "b"), 2),
    ],
)
def test_what_is_written_with_others_or_elsewhere_is_refused(data: bytes, path: Any, line: int):
    with pytest.raises(NotSpliceable) as caught:
        set_entry(data, path, {"new": 1, "keep": 1})

    assert caught.value.line == line


@pytest.mark.parametrize(("data", "path"), [(b"? a\n: 1\n", ("a",)), (b"# x\r- a\n- b\n", (0,))])
def test_an_entry_that_begins_in_no_line_of_its_own_is_not_removed(data: bytes, path: Any):
    with pytest.raises(NotSpliceable, match="written in a way that cannot be edited"):
        remove_entry(data, path)


def test_a_key_given_twice_refuses_every_write():
    with pytest.raises(YamlError):
        set_entry(b"a: 1\na: 2\n", ("b",), 1)


def test_an_equal_value_gives_the_same_bytes():
    odd = b"a:   'x'   # odd\r\nb: {c: [ 1,2 ]}"

    assert set_entry(odd, ("a",), "x") is odd
    assert merge_entry(odd, ("b",), {"c": [1, 2], "d": None}) is odd


def test_what_yaml_1_1_readers_would_misread_is_quoted():
    words = ["yes", "No", "on", "1:30", "012", "2026-01-01", "1e3", "~", "null", "", "y", "<<", "="]

    text = dump({"list": words, "on": 1})

    assert yaml.safe_load(text) == {"list": words, "on": 1}
    assert parse(text).value == {"list": words, "on": 1}


@pytest.mark.parametrize(
    "text", ["a\rb\nc", "\x85\nx", "a\u2028\nb", "x\n\ty", " a\nb", "a \nb ", "\ud800"]
)
def test_odd_text_comes_back_as_it_was_written(text: str):
    expected = text.replace("\ud800", "\ufffd")

    assert parse(set_entry(b"z: 1\n", ("a",), text)).value["a"] == expected
    assert parse(dump({"a": text})).value["a"] == expected


def test_what_json_cannot_hold_is_refused_before_anything_is_written():
    for value in (float("nan"), 2**70, {1: 2}, {"a": object()}, b"bytes"):
        with pytest.raises(TypeError):
            set_entry(b"", ("a",), value)


# -- lists, forms of text, what was parsed a moment ago --------------------------------------------

REVIEW = b"""\
threads:
  # first
  - id: "t-1"
    comments:
      - id: "c-1"   # one
        body: |
          text

      # behind c-1
  - id: "t-2"
    comments: [{id: c-2}]
# end
"""


def test_the_index_behind_the_last_item_appends():
    after = set_entry(REVIEW, ("threads", 0, "comments", 1), {"id": Quoted("9"), "body": "b"})

    assert changed(REVIEW, after) == ([], ['      - id: "9"', "        body: b"])
    assert parse(after).value["threads"][0]["comments"][1] == {"id": "9", "body": "b"}


def test_one_item_is_replaced_and_its_neighbours_stay():
    after = set_entry(REVIEW, ("threads", 0, "comments", 0, "body"), "new")

    assert changed(REVIEW, after) == (["        body: |", "          text"], ["        body: new"])


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        (b"", ("t", 0), b"t: [x]\n"),
        (b"t:\n", ("t", 0), b"t: [x]\n"),
        (b"t: []\n", ("t", 0), b"t: [x]\n"),
        (b"t: []\n", ("t", 0, "k"), b"t:\n  - k: x\n"),
        (b"t:\n- a # a\n", ("t", 1), b"t:\n- a # a\n- x\n"),
        (b"{}\n", ("t",), b"t: x\n"),
        (b"# c\n{}  # d\n", ("t", 0, "k"), b"# c\nt:\n  - k: x  # d\n"),
    ],
)
def test_a_list_begins_where_there_is_none(before: bytes, path: Any, after: bytes):
    assert set_entry(before, path, "x") == after


@pytest.mark.parametrize("path", [("t", 2), ("t", -1), ("m", 0), ("n", 1)])
def test_an_index_that_leaves_a_gap_is_refused(path: Any):
    with pytest.raises(NotSpliceable):
        set_entry(b"t: [a]\nm: {a: 1}\nn:\n", path, "x")
    assert remove_entry(b"t: [a]\n", ("t", 1)) == b"t: [a]\n"


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        (REVIEW, ("threads", 1, "comments", 1), {"id": 3},
         REVIEW.replace(b"{id: c-2}", b"{id: c-2}, {id: 3}")),
        (b"threads: [{comments: [{author: x, body: y}]}]\n", ("threads", 0, "comments", 0, "body"),
         "one\ntwo", b'threads: [{comments: [{author: x, body: "one\\ntwo"}]}]\n'),
        (b"[a, # c\n b, # d\n]\n", (1,), "x", b"[a, # c\n x, # d\n]\n"),
        (b'{"a": 1, "b": [2]}', ("b", 1), 3, b'{"a": 1, "b": [2, 3]}'),
        (b'{"a": 1}\n', ("c",), [4], b'{"a": 1, c: [4]}\n'),
    ],
)  # fmt: skip
def test_entries_that_share_brackets_change_where_that_is_allowed(
    before: bytes, path: Any, value: Any, after: bytes
):
    with pytest.raises(NotSpliceable):
        set_entry(before, path, value)

    assert set_entry(before, path, value, shared=True) == after


def test_an_entry_in_brackets_is_removed_where_that_is_allowed():
    assert remove_entry(b"[a, b]\n", (0,), shared=True) == b"[b]\n"


def test_an_item_added_to_any_list_adds_lines_and_changes_none():
    rng = random.Random(7)
    added = 0
    while added < 300:
        odd = OddFile.make(rng)
        data, value = odd.data(), any_value(rng)
        for path in odd.paths if odd.final else ():
            now = parse(data).node(*path)
            if now is None or now.flow or not isinstance(now.value, list):
                continue
            added += 1

            after = set_entry(data, (*path, len(now.value)), value)

            then = parse(after).node(*path)
            assert then is not None
            assert then.value == [*now.value, value], data
            old, new = data.splitlines(keepends=True), after.splitlines(keepends=True)
            gone, _ = changed(data, after)
            assert gone == [], (data, after)
            assert len(new) > len(old)


def test_ids_are_quoted_and_prose_is_a_block_whoever_reads_them():
    value = {"id": Quoted("t-1"), "also": [Quoted("12e4")], "body": Block("No: #1")}

    for text in (dump(value), set_entry(b"", (), value)):
        assert text == b'id: "t-1"\nalso: ["12e4"]\nbody: |-\n  No: #1\n'
    assert set_entry(b"a:\n- 1\n", ("a", 1), value) == (
        b'a:\n- 1\n- id: "t-1"\n  also: ["12e4"]\n  body: |-\n    No: #1\n'
    )
    assert set_entry(b"a: [1]\n", ("a", 1), value, shared=True) == (
        b'a: [1, {id: "t-1", also: ["12e4"], body: "No: #1"}]\n'
    )


@pytest.mark.parametrize(
    "text", ["", " x", "a\tb", "x \n", "\x07", "a\r\nb", "x\n\n", "'", "\u2028"]
)
def test_no_form_of_text_changes_what_it_says(text: str):
    for form in (Block, Quoted):
        for data in (b"", b"z: 1", b"z:\n  - 1\n"):
            assert parse(set_entry(data, ("a",), form(text))).value["a"] == text
        assert parse(dump({"a": [{"b": form(text)}]})).value == {"a": [{"b": text}]}


def test_a_form_alone_is_no_change():
    assert set_entry(b"a: 'x'\n", ("a",), Quoted("x")) == b"a: 'x'\n"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is really parsed from now on."""
    parsed: list[bytes] = []

    def read(data: bytes, **bounds: Any) -> Document:
        parsed.append(data)
        return parse(data, **bounds)

    monkeypatch.setattr("config.storage.yaml.reader.parse", read)
    return parsed


def test_bytes_are_parsed_once_and_bounds_hold_all_the_same(monkeypatch: pytest.MonkeyPatch):
    forget_recent()
    parsed = counted(monkeypatch)
    data = b"a: &x [1, 2]\nb: *x\n"

    for _ in range(3):
        parse_recent(data)
    assert parsed == [data]

    for bounds in ({"limit": 10}, {"aliases": False}, {"nodes": 5}):
        with pytest.raises(YamlError):
            parse_recent(data, **bounds)


def test_a_file_that_is_written_and_read_and_written_is_parsed_once_a_write(
    monkeypatch: pytest.MonkeyPatch,
):
    forget_recent()
    parsed = counted(monkeypatch)
    data = set_entry(b"l: [a]\n", ("l", 1), "b", shared=True)
    parse_recent(data)
    del parsed[:]

    data = set_entry(data, ("l", 2), "c", shared=True)
    parse_recent(data)

    assert parsed == [b"l: [a, b, c]\n"]


def test_comments_above_the_last_key_of_a_mapping_stay_when_it_goes():
    data = b"a:  # one\n  # why\n  b: 1  # two\n\n# end\nc:\n  d: 1\n"

    assert remove_entry(data, ("a", "b")) == b"a:  # one\n  # why\n  {}\n\n# end\nc:\n  d: 1\n"
    assert remove_entry(data, ("c", "d")) == data.replace(b"c:\n  d: 1\n", b"c: {}\n")


@pytest.mark.parametrize(
    "data",
    [b"a:  # one\n  # why\n  {}\n\n# end\n", b"a:\n  # why\n  {}", b"a:\n    {} # two\nb: 1\n"],
)
@pytest.mark.parametrize("value", [1, "text", "two\nlines", [1], {"y": {"z": 1}}])
def test_a_mapping_emptied_below_its_comments_is_filled_below_them(data: bytes, value: Any):
    made = set_entry(data, ("a", "x"), value)

    assert parse(made).value["a"] == {"x": value}
    assert [line for line in data.splitlines() if line.startswith((b"a:", b"  #", b"#", b"b"))] == [
        line for line in made.splitlines() if line.startswith((b"a:", b"  #", b"#", b"b"))
    ]
    assert made.count(b"#") == data.count(b"#")


@pytest.mark.parametrize("header", ["|", ">", "|2", "|+"])
def test_an_entry_can_follow_a_block_that_ends_without_a_line_end(header: str):
    data = f"a:\n  b: {header} # text\n    one".encode()
    after = set_entry(data, ("c",), 1)

    assert parse(after).value == {**parse(data).value, "c": 1}
    assert after == f"a:\n  b: {header.rstrip('+')}- # text\n    one\nc: 1".encode()


def test_a_quoted_merge_sign_is_a_key_like_any_other():
    assert set_entry(b'a:\n  "<<": {b: 1}\n', ("a", "c"), 1) == b'a:\n  "<<": {b: 1}\n  c: 1\n'


def test_what_is_remembered_takes_a_bounded_room(monkeypatch: pytest.MonkeyPatch):
    forget_recent()
    parsed = counted(monkeypatch)
    large, larger, small = (b"a: " + b"x" * size for size in (600_000, 700_000, 100))

    for data in (large, large, larger, larger, small, small):
        parse_recent(data, limit=1 << 20)
    assert parsed == [large, larger, small]

    parse_recent(larger, limit=1 << 20)
    assert parsed == [large, larger, small]
    parse_recent(large, limit=1 << 20)
    assert parsed == [large, larger, small, large]
