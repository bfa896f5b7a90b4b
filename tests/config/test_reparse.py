"""A text that differs in one place from a parsed one is read like one that is parsed whole."""

from __future__ import annotations

import random
from typing import Any

import pytest

from config.storage.yaml import reader, recent, reparse
from config.storage.yaml.nodes import NODES, SCALAR, Document, Node
from config.storage.yamlio import YamlError, dump, forget_recent, set_entry
from tests.config.odd_yaml import OddFile, any_value
from tests.promises.rings import ring, seeded

BITS = [
    "\n", " ", "  ", "-", "- ", "- x\n", ": ", "#", "'", '"', "|", "|\n", "|2\n", "|+\n", ">",
    "[", "]", "{", "}", "a: 1\n", "x", "---\n", "\n---\n", "...\n", "%A\n", "&a ", "*a", "!!str ",
    "\t", "\r", "\x85", "\u2028", "? ", "k0", "k1: 2", "\n#c\n", "<<: ", "\ufeff", "~",
]  # fmt: skip


def drawn(node: Node) -> Any:
    """A node, all below it and all that is known of them."""
    end = node.end if node.kind == SCALAR or node.flow else None
    pairs = [(drawn(key), drawn(value)) for key, value in node.pairs]
    items = [drawn(item) for item in node.items]
    of = (node.kind, node.start, end, node.style, node.flow, node.weight, node.text)
    return (*of, repr(node.value), pairs, items)


def whole(text: str) -> Document | None:
    try:
        return reader.parse(text.encode())
    except YamlError:
        return None


def again(before: str, after: str) -> Document | None:
    """What is read again of `after`, which says what the whole says."""
    known = whole(before)
    assert known is not None
    known.texts()  # as most callers have asked for by then
    made = reparse.reparse(known, after, nodes=NODES, least=0)
    if made is not None:
        wanted = whole(after)
        assert wanted is not None, (before, after)
        assert drawn(made.root) == drawn(wanted.root), (before, after)
        assert made.texts() == wanted.texts()
        assert made.aliased is wanted.aliased
        assert made.root.last().end == wanted.root.last().end
    return made


def edited(rng: random.Random, text: str) -> str:
    """The text with a few characters in place of a few, from it or from what YAML minds."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice([0, 0, 1, 2, 5, 20]))
    bits = "".join(rng.choice(BITS) for _ in range(rng.randrange(4)))
    if rng.random() < 0.2:
        one, other = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        bits = text[one:other]
    return text[:start] + bits + text[end:]


def test_whatever_is_changed_by_hand_reads_as_the_whole_text_does():
    rng = seeded()
    read = 0
    for _ in range(ring(fast=150, slow=50_000)):
        data = OddFile.make(rng).data().removeprefix(b"\xef\xbb\xbf")
        data = set_entry(data, ("threads",), [any_value(rng) for _ in range(3)])
        if whole(data.decode()) is None:
            continue
        for _ in range(8):
            read += again(data.decode(), edited(rng, data.decode())) is not None
    assert read  # or nothing was shown


LIST = "v: 1\nl:\n- a: 1\n- a: 2\n- a: 3\nz: 9\n"
MAPPING = "v: 1\nm:\n  a: 1\n  b:\n  c: 3\nz: 9\n"


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (LIST, "- a: 2\n", "- a: 2\n  b: [x]\n"),
        (LIST, "- a: 2\n", "- a: 2\n- a: 2\n"),
        (LIST, "- a: 3\n", "- a: 3\n- a: 4\n"),
        (LIST, "- a: 3\n", "- |\n  text\n\n"),
        (MAPPING, "b:", "b: {x: 1}"),
        (MAPPING, "  c: 3\n", "  c: 3\n  d: 4\n"),
        (MAPPING, "  c: 3\n", "  c:\n  - 1\n"),
        ("a: 1\nb: 2", "b: 2", "b: 2\nc: 3"),
    ],
)
def test_a_change_inside_an_entry_is_read_alone(before: str, old: str, new: str):
    assert again(before, before.replace(old, new)) is not None


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (LIST, "a: 2", "a: &x 2"),
        (LIST, "a: 2\n", "a: 2\n---\n"),
        (LIST, "a: 2\n", "a: 2\n...\n"),
        (LIST, "a: 2\n", "a: 'two\n"),
        (LIST, "a: 2\n", "a: 2\n%x\n"),
        (LIST, "a: 2\n- a", "a: 2 - a"),
        (LIST, "- a: 2", "- ? a"),
        (LIST, "- a: 2", "x: a"),
        (MAPPING, "b:", "a:"),
        (MAPPING, "b:", "c:"),
        ("%YAML 1.2\n---\na: 1\nb: 2\n", "2", "3"),
        ("a: &x 1\nb: *x\n", "1", "2"),
        ("[a, b]\n", "b", "c"),
    ],
)
def test_what_reaches_beyond_an_entry_is_left_to_the_parser(before: str, old: str, new: str):
    assert again(before, before.replace(old, new)) is None


def test_room_and_depth_count_as_for_the_whole_text():
    known = reader.parse(LIST.encode())
    longer = LIST.replace("a: 2", "a: [2, 3, 4]")
    size = reader.parse(longer.encode()).root.weight

    assert reparse.reparse(known, longer, nodes=size, least=0) is not None
    assert reparse.reparse(known, longer, nodes=size - 1, least=0) is None

    for levels, fits in ((reader.DEPTH - 3, True), (reader.DEPTH - 2, False)):
        deep = LIST.replace("a: 2", f"a: {'[' * levels}{']' * levels}")
        assert (whole(deep) is not None) is fits
        assert (again(LIST, deep) is not None) is fits


def test_a_text_that_was_read_so_can_be_changed_and_read_so_again():
    rng = seeded()
    data = dump({"threads": [{"id": f"t{number}", "c": [number]} for number in range(30)]})
    known = reader.parse(data)
    for number in range(30):
        at = rng.randrange(len(known.value["threads"]))
        made = set_entry(data, ("threads", at, "c", 0), f"text {number}\n" * rng.randrange(1, 4))
        after = reparse.reparse(known, made.decode(), nodes=NODES, least=0)
        assert after is not None
        assert drawn(after.root) == drawn(reader.parse(made).root)
        data, known = made, after


def test_a_comment_in_a_large_file_reads_the_entry_it_changes(monkeypatch: pytest.MonkeyPatch):
    forget_recent()
    data = dump({"threads": [{"id": f"t{number}", "body": "x" * 80} for number in range(100)]})
    recent.parse(data)
    sizes = []
    parse = reader.parse

    def counted(lines: bytes, **bounds: Any) -> Document:
        sizes.append(len(lines))
        return parse(lines, **bounds)

    monkeypatch.setattr("config.storage.yaml.reader.parse", counted)

    made = set_entry(data, ("threads", 50, "body"), "another")

    assert recent.parse(made).value["threads"][50] == {"id": "t50", "body": "another"}
    assert sum(sizes) < 200 < len(made)
