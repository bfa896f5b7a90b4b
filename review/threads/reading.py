"""A review file as typed values, tolerant of hand-made files.

Each field is read from text: one of the wrong type counts as absent with a warning, an unknown one
is kept. Whether the file has the structure of a review file is checked by review.files.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from review import caches
from review.files.fields import Fields, hex_of, scalar
from review.threads import asked, ids, judged
from review.threads.carry.traces import CarriedFrom
from review.threads.schema import (
    SIDES,
    VERSION,
    Anchor,
    Comment,
    Fingerprint,
    Mark,
    ReviewFile,
    Thread,
    normal_side,
)

Known = list[tuple[Any, Thread]]  # threads without a warning, each with the value it was read from

_parsed: caches.Memory[tuple[str, str, frozenset[str] | None], ReviewFile]
_parsed = caches.Memory(100_000, weigh=lambda review: 1 + len(review.threads), shared=True)
# The last threads read from a commit's file: if one thread differs, the others are reused.
_before: caches.Memory[tuple[str, frozenset[str] | None], Known]
_before = caches.Memory(5_000, weigh=lambda known: 1 + len(known), shared=True)


def parse(value: Any, sha: str, *, deleted_paths: Collection[str] | None = ()) -> ReviewFile:
    """The content of the review file of commit `sha`, its scalars as text.

    `deleted_paths` are the files that the commit deletes: threads on them are on the old side
    unless they say otherwise. With None, a thread without a side keeps None.
    """
    warnings: list[str] = []
    root = Fields(value, "the file", warnings)
    deleted = None if deleted_paths is None else frozenset(deleted_paths)
    reader = _Threads(sha, deleted, warnings, _before.get((sha, deleted)) or [])
    threads = reader.read(root.items("threads"))
    _before.put((sha, deleted), reader.quiet)
    return ReviewFile(
        version=root.number("version") or VERSION,
        commit=fingerprint(root.raw("commit"), warnings),
        carried_from=carried_from(root.raw("carried_from"), warnings),
        viewed=_viewed_marks(root.raw("viewed"), sha, warnings),
        threads=threads,
        verdicts=judged.parse(root.raw("verdicts"), sha, warnings),
        warnings=tuple(warnings),
        extra=root.extra(),
    )


def parse_once(
    value: Any, etag: str, sha: str, *, deleted_paths: Collection[str] | None = ()
) -> ReviewFile:
    """`parse` with a cache; `etag` is the hash of the file's bytes, "" for a file not to be cached.

    What the commit deletes matters only if a thread has no side, which is rare.
    """
    plain = _once(value, etag, sha, None)
    if deleted_paths is None or not plain.lacks_a_side:
        return plain
    return _once(value, etag, sha, frozenset(deleted_paths))


def _once(value: Any, etag: str, sha: str, deleted_paths: frozenset[str] | None) -> ReviewFile:
    key = (etag, sha, deleted_paths)
    known = _parsed.get(key) if etag else None
    if known is None:
        known = parse(value, sha, deleted_paths=deleted_paths)
        if etag:
            _parsed.put(key, known)
    return known


def fingerprint(value: Any, warnings: list[str]) -> Fingerprint | None:
    """The mapping `commit` of a review or PR file."""
    if value is None:
        return None
    fields = Fields(value, '"commit"', warnings)
    return Fingerprint(
        sha=fields.hex("sha"),
        subject=fields.text("subject"),
        author=fields.text("author"),
        authored=fields.time("authored"),
        change_id=fields.text("change_id"),
        patch_id=fields.hex("patch_id"),
        patch_id_u0=fields.hex("patch_id_u0"),
    )


def carried_from(value: Any, warnings: list[str]) -> CarriedFrom | None:
    """The mapping `carried_from` of a review or PR file; None without a usable sha."""
    if value is None:
        return None
    fields = Fields(value, '"carried_from"', warnings)
    sha = fields.hex("sha")
    if sha is None:
        return None
    by, at = fields.text("by") or "", fields.time("at") or ""
    also, without = fields.hexes("also"), fields.hexes("without")
    return CarriedFrom(sha=sha, by=by, at=at, also=also, without=without)


def _viewed_marks(value: Any, sha: str, warnings: list[str]) -> tuple[Mark, ...]:
    """The viewed marks; a list of paths, or a path without a hash, means the file's own commit."""
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(Mark(path, None, None, sha) for item in value if (path := scalar(item)))
    fields = Fields(value, '"viewed"', warnings)
    marks = (_mark(path, fields.raw(path), sha, warnings) for path in fields.value)
    return tuple(mark for mark in marks if mark)


def _mark(path: str, value: Any, sha: str, warnings: list[str]) -> Mark | None:
    text = (scalar(value) or "").lower()
    if value is None or text == "true":
        return Mark(path, None, None, sha)
    if text == "false":
        return None
    fields = Fields(value, f'"viewed" of {path}', warnings)
    if not isinstance(value, dict):
        return None
    digest, at, of = fields.hex("diff"), fields.time("at"), fields.hex("of")
    return Mark(path, digest, at, None if digest else of or sha)


