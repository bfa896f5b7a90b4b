"""Where a line of an old commit really is in a new one, found without comparing the two.

A line whose text is unique in its file is looked for by that text. One whose text is not is the
k-th line that `git blame` gives to some commit, and the k-th that it gives to that commit's
successor. Lines that neither method knows are left out of the figures, and counted.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from bench.replay_histories import git

TELLING_CHARS = 8
BLAMED = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)")
Gone = Literal["gone"]
Spot = tuple[str, int]  # path, line
Fate = Spot | Gone | None  # None: not known


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lines `start` to `line` of `path` in the tree of commit `sha`."""

    sha: str
    path: str
    start: int
    line: int


class Truth:
    """Of one rewritten branch in its scratch clone; `heirs` leads from old commits to new ones."""

    def __init__(self, folder: Path, heirs: Mapping[str, str]) -> None:
        self.folder = folder
        self.heirs = heirs
        self._blame = lru_cache(maxsize=None)(self._blamed)
        self.text = lru_cache(maxsize=None)(self._read)

    def of(self, wanted: Wanted, sha: str) -> tuple[str, int, int] | Gone | None:
        """Path, first and last line of the range in `sha`; "gone" if any line of it is."""
        fates = [
            self._line(wanted.sha, wanted.path, at, sha)
            for at in range(wanted.start, wanted.line + 1)
        ]
        if any(fate is None for fate in fates):
            return None
        if "gone" in fates:
            return "gone"
        spots = [fate for fate in fates if isinstance(fate, tuple)]
        paths, lines = {path for path, _ in spots}, [line for _, line in spots]
        if len(paths) > 1 or lines != sorted(set(lines)):
            return None
        return spots[0][0], lines[0], lines[-1]

    def _line(self, old: str, path: str, line: int, new: str) -> Fate:
        before = self.text(old, path)
        if before is None or line > len(before):
            return None
        fate = self._by_text(before, path, line, new)
        return fate or self._by_blame(old, path, line, new)

    def _by_text(self, before: list[str], path: str, line: int, new: str) -> Fate:
        text = before[line - 1].strip()
        if len("".join(text.split())) < TELLING_CHARS:
            return None
        if sum(other.strip() == text for other in before) > 1:
            return None
        after = self.text(new, path)
        if after is None:
            return self._elsewhere(before[line - 1], new)
        hits = [at for at, other in enumerate(after, 1) if other.strip() == text]
        if len(hits) > 1:
            return None
        return (path, hits[0]) if hits else "gone"

    def _elsewhere(self, text: str, new: str) -> Fate:
        """In a tree without the path: the one file that has the line, if there is one."""
        try:
            told = git(self.folder, "grep", "-n", "-z", "-F", "-I", "-e", text, new)
        except subprocess.CalledProcessError:
            return "gone"
        rows = [row.removeprefix(f"{new}:").split("\0") for row in told.split("\n")]
        hits = [(row[0], int(row[1])) for row in rows if len(row) == 3 and row[2] == text]
        if not hits:
            return "gone"
        return hits[0] if len(hits) == 1 else None

    def _by_blame(self, old: str, path: str, line: int, new: str) -> Fate:
        before, after = self.text(old, path), self.text(new, path)
        if before is None or after is None:
            return None
        ours = self._blame(old, path)
        origin = ours[line - 1]
        mine = [at for at, sha in enumerate(ours, 1) if sha == origin]
        theirs = [at for at, sha in enumerate(self._blame(new, path), 1) if sha == origin]
        if [before[at - 1] for at in mine] == [after[at - 1] for at in theirs]:
            return (path, theirs[mine.index(line)])
        return None

    def _blamed(self, sha: str, path: str) -> list[str]:
        """For each line the commit it comes from, an old commit of the branch by its successor."""
        told = git(self.folder, "blame", "-p", "-s", sha, "--", path)
        rows = [found for row in told.split("\n") if (found := BLAMED.match(row))]
        by_line = {int(found[3]): found[1] for found in rows}
        return [self.heirs.get(by_line[at], by_line[at]) for at in sorted(by_line)]

    def _read(self, sha: str, path: str) -> list[str] | None:
        try:
            text = git(self.folder, "cat-file", "blob", f"{sha}:{path}")
        except subprocess.CalledProcessError:
            return None
        return text.removesuffix("\n").split("\n") if text else []


def changed_lines(folder: Path, sha: str) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Lines that a commit removes (in its parent) and adds, by path; renames are two files."""
    told = git(folder, "diff-tree", "-p", "-U0", "--no-renames", "--no-color", f"{sha}^", sha)
    removed: dict[str, list[int]] = defaultdict(list)
    added: dict[str, list[int]] = defaultdict(list)
    left = right = 0
    old = new = ""
    for row in told.split("\n"):
        if found := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", row):
            left, right = int(found[1]), int(found[2])
        elif row.startswith("diff --git "):
            left = right = 0
        elif not left and not right and row.startswith(("--- ", "+++ ")):
            name = row[6:].rstrip("\t") if row[4:6] in ("a/", "b/") else ""
            old, new = (name, new) if row.startswith("-") else (old, name)
        elif row.startswith("-") and old:
            removed[old].append(left)
            left += 1
        elif row.startswith("+") and new:
            added[new].append(right)
            right += 1
    return dict(removed), dict(added)
