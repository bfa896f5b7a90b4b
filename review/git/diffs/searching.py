"""Lines of a diff that hold a text: those that change, and the three around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from review.git import objects
from review.git.commits import Changed
from review.git.diffs import diff, hunks
from review.git.repository import Repository


class Hit(NamedTuple):
    """`old` and `new` are line numbers, 0 where that side has none; `at` counts characters."""

    file: Changed
    old: int
    new: int
    text: str
    at: int


def search(repository: Repository, old: str | None, new: str, text: str) -> Iterator[Hit]:
    """Every line of the diff that holds `text`, file by file as git orders them.

    Upper case counts once the text has any. GitError when a commit is gone.
    """
    exact = text != text.lower()
    trees = (old or repository.empty_tree, new)
    data = repository.run(*diff.TREES, "-p", "-U3", "-M", *trees, "--")
    for file, patch in hunks.sections(data):
        if hunks.is_binary(patch):
            continue
        for was, now, line in _lines(objects.text(patch)[0]):
            at = (line if exact else line.lower()).find(text)
            if at >= 0:
                yield Hit(file, was, now, line, at)


def _lines(patch: str) -> Iterator[tuple[int, int, str]]:
    """(old line, new line, text) of each line of the hunks of one file."""
    old = new = 0
    for line in patch.split("\n"):
        sign = line[:1]
        if sign == "@" and (head := hunks.HUNK.match(f"\n{line}".encode())):
            old, new = int(head[1]), int(head[3])
        elif sign == "-":
            yield old, 0, line[1:]
            old += 1
        elif sign == "+":
            yield 0, new, line[1:]
            new += 1
        elif sign == " ":
            yield old, new, line[1:]
            old, new = old + 1, new + 1
