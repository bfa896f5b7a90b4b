"""The least that each row could cost: plain git, the YAML parser, orjson, resvg.

A floor does what the column says and nothing else. What it needs to know (object ids, paths, the
answer to be dumped) is determined before the clock starts.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import yaml

from bench.review.histories import History, git

EMPTY = "0" * 40


@dataclass(frozen=True, slots=True)
class Pair:
    """A file of a commit as two blobs; None for the side on which it is absent."""

    path: str
    old: str | None
    new: str | None


def commit(history: History, sha: str, pairs: Sequence[Pair]) -> None:
    """C2, cold."""
    git(history.path, "diff-tree", "-r", "--numstat", f"{sha}^", sha)
    git(history.path, "cat-file", "--batch", stdin=_oid_lines(pairs))


def first_screen(history: History, sha: str, paths: Sequence[str]) -> None:
    """C3."""
    git(history.path, "diff-tree", "-r", "--raw", f"{sha}^", sha)
    git(history.path, "diff", f"{sha}^", sha, "--", *paths)


def everything(history: History, pairs: Sequence[Pair]) -> None:
    """C4."""
    texts = _texts(git(history.path, "cat-file", "--batch", stdin=_oid_lines(pairs)))
    orjson.dumps([
        {"path": one.path, "old": texts.get(one.old or ""), "new": texts.get(one.new or "")}
        for one in pairs
    ])  # fmt: skip


def diffs(history: History, pairs: Sequence[tuple[str, str]]) -> None:
    """C5, and half of C6: one `git diff -U0` for each pair of blobs."""
    for old, new in pairs:
        git(history.path, "diff", "-U0", old, new)


def load(file: Path) -> None:
    """C7, and half of C6: PyYAML's C parser over the whole file."""
    yaml.load(file.read_bytes(), yaml.CSafeLoader)


def two_diffs(first: History, second: History) -> None:
    """C10."""
    git(first.path, "diff", "-U0", first.head, second.head)
    git(first.path, "diff", "-U0", first.base, second.base)


def grep(history: History, text: str) -> bytes:
    """C11: the diff of the whole stack, and its lines that contain the text in any case."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "diff").write_bytes(
            git(history.path, "diff", "-M", history.base, history.head)
        )
        return git(Path(folder), "grep", "--no-index", "-n", "-i", "-F", "-e", text, "diff")


def patch_ids(history: History) -> None:
    """C9: one log with context and one without, each piped into patch-id."""
    for context in ("-U3", "-U0"):
        command = ["git", "log", "-p", context, f"{history.base}..{history.head}"]
        with subprocess.Popen(command, cwd=history.path, stdout=subprocess.PIPE) as source:
            ids = ["git", "patch-id", "--stable"]
            subprocess.run(
                ids, cwd=history.path, stdin=source.stdout, check=True, capture_output=True
            )


def pairs(history: History, sha: str) -> list[Pair]:
    """The files of a commit against its first parent, in git's order."""
    told = git(history.path, "diff-tree", "-r", "--raw", "--no-abbrev", "-z", f"{sha}^", sha)
    fields = told.decode(errors="surrogateescape").split("\0")[:-1]
    found = []
    for line, path in zip(fields[::2], fields[1::2], strict=True):
        _modes, _mode, old, new, _status = line.split(" ")
        found.append(Pair(path, *(None if oid == EMPTY else oid for oid in (old, new))))
    return found


def _oid_lines(pairs: Sequence[Pair]) -> bytes:
    oids = [oid for one in pairs for oid in (one.old, one.new) if oid]
    return "".join(f"{oid}\n" for oid in oids).encode()


def _texts(told: bytes) -> dict[str, str]:
    """The text of each object id, from repeated `<oid> blob <size>\n<contents>\n`."""
    found, at = {}, 0
    while at < len(told):
        end = told.index(b"\n", at)
        oid, _kind, size = told[at:end].split(b" ")
        at = end + 1 + int(size)
        found[oid.decode()] = told[end + 1 : at].decode(errors="replace")
        at += 1
    return found
