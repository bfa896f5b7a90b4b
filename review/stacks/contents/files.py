"""The files of a commit with their texts and edits, one at a time.

Nothing here holds more than one of a commit's files, however many it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Literal, TypedDict, cast

from config.errors import Invalid
from review.git import objects
from review.git.commits import SUBMODULE, Changed, Commit, FileStatus, shown_path
from review.git.diffs import diff
from review.git.diffs.diff import Edit
from review.git.repository import Repository
from review.stacks.contents import generated

DIGITS = 6  # most digits of `contents`
FEW = 200  # files of a commit up to which all folders' attributes are read
Wanted = Literal["all", "none"] | int


class Record(TypedDict):
    """One file, without review marks."""

    path: str
    old_path: str | None
    status: FileStatus
    additions: int | None
    deletions: int | None
    binary: bool
    generated: bool
    old: str | None
    new: str | None
    old_oid: str | None
    new_oid: str | None
    old_mode: str | None
    new_mode: str | None
    encoding: str | None
    truncated: bool
    edits: list[list[int]]


Edits = dict[str, tuple[Edit, ...]]
Told = Iterator[tuple[str, tuple[Edit, ...]]]


def parse_wanted(asked: Any) -> Wanted:
    """Which files are shown with texts: "all", "none", or how many. Invalid otherwise."""
    if asked in ("all", "none"):
        return cast("Wanted", asked)
    digits = str(asked)
    if digits.isascii() and digits.isdecimal() and len(digits) <= DIGITS:
        return int(digits)
    raise Invalid('"contents" must be all, none or a number of files')


class Files:
    """The changed files of one commit as clients read them, without review marks. Known `edits` can
    be passed in; then git is not asked for them."""

    def __init__(self, repository: Repository, commit: Commit, edits: Edits | None = None) -> None:
        self.repository = repository
        self.commit = commit
        self.edits = edits
        self._attributes = generated.Attributes(self._read_attributes)

    def whole(self, files: Sequence[Changed]) -> Iterator[Record]:
        """These files with contents and edits, in their order, one at a time in memory.

        Git starts at once, and works before the first file is asked for.
        """
        if self.edits is not None:
            known = [(file.path, self.edits[file.path]) for file in files]
            return self._whole(files, iter(known), ExitStack())
        some = {file.path for file in files} if len(files) < len(self.commit.files) else None
        with ExitStack() as started:
            told = started.enter_context(diff.streamed_edits(self.repository, self.commit, some))
            return self._whole(files, told, started.pop_all())

    def _whole(self, files: Sequence[Changed], told: Told, started: ExitStack) -> Iterator[Record]:
        with started:
            self._look_ahead(files)
            texts = objects.blobs(self.repository, [oid for file in files for oid in file.blobs])
            early: Edits = {}
            for file in files:
                sides = dict(next(texts) for _ in file.blobs)
                yield self._record(file, _next_edits(told, file.path, early), sides)
            next(texts, None)  # yields nothing, but lets the process be reused

    def bare(self, file: Changed, *, deep: bool = False) -> Record:
        """A file without contents and edits. `deep`: attributes of its own folder count too."""
        return {
            "path": shown_path(file.path),
            "old_path": None if file.old_path is None else shown_path(file.old_path),
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "binary": self.commit.counted and file.additions is None and not file.is_submodule,
            "generated": self._is_generated(file, deep or len(self.commit.files) <= FEW),
            "old": None,
            "new": None,
            "old_oid": file.old_oid,
            "new_oid": file.new_oid,
            "old_mode": file.old_mode,
            "new_mode": file.new_mode,
            "encoding": None,
            "truncated": True,
            "edits": [],
        }

    def _record(
        self, file: Changed, edits: tuple[Edit, ...], texts: Mapping[str, bytes | None]
    ) -> Record:
        old = texts.get(file.old_oid) if file.old_oid else None
        new = texts.get(file.new_oid) if file.new_oid else None
        shown = self.bare(file, deep=True)
        shown["truncated"] = False
        shown["edits"] = cast("list[list[int]]", _of_texts(file, edits))  # lists in JSON
        shown["binary"] = any(side is not None and objects.is_binary(side) for side in (old, new))
        if shown["binary"]:
            return shown
        if file.additions is None and not file.is_submodule:
            shown["additions"] = sum(edit[3] for edit in edits)
            shown["deletions"] = sum(edit[1] for edit in edits)
        present = next((side for side in (new, old) if side is not None), None)
        if present is None:
            return shown
        shown["generated"] = shown["generated"] or generated.by_header(present)
        (shown["old"], was), (shown["new"], now) = map(_text, (old, new))
        rank = ("unknown", "windows-1252", "utf-8")  # the first one that a side has
        shown["encoding"] = next(one for one in rank if one in (was, now))
        return shown

    def _is_generated(self, file: Changed, deep: bool) -> bool:
        said = self._attributes.is_generated(file.path, deep=deep)
        return generated.by_name(file.path) if said is None else said

    def _look_ahead(self, files: Sequence[Changed]) -> None:
        """Read all trees in which attributes are looked up together; they are cached."""
        paths = {_attributes_of(file.path.rpartition("/")[0]) for file in files}
        objects.entries(self.repository, self.commit.sha, paths)

    def _read_attributes(self, folder: str) -> bytes | None:
        """The .gitattributes of a folder in this commit's own tree."""
        entry = objects.entry(self.repository, self.commit.sha, _attributes_of(folder))
        if entry is None or entry.kind != "blob":
            return None
        return objects.blob(self.repository, entry.oid)


def _attributes_of(folder: str) -> str:
    return f"{folder}/.gitattributes" if folder else ".gitattributes"


def complete(record: Record) -> bool:
    """False if a text is left out because its object is missing, which may still arrive."""
    if record["truncated"] or record["binary"]:
        return True
    sides = (
        (record["old"], record["old_oid"], record["old_mode"]),
        (record["new"], record["new_oid"], record["new_mode"]),
    )
    return not any(text is None and oid and mode != SUBMODULE for text, oid, mode in sides)


def _next_edits(told: Told, path: str, early: Edits) -> tuple[Edit, ...]:
    """The edits of the next file. `early` keeps those that arrive before their turn."""
    while path not in early:
        found = next(told, None)
        if found is None:
            return ()
        early[found[0]] = found[1]
    return early.pop(path)


def _of_texts(file: Changed, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits that turn the text of one side into that of the other.

    Git reports a submodule as a one-line file, and a file that changes its type as a deleted and an
    added one.
    """
    if file.status != "type" and not file.is_submodule:
        return edits
    old = 0 if file.old_mode == SUBMODULE else sum(edit[1] for edit in edits)
    new = 0 if file.new_mode == SUBMODULE else sum(edit[3] for edit in edits)
    return ((min(old, 1), old, min(new, 1), new),) if old or new else ()


def _text(data: bytes | None) -> tuple[str, str] | tuple[None, None]:
    return (None, None) if data is None else objects.text(data)
