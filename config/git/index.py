"""The user's index, changed for some paths alone: on a copy, which handover.py puts in its place.

The copy keeps the time of the original, by which git decides which files it has to read again.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from config.git import entries, handover
from config.git.entries import LINK, PROGRAM, Entry
from config.git.shadow import Shadow
from config.git.snapshot import split
from config.storage import opening

NONE = "0"  # the mode of a removed entry
DEBUGGED = re.compile(rb"([^\0]+)\0(?:  .*\n){4}  size: \d+\tflags: ([0-9a-f]+)\n")
ANNOUNCED = 1 << 29  # the flag of an entry that `git add -N` made


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
            if told:
                self.run("update-index", "--add", "--replace", how, "-z", "--stdin", stdin=told)

    def set(self, wanted: Mapping[str, Entry | None]) -> None:
        """Set these entries; a path whose entry is None is removed."""
        gone = "0" * (64 if self.shadow.sha256 else 40)
        lines = [(path, entry or Entry(NONE, gone)) for path, entry in wanted.items()]
        announced = [(path, entry.mode) for path, entry in lines if not entry.oid]
        lines = [line for line in lines if line[1].oid]
        lines.sort(key=lambda line: line[1].mode != NONE)  # removals first, to make room
        told = b"".join(
            b"%s %s\t%s\0" % (entry.mode.encode(), entry.oid.encode(), os.fsencode(path))
            for path, entry in lines
        )
        self.run("update-index", "--replace", "-z", "--index-info", stdin=told)
        for path, mode in announced:
            self._announce(path, mode)

    def _announce(self, path: str, mode: str) -> None:
        """Add the entry that `git add -N` makes, which is only made of a file that is there."""
        with tempfile.TemporaryDirectory(dir=self.shadow.dir) as root:
            place = Path(root, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            if mode == LINK:
                place.symlink_to(root)
            else:
                place.touch(0o700 if mode == PROGRAM else 0o600)
            self.run("add", "-N", "-f", "--", path, root=root)

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
        empty = entries.oid(b"", sha256=self.shadow.sha256)
        if any(entry.oid == empty for entry in found.values()):
            for path in self._announced_paths():
                if path in found:
                    found[path] = Entry(found[path].mode, "")
        return found, torn

    def _announced_paths(self) -> list[str]:
        told = DEBUGGED.findall(self.run("ls-files", "-z", "--debug"))
        return [os.fsdecode(path) for path, flags in told if int(flags, 16) & ANNOUNCED]

    def tree(self) -> str:
        return self.run("write-tree", "--missing-ok").decode().strip()

    def run(self, *args: str, stdin: bytes | None = None, root: str | None = None) -> bytes:
        more = {
            "GIT_INDEX_FILE": str(self.path),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_WORK_TREE": root or str(self.shadow.root),
        }
        return self.shadow.run(*args, stdin=stdin, more=more)


def user_index(shadow: Shadow) -> Path:
    return shadow.git_dir / "index"