class _Threads:
    """The threads of one file; ids are given with all of them in view."""

    def __init__(
        self, sha: str, deleted: Collection[str] | None, warnings: list[str], before: Known
    ) -> None:
        self.sha = sha
        self.deleted = deleted
        self.warnings = warnings
        self.known = {id(value): thread for value, thread in before}
        self.quiet: Known = []
        self.threads = ids.Namer()
        self.comments = ids.Namer()

    def read(self, items: list[Any]) -> tuple[Thread, ...]:
        fields = [
            (at, Fields(item, f"thread {at + 1}", self.warnings)) for at, item in enumerate(items)
        ]
        readable = [(at, field) for at, field in fields if isinstance(items[at], dict)]
        below = [self._comment_fields(field) for _, field in readable]
        names = [self._claim_id(self.threads, field) for _, field in readable]
        below_names = [[self._claim_id(self.comments, one) for _, one in many] for many in below]
        return tuple(
            self._reuse(at, field, [name, *many_names])
            or self._thread(at, field, name, list(zip(many, many_names, strict=True)))
            for (at, field), name, many, many_names in zip(
                readable, names, below, below_names, strict=True
            )
        )

    def _reuse(self, at: int, fields: Fields, names: list[str | None]) -> Thread | None:
        """The thread that was read from this very value, if it and its comments have these ids."""
        known = self.known.get(id(fields.value))
        if known is None or [known.id, *(one.id for one in known.comments)] != names:
            return None
        found = known if known.at == at else replace(known, at=at)
        self.quiet.append((fields.value, found))
        return found

    def _comment_fields(self, thread: Fields) -> list[tuple[int, Fields]]:
        items = thread.items("comments")
        found = [
            (at, Fields(item, f"comment {at + 1} of {thread.where}", self.warnings))
            for at, item in enumerate(items)
        ]
        return [(at, fields) for at, fields in found if isinstance(items[at], dict)]

    def _claim_id(self, namer: ids.Namer, fields: Fields) -> str | None:
        written = fields.matching("id", ids.FORM, "1 to 64 of A-Z a-z 0-9 _ . -")
        if written is None:
            return None
        name = namer.claim(written)
        if name != written:
            self.warnings.append(f'{fields.where} has the id "{written}" too; it is "{name}" here')
        return name

    def _thread(
        self,
        at: int,
        fields: Fields,
        name: str | None,
        below: list[tuple[tuple[int, Fields], str | None]],
    ) -> Thread:
        warned = len(self.warnings)
        path, side, line, start_line, start_side = self._place(fields)
        comments = tuple(self._comment(*one, their, (path, line)) for one, their in below)
        first = comments[0] if comments else None
        resolved = fields.truth("resolved") or False
        derived = (path, line, first.author if first else None, first.body if first else None)
        made = Thread(
            id=name or self.threads.derive(*derived),
            path=path,
            side=side,
            line=line,
            start_line=start_line,
            start_side=start_side,
            resolved=resolved,
            resolved_by=fields.text("resolved_by"),
            resolved_at=fields.time("resolved_at"),
            author=fields.text("author"),
            created_at=fields.time("created_at"),
            anchor=self._anchor(fields),
            comments=comments,
            from_sha=fields.hex("from_sha"),
            asked=asked.parse_asked(fields.raw("asked"), f"asked of {fields.where}", self.warnings),
            proposed=asked.parse_proposed(
                fields.raw("proposed"), f"proposed of {fields.where}", self.warnings
            ),
            extra=fields.extra(),
            at=at,
            named=name is not None,
        )
        if len(self.warnings) == warned:
            self.quiet.append((fields.value, made))
        return made

    def _comment(
        self, at: int, fields: Fields, name: str | None, place: tuple[str | None, int | None]
    ) -> Comment:
        author, body = fields.text("author"), (fields.text("body") or "").strip()
        return Comment(
            id=name or self.comments.derive("comment", *place, author, body),
            author=author,
            body=body.replace("\r\n", "\n"),
            created_at=fields.time("created_at"),
            updated_at=fields.time("updated_at"),
            extra=fields.extra(),
            at=at,
            named=name is not None,
        )

    def _place(
        self, fields: Fields
    ) -> tuple[str | None, str | None, int | None, int | None, str | None]:
        """Path, side, line, start line and start side; None for those that make no sense."""
        path, side, start_side = fields.text("path"), self._side(fields, "side"), None
        line, start_line = fields.number("line"), fields.number("start_line")
        start_side = self._side(fields, "start_side")
        if path is None:
            if line is not None:
                fields.warn("line", 'together with a "path"')
            return None, None, None, None, None
        if side is None and self.deleted is not None:
            side = "LEFT" if path in self.deleted else "RIGHT"
        if line is None or start_line is None:
            return path, side, line, None, None
        start_side = start_side or side
        if start_line > line and normal_side(start_side) == normal_side(side):
            fields.warn("start_line", 'not after "line"')
            return path, side, line, None, None
        return path, side, line, start_line, start_side

    def _side(self, fields: Fields, key: str) -> str | None:
        text = fields.text(key)
        if text is None or text.lower() in SIDES:
            return text
        fields.warn(key, "LEFT or RIGHT")
        return None

    def _anchor(self, thread: Fields) -> Anchor:
        fields = Fields(thread.raw("anchor"), f"the anchor of {thread.where}", self.warnings)
        return Anchor(
            commit=fields.hex("commit") or hex_of(self.sha),
            blob=fields.hex("blob"),
            text=_lines(fields, "text"),
            before=_lines(fields, "before"),
            after=_lines(fields, "after"),
        )


def _lines(fields: Fields, key: str) -> str | None:
    """Text of lines, blank ones included; None if the field is absent."""
    text = scalar(fields.raw(key))
    if text is None and fields.value.get(key) is not None:
        fields.warn(key, "text")
    return text
