"""Search a diff for a text: in its changed lines and the three lines around them."""

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
    """Yield every line of the diff that contains `text`, file by file in git's order.

    Case matters if `text` has an upper-case letter. GitError if a commit is gone.
    """
    exact = text != text.lower()
    trees = (old or repository.empty_tree, new)
    data = repository.run(*diff.TREES, "-p", "-U3", "-M", *trees, "--")
    for file, patch in hunks.sections(data):
        if hunks.is_binary(patch):
            continue
        for hunk in objects.text(patch)[0].split("\n@@ ")[1:]:
            if text in (hunk if exact else hunk.lower()):  # most hunks skip the line search
                yield from _hits(file, hunk, text, exact)


def _hits(file: Changed, hunk: str, text: str, exact: bool) -> Iterator[Hit]:
    for old, new, line in _lines(hunk):
        at = (line if exact else line.lower()).find(text)
        if at >= 0:
            yield Hit(file, old, new, line, at)


def _lines(hunk: str) -> Iterator[tuple[int, int, str]]:
    """(old line, new line, text) of each line of a hunk; `hunk` starts after its first `@@`."""
    head, *lines = hunk.split("\n")
    found = hunks.HUNK.match(f"\n@@ {head}".encode())
    old, new = (int(found[1]), int(found[3])) if found else (0, 0)
    for line in lines:
        sign = line[:1]
        if sign == "-":
            yield old, 0, line[1:]
            old += 1
        elif sign == "+":
            yield 0, new, line[1:]
            new += 1
        elif sign == " ":
            yield old, new, line[1:]
            old, new = old + 1, new + 1
