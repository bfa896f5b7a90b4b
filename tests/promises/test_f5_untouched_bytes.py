"""A write touches only what it means to: every other line of an odd file stays byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from config.storage.yaml.edits import same
from config.storage.yamlio import NotSpliceable, parse, remove_entry, set_entry
from tests.config.odd_yaml import Line, OddFile, any_value
from tests.promises.rings import ring, seeded


def lines_of(data: bytes, odd: OddFile) -> list[str]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode()
    return (text.removesuffix(odd.newline) if odd.final else text).split(odd.newline)


def held(data: bytes, path: tuple[str, ...]) -> Any:
    node = parse(data).node(*path)
    assert node is not None, data
    return node.value


def around(lines: list[Line], path: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The lines before and behind the entry at `path`, none of which may change."""
    mine = [i for i, line in enumerate(lines) if line.owner and line.owner[: len(path)] == path]
    return [x.text for x in lines[: mine[0]]], [x.text for x in lines[mine[-1] + 1 :]]


@pytest.mark.promise("F5")
def test_setting_a_value_leaves_every_line_of_the_others_as_it_was():
    rng = seeded()
    for _ in range(ring(fast=100, slow=50_000)):
        odd = OddFile.make(rng)
        data, path, value = odd.data(), rng.choice(odd.paths), any_value(rng)
        before, behind = around(odd.lines, path)

        after = set_entry(data, path, value)

        assert held(after, path) == value, data
        lines = lines_of(after, odd)
        assert lines[: len(before)] == before, data
        assert not behind or lines[-len(behind) :] == behind, data
        assert after.startswith(odd.bom)
        assert not behind or after.endswith(b"\n") is odd.final, data
        assert (after is data) is same(held(data, path), value), data


@pytest.mark.promise("F5")
def test_a_new_entry_adds_lines_and_changes_none():
    rng = seeded()
    for _ in range(ring(fast=100, slow=50_000)):
        odd = OddFile.make(rng)
        data, value = odd.data(), any_value(rng)
        parent = rng.choice([path[:-1] for path in odd.paths])

        after = set_entry_or_none(data, (*parent, "brand new"), value, odd)

        if after is None:
            continue
        assert held(after, (*parent, "brand new")) == value, data
        old, new = [x.text for x in odd.lines], lines_of(after, odd)
        if ends_in_bare_block(data):  # it bears a line behind it only when its head says so
            old, new = without_chomping(old), without_chomping(new)
        front = next(
            (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old)
        )
        assert not old[front:] or new[-len(old[front:]) :] == old[front:], data


def ends_in_bare_block(data: bytes) -> bool:
    """Whether the file ends inside a block of text that a line end would change."""
    return bool(parse(data).value != parse(data + b"\n").value)


def without_chomping(lines: list[str]) -> list[str]:
    return [line.replace("|-", "|").replace(">-", ">") for line in lines]


def set_entry_or_none(
    data: bytes, path: tuple[str, ...], value: object, odd: OddFile
) -> bytes | None:
    """None in the one case that must be refused: a block without a line end would take one in."""
    try:
        return set_entry(data, path, value)
    except NotSpliceable:
        assert not odd.final
        assert ends_in_bare_block(data)
        return None


@pytest.mark.promise("F5")
def test_removing_an_entry_removes_its_lines_alone():
    rng = seeded()
    for _ in range(ring(fast=100, slow=50_000)):
        odd = OddFile.make(rng)
        data, path = odd.data(), rng.choice(odd.paths)
        if len(held(data, path[:-1])) == 1:
            continue  # the last one leaves `{}` at its parent: test_yamlio.py
        before, behind = around(odd.lines, path)

        after = remove_entry(data, path)

        deeper = " " * (
            len(odd.lines[len(before)].text) - len(odd.lines[len(before)].text.lstrip()) + 1
        )
        while behind and behind[0].startswith(deeper) and behind[0].lstrip().startswith("#"):
            behind.pop(0)  # a comment indented below the entry goes with it
        assert parse(after).node(*path) is None
        lines = lines_of(after, odd)
        if not odd.final and lines == [*before, *behind, ""]:
            lines.pop()  # a block that comes last now keeps the line end it had
        assert lines == before + behind, data
