"""Where threads stand on a commit, and whether the lines they are about have changed.

One `-U0` diff per pair of blobs, however many threads there are; blobs are read only for threads
whose lines changed. The rules in their order: docs/design/review.md#placement-of-threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from config.git.command import GitError
from review import caches
from review.git import objects
from review.git.diffs import diff
from review.git.repository import Repository
from review.threads.placement import follow
from review.threads.placement.follow import Side, Spot
from review.threads.placement.shift import Shift
from review.threads.placement.text import (
    CONTEXT,
    MOST_CHARS,
    MOST_CONTEXT_CHARS,
    MOST_LINES,
    Snippet,
    Text,
)
from review.threads.schema import Anchor, Thread, normal_side
from review.threads.target import Target

Placement = Literal["general", "none", "file", "exact", "moved", "text", "nearest"]
KEPT: frozenset[Placement] = frozenset({"exact", "moved", "text"})  # anchors that may be renewed


@dataclass(frozen=True, slots=True)
class Placed:
    """A thread on this commit; `original_*` are the values of the file, for the anchor's commit.
    `text` is the anchor's text; for an outdated thread without one it is read from the old blob."""

    placement: Placement
    outdated: bool
    path: str | None
    side: str | None
    line: int | None
    start_line: int | None
    start_side: str | None
    original_path: str | None
    original_line: int | None
    original_start_line: int | None
    text: str | None


def place(target: Target, threads: Sequence[Thread]) -> list[Placed]:
    """Place each thread on the shown commit, by the first rule that applies."""
    places = _Places(target)
    return [places.describe(thread, places.of(thread)) for thread in threads]


def nowhere(thread: Thread) -> Placed:
    """The placement of a thread whose commit is gone: `general` or `none`, looking at no commit."""
    if thread.path is None:
        return _place(thread, "general", None, None)
    return _place(thread, "none", thread.path, None, outdated=True)


def anchor(  # noqa: PLR0917 - the fields of a thread, in the order of its file
    target: Target,
    path: str | None,
    side: str | None,
    line: int | None,
    start_line: int | None,
    start_side: str | None,
) -> Anchor:
    """What finds these lines again: their commit, blob and text. For a range over both sides the
    text is that of its end."""
    commit = target.shown_commit
    nothing = Anchor(commit.sha, None, None, None, None)
    if path is None:
        return nothing
    spot = follow.spot(target.repository, commit, path, normal_side(side))
    if spot is None or spot.oid is None:
        return nothing
    data = objects.blob(target.repository, spot.oid) if line else None
    if line is None or data is None:
        return Anchor(commit.sha, spot.oid, None, None, None)
    same_side = normal_side(start_side or side) == normal_side(side)
    start = start_line if start_line and same_side else line
    found = Text(data).snippet(start, line)
    return Anchor(
        commit=commit.sha,
        blob=spot.oid,
        text=_cut(found.lines),
        before="\n".join(text[:MOST_CONTEXT_CHARS] for text in found.before),
        after="\n".join(text[:MOST_CONTEXT_CHARS] for text in found.after),
    )


def _cut(lines: Sequence[str]) -> str:
    """As many whole lines as are kept; if the first line is too long, its beginning."""
    kept: list[str] = []
    size = 0
    for line in lines[:MOST_LINES]:
        size += len(line) + 1
        if kept and size > MOST_CHARS:
            break
        kept.append(line[:MOST_CHARS])
    return "\n".join(kept)


Lines = tuple[int, int]  # first and last
_shifts: caches.Memory[tuple[Path, str, str], Shift] = caches.Memory(2048)
_found: caches.Memory[tuple[object, ...], tuple[Placement, Lines | None]] = caches.Memory(20_000)


