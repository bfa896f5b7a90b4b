"""The files of a commit with their texts and edits (contract 8.2-8.4), a few at a time.

Nothing here holds more than one portion of a commit's files, however many it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from config.kernel.jsonio import clean
from review.git import diffs, objects
from review.git.commits import Changed, Commit
from review.git.diffs import Edit
from review.git.repository import Repository
from review.stacks import generated

SUBMODULE = "160000"
FIRST, MOST = 16, 200  # files of the first portion, of any
FEW = 200  # files of a commit all of whose folders are looked at
PORTION = 4 << 20  # bytes of text that a portion aims at
PROBE = 8000  # bytes in which git looks for a NUL

Record = dict[str, Any]
Edits = dict[str, tuple[Edit, ...]]


class Files:
    """The changed files of one commit as the wire shows them, review marks aside."""

    def __init__(self, repository: Repository, commit: Commit) -> None:
        self.repository = repository
        self.commit = commit
        self._attributes = generated.Attributes(self._read_attributes)

    def whole(self, files: Sequence[Changed]) -> Iterator[Record]:
        """These files with contents and edits, in their order. Git sets to work at once."""
        pool = ThreadPoolExecutor(1, "review-edits")
        ahead = self._ahead(pool, files[:FIRST])
        return self._portions(pool, ahead, files)

    def _portions(
        self, pool: ThreadPoolExecutor, ahead: Future[Edits], files: Sequence[Changed]
    ) -> Iterator[Record]:
        with pool:
            at, size = 0, FIRST
            while at < len(files):
                portion = files[at : at + size]
                at += size
                texts = self._texts(portion)
                edits = ahead.result()
                read = sum(map(len, texts.values()))
                size = max(1, min(MOST, PORTION * len(portion) // max(read, 1)))
                ahead = self._ahead(pool, files[at : at + size])
                for file in portion:
                    yield self._record(file, edits.get(file.path, ()), texts)

    def bare(self, file: Changed, *, deep: bool = False) -> Record:
        """A file without contents and edits. `deep`: attributes of its own folder count too."""
        return {
            "path": clean(file.path),
            "old_path": None if file.old_path is None else clean(file.old_path),
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "binary": self.commit.counted and file.additions is None and not _submodule(file),
            "generated": self._generated(file, deep or len(self.commit.files) <= FEW),
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

    def _ahead(self, pool: ThreadPoolExecutor, files: Sequence[Changed]) -> Future[Edits]:
        """Git finds the edits of the next portion while this one is sent."""
        if len(files) == len(self.commit.files):
            return pool.submit(diffs.commit_edits, self.repository, self.commit)
        paths = {file.path for file in files}
        return pool.submit(diffs.commit_edits, self.repository, self.commit, paths)

    def _texts(self, files: Sequence[Changed]) -> dict[str, bytes]:
        """The blobs of a portion by oid; missing ones are left out."""
        oids = dict.fromkeys(
            oid
            for file in files
            for oid, mode in ((file.old_oid, file.old_mode), (file.new_oid, file.new_mode))
            if oid is not None and mode != SUBMODULE
        )
        found = objects.blobs(self.repository, oids)
        return {oid: data for oid, data in found if data is not None}

    def _record(self, file: Changed, edits: tuple[Edit, ...], texts: dict[str, bytes]) -> Record:
        old = texts.get(file.old_oid) if file.old_oid else None
        new = texts.get(file.new_oid) if file.new_oid else None
        shown = self.bare(file, deep=True)
        shown["truncated"] = False
        shown["edits"] = edits
        shown["binary"] = any(side is not None and _binary(side) for side in (old, new))
        if shown["binary"]:
            return shown
        if file.additions is None and not _submodule(file):
            shown["additions"] = sum(edit[3] for edit in edits)
            shown["deletions"] = sum(edit[1] for edit in edits)
        present = next((side for side in (new, old) if side is not None), None)
        if present is None:
            return shown
        shown["generated"] = shown["generated"] or generated.by_header(present)
        shown["old"], old_fits = _text(old)
        shown["new"], new_fits = _text(new)
        shown["encoding"] = "utf-8" if old_fits and new_fits else "unknown"
        return shown

    def _generated(self, file: Changed, deep: bool) -> bool:
        said = self._attributes.generated(file.path, deep=deep)
        return generated.by_name(file.path) if said is None else said

    def _read_attributes(self, folder: str) -> bytes | None:
        """The .gitattributes of a folder in this commit's own tree."""
        path = f"{folder}/.gitattributes" if folder else ".gitattributes"
        entry = objects.entry(self.repository, self.commit.sha, path)
        if entry is None or entry.kind != "blob":
            return None
        return objects.blob(self.repository, entry.oid)


def _submodule(file: Changed) -> bool:
    return SUBMODULE in (file.old_mode, file.new_mode)


def _binary(data: bytes) -> bool:
    return b"\0" in data[:PROBE]


def _text(data: bytes | None) -> tuple[str | None, bool]:
    """The text and whether it is UTF-8; what is not is shown with replacement marks."""
    if data is None:
        return None, True
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode(errors="replace"), False
