"""The user's index, changed for some paths alone: on a copy, which handover.py puts in its place.

The copy keeps the time of the original, by which git decides which files it has to read again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from config.git import entries, handover
from config.git.entries import Entry
from config.git.shadow import Shadow
from config.git.snapshot import split
from config.storage import opening

NONE = "0"  # the mode of a removed entry


class Index:
    """An index in a file of ours, read and written through `shadow`; objects are the user's, or
    those in the folder `objects`."""

    def __init__(self, shadow: Shadow, name: str, *, objects: Path | None = None) -> None:
        self.shadow = shadow
        self.objects = objects or shadow.common_dir / "objects"
        self.path = shadow.dir / f"{name}.index"
        for old in (self.path, Path(f"{self.path}.lock")):
            old.unlink(missing_ok=True)

    def copy(self) -> str:
        """Copy the user's index into this one. Return the `mark` that handover checks it by."""
        theirs = user_index(self.shadow)
        try:
            data, when = opening.contents(theirs, limit=handover.LARGEST), theirs.stat().st_mtime_ns
        except FileNotFoundError:
            return ""
        self.path.write_bytes(data)
        os.utime(self.path, ns=(when, when))
        if any(self.shadow.git_dir.glob("sharedindex.*")):
            more = {"GIT_INDEX_FILE": str(self.path)}
            self.shadow.theirs("update-index", "--no-split-index", more=more)
            os.utime(self.path, ns=(when, when))
        return handover.mark(theirs)

    def feed(self, paths: Iterable[str]) -> None:
        """Take these paths as they are in the work tree, and write their objects.

        Where no file or link lies, the entry goes: git itself fails if a folder took the place of
        the file, or a link that of its folder.
        """
        root, there = str(self.shadow.root), {True: list[str](), False: list[str]()}
        for path in paths:
            there[entries.is_stored(entries.mode_at(root, path))].append(path)
        for how, some in (("--force-remove", there[False]), ("--remove", there[True])):
            told = b"".join(os.fsencode(path) + b"\0" for path in some)
            self.run("update-index", "--add", "--replace", how, "-z", "--stdin", stdin=told)

    def set(self, wanted: Mapping[str, Entry | None]) -> None:
        """Set these entries; a path whose entry is None is removed."""
        gone = "0" * (64 if self.shadow.sha256 else 40)
        lines = [(path, entry or Entry(NONE, gone)) for path, entry in wanted.items()]
        lines.sort(key=lambda line: line[1].mode != NONE)  # removals first, to make room
        told = b"".join(
            b"%s %s\t%s\0" % (entry.mode.encode(), entry.oid.encode(), os.fsencode(path))
            for path, entry in lines
        )
        self.run("update-index", "--replace", "-z", "--index-info", stdin=told)

    def read(self, tree: str | None) -> None:
        """Read this tree into the index, or empty it."""
        self.run("read-tree", *([tree] if tree else ["--empty"]))

    def entries(self, paths: Collection[str]) -> tuple[dict[str, Entry], list[str]]:
        """The entries at these paths, and every path that is in conflict."""
        found, torn = {}, []
        for line in split(self.run("ls-files", "-s", "-z")):
            head, _, path = line.partition("\t")
            mode, oid, stage = head.split(" ")
            if stage != "0":
                torn.append(path)
            elif path in paths:
                found[path] = Entry(mode, oid)
        return found, torn

    def tree(self) -> str:
        return self.run("write-tree", "--missing-ok").decode().strip()

    def run(self, *args: str, stdin: bytes | None = None) -> bytes:
        more = {"GIT_INDEX_FILE": str(self.path), "GIT_OBJECT_DIRECTORY": str(self.objects)}
        return self.shadow.run(*args, stdin=stdin, more=more)


def user_index(shadow: Shadow) -> Path:
    return shadow.git_dir / "index"