class _Pair:
    """An old blob and the current one, with the changes between them."""

    def __init__(self, repository: Repository, old: str | None, new: str) -> None:
        self.repository = repository
        self.old = old
        self.new = new

    @cached_property
    def shift(self) -> Shift | None:
        """None if the old blob is gone, or if either is binary."""
        if self.old is None:
            return None
        key = (self.repository.common_dir, self.old, self.new)
        known = _shifts.get(key)
        if known is not None or not objects.exists(self.repository, self.old):
            return known
        try:
            edits = diff.edits(self.repository, self.old, self.new)
        except GitError:
            return None
        return _shifts.put(key, Shift(edits)) if edits else None

    @cached_property
    def text(self) -> Text | None:
        """The text of the current blob; None if it is missing (partial clone)."""
        data = objects.blob(self.repository, self.new)
        return None if data is None else Text(data)

    @cached_property
    def old_text(self) -> Text | None:
        data = objects.blob(self.repository, self.old) if self.old else None
        return None if data is None else Text(data)

    @property
    def lineless(self) -> bool:
        """Whether the file has no lines that a thread could stand on."""
        return self.text is not None and (self.text.binary or not self.text.data)


class _Places:
    """The threads of one commit; what several of them need is looked up once."""

    def __init__(self, target: Target) -> None:
        self.repository = target.repository
        self.commit = target.shown_commit
        self._spots: dict[tuple[str | None, str, Side], Spot | None] = {}
        self._written: dict[tuple[str | None, str, Side], str | None] = {}
        self._pairs: dict[tuple[str | None, str], _Pair] = {}

    def of(self, thread: Thread) -> Placed:
        if thread.path is None:
            return _place(thread, "general", None, None)
        side = normal_side(thread.side)
        spot = self._spot(thread, thread.path, side)
        if spot is None:
            return _place(thread, "none", thread.path, None, outdated=True)
        if thread.line is None or spot.oid is None:
            return _place(thread, "file", spot.path, None, outdated=thread.line is not None)
        start_side = normal_side(thread.start_side or thread.side)
        if thread.start_line is not None and start_side != side:
            return self._across(thread, spot, start_side)
        start = thread.start_line or thread.line
        how, lines = self._lines(thread, side, spot, start, thread.line)
        return _place(thread, how, spot.path, lines, outdated=how in ("nearest", "file"))

    def describe(self, thread: Thread, placed: Placed) -> Placed:
        """Add the text it was written on, which for a hand-made thread only the old blob has."""
        if placed.text is not None or not placed.outdated or not (thread.path and thread.line):
            return placed
        side = normal_side(thread.side)
        old = thread.anchor.blob or self._written_on(thread, side)
        data = objects.blob(self.repository, old) if old else None
        if data is None or Text(data).binary:
            return placed
        same_side = normal_side(thread.start_side or thread.side) == side
        start = thread.start_line if thread.start_line and same_side else thread.line
        return replace(placed, text=_cut(Text(data).snippet(start, thread.line).lines) or None)

    def _across(self, thread: Thread, spot: Spot, start_side: Side) -> Placed:
        """A range from one side to the other: each end is placed on its own side."""
        path, line, start = thread.path, thread.line, thread.start_line
        assert path is not None
        assert line is not None
        assert start is not None
        end_how, end = self._lines(thread, normal_side(thread.side), spot, line, line)
        first = self._spot(thread, path, start_side)
        start_how, begin = (
            self._lines(thread, start_side, first, start, start, other=True)
            if first
            else ("none", None)
        )
        how = max(end_how, start_how, key=_ORDER.index)
        if end is None or begin is None or how == "nearest":
            how, lines = ("nearest" if end else end_how), end
        else:
            lines = (begin[0], end[1])
        return _place(thread, how, spot.path, lines, outdated=how not in KEPT)

    def _lines(
        self,
        thread: Thread,
        side: Side,
        spot: Spot,
        start: int,
        line: int,
        *,
        other: bool = False,
    ) -> tuple[Placement, Lines | None]:
        """Apply the rules for lines of one side. `other`: not the side of the anchor's blob."""
        assert spot.oid is not None
        old = None if other else thread.anchor.blob
        if old == spot.oid:
            return "exact", (start, line)
        pair = self._pair(old or self._written_on(thread, side), spot.oid)
        if pair.old == pair.new:
            return self._as_written(pair, start, line)
        if pair.shift is not None and (moved := pair.shift.find_range(start, line)):
            return "moved", moved
        anchor = thread.anchor
        wanted = (anchor.text, anchor.before, anchor.after) if not other else None
        key = (self.repository.common_dir, pair.old, pair.new, start, line, wanted)
        known = _found.get(key)
        if known is None:
            known = _find_lines(pair, anchor, start, line, other=other)
            if pair.text is not None and pair.shift is not None:  # missing objects may arrive later
                _found.put(key, known)
        return known

    def _as_written(self, pair: _Pair, start: int, line: int) -> tuple[Placement, Lines | None]:
        """A thread on the blob it was written on; a hand-made one has unchecked lines."""
        if pair.lineless:
            return "file", None
        if pair.text is not None and line > pair.text.count:
            return "nearest", (pair.text.count, pair.text.count)
        return "exact", (start, line)

    def _spot(self, thread: Thread, path: str, side: Side) -> Spot | None:
        """The file under its current name."""
        key = (thread.anchor.commit, path, side)
        if key not in self._spots:
            self._spots[key] = follow.find_spot(self.repository, key[0], self.commit, path, side)
        return self._spots[key]

    def _written_on(self, thread: Thread, side: Side) -> str | None:
        assert thread.path is not None
        key = (thread.anchor.commit, thread.path, side)
        if key not in self._written:
            self._written[key] = follow.written_on(self.repository, *key)
        return self._written[key]

    def _pair(self, old: str | None, new: str) -> _Pair:
        if (old, new) not in self._pairs:
            self._pairs[old, new] = _Pair(self.repository, old, new)
        return self._pairs[old, new]


_ORDER: tuple[Placement, ...] = ("exact", "moved", "text", "nearest", "file", "none", "general")


def _find_lines(
    pair: _Pair, anchor: Anchor, start: int, line: int, *, other: bool
) -> tuple[Placement, Lines | None]:
    """Find changed lines by their text, else take the lines nearest to where they were."""
    if pair.lineless:
        return "file", None
    near = pair.shift.nearest if pair.shift else lambda at: at
    wanted = _snippet(anchor, pair, start, line, other=other)
    if pair.text and wanted and (found := pair.text.find(wanted, near(start))):
        return "text", found
    at = near(line)
    if pair.text is not None:
        at = max(1, min(at, pair.text.count))
    return "nearest", (at, at)


def _snippet(anchor: Anchor, pair: _Pair, start: int, line: int, *, other: bool) -> Snippet | None:
    """The lines to look for: the anchor's, or the old blob's if the anchor does not have all."""
    if anchor.text is None or other or _is_shortened(anchor.text, line - start + 1):
        if pair.old_text is not None:
            return pair.old_text.snippet(start, line)
        if anchor.text is None or other:
            return None
    return Snippet(
        lines=anchor.text.split("\n"),
        before=_split(anchor.before),
        after=_split(anchor.after),
        span=line - start + 1,
    )


def _is_shortened(text: str, span: int) -> bool:
    return text.count("\n") + 1 < span or len(text) >= MOST_CHARS


def _split(text: str | None) -> list[str]:
    return text.split("\n")[:CONTEXT] if text else []


def _place(
    thread: Thread,
    how: Placement,
    path: str | None,
    lines: Lines | None,
    *,
    outdated: bool = False,
) -> Placed:
    """`lines` are the first and last of the range; an outdated thread gets one line only."""
    ranged = lines is not None and thread.start_line is not None and not outdated
    return Placed(
        placement=how,
        outdated=outdated,
        path=path,
        side=thread.side,
        line=lines[1] if lines else None,
        start_line=lines[0] if lines and ranged else None,
        start_side=thread.start_side if ranged else None,
        original_path=thread.path,
        original_line=thread.line,
        original_start_line=thread.start_line,
        text=thread.anchor.text,
    )
