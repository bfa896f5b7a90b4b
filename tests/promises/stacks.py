"""Random stacks of commits in a real repository whose every rewriting is known, for G16.

Objects are written as git writes them, without a process each: thousands of rewritings in a minute.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

PATHS = ("a.py", "b.py", "c.py")
BASE = 12  # lines of each file before any commit
SUBJECTS = ("wip", "Fix tests", "Update docs", "Address review")
BOILERPLATE = ("import time", "}", "return None")
START = 1_767_600_000


@dataclass(frozen=True, slots=True)
class Edit:
    """A line added at `at`, or with `replaces` set, a line of the base rewritten."""

    path: str
    at: float
    text: str
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A commit to be. `strands` say what it is: a fold has those of its parts, half of a split one
    below that of the whole."""

    strands: frozenset[str]
    subject: str
    second: int
    edits: tuple[Edit, ...]

    @property
    def lines(self) -> frozenset[tuple[str, float]]:
        """Where it adds or rewrites one, whatever it says there by now."""
        return frozenset((edit.path, edit.at) for edit in self.edits)


Stack = tuple[Node, ...]


def akin(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one became the other, or a part of it, or the other way round."""
    return any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in one for b in other)


def became(one: Node, other: Node) -> bool:
    """Whether one is akin to the other. A commit that is split a second time, after going back, has
    halves of the same names and other lines: then the lines say which has some of it."""
    if akin(one.strands, other.strands):
        return True
    roots = ({strand.partition("/")[0] for strand in node.strands} for node in (one, other))
    return bool(set.intersection(*roots) and one.lines & other.lines)


class Git:
    """A repository whose objects, refs and reflogs are written here."""

    def __init__(self, path: Path, *, logs: bool) -> None:
        self.git = path / ".git"
        self.logs = logs
        self.heads: dict[str, str] = {}
        for folder in ("objects", "refs/heads"):
            (self.git / folder).mkdir(parents=True)
        (self.git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        self.clock = START
        self.last = ""
        self.written: dict[str, Path] = {}

    def put(self, kind: str, body: bytes) -> str:
        data = f"{kind} {len(body)}\0".encode() + body
        sha = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        path = self.git / "objects" / sha[:2] / sha[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 1))
        self.written[sha] = path
        return sha

    def tree(self, files: dict[str, list[str]]) -> str:
        rows = b""
        for name in sorted(files):
            blob = self.put("blob", "".join(f"{line}\n" for line in files[name]).encode())
            rows += f"100644 {name}\0".encode() + bytes.fromhex(blob)
        return self.put("tree", rows)

    def commit(self, tree: str, parent: str | None, node: Node) -> str:
        self.clock += 1
        parents = f"parent {parent}\n" if parent else ""
        return self.put(
            "commit",
            f"tree {tree}\n{parents}author A <a@b> {node.second} +0000\n"
            f"committer A <a@b> {self.clock} +0000\n\n{node.subject}\n".encode(),
        )

    def point(self, name: str, sha: str, *, checkout: bool = False) -> None:
        """Move a branch, and HEAD to it."""
        self.clock += 1
        before = self.heads.get(name, "0" * 40)
        self.heads[name] = sha
        (self.git / "refs" / "heads" / name).write_text(f"{sha}\n")
        if checkout:
            (self.git / "HEAD").write_text(f"ref: refs/heads/{name}\n")
            self._log("HEAD", self.last or before, sha)
            self.last = sha
        self._log(f"refs/heads/{name}", before, sha)

    def delete(self, name: str) -> None:
        del self.heads[name]
        for folder in ("refs/heads", "logs/refs/heads"):
            (self.git / folder / name).unlink(missing_ok=True)

    def prune(self, kept: set[str]) -> None:
        """As `git gc` after the reflogs have expired: only these commits are left."""
        for path in (self.git / "logs").rglob("*"):
            if path.is_file():
                path.unlink()
        shutil.rmtree(self.git / "refs" / "svc", ignore_errors=True)
        for sha, path in list(self.written.items()):
            if sha not in kept and zlib.decompress(path.read_bytes()).startswith(b"commit "):
                path.unlink()
                del self.written[sha]

    def _log(self, name: str, old: str, new: str) -> None:
        if self.logs:
            path = self.git / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"{old} {new} A <a@b> {self.clock} +0000\tmoved\n")


@dataclass
class Stacks:
    """Branches of commits above `main`, and what may be done with the one checked out."""

    git: Git
    rng: random.Random
    current: str = "topic"
    branches: dict[str, Stack] = field(default_factory=lambda: {"topic": ()})
    past: list[tuple[str, int, Stack]] = field(default_factory=list)
    dropped: list[Node] = field(default_factory=list)
    shas: dict[tuple[str, Node], str] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)
    used: set[tuple[str, str]] = field(default_factory=set)
    kept: dict[str, set[str]] = field(default_factory=dict)  # by branch, its commits as they are
    mains: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        self.move_main()
        self.become((*self.fresh(), *self.fresh()))

    @property
    def stack(self) -> Stack:
        return self.branches[self.current]

    def step(self) -> str:
        verbs: list[Callable[[], Stack | None]] = [
            self.add, self.add, self.drop, self.drop, self.amend, self.amend, self.reword,
            self.rewrite, self.again, self.fixup, self.squash, self.squash_all, self.split,
            self.swap, self.pick_back, self.go_back, self.rebase, self.switch, self.pick_across,
            self.drop_and_amend, self.delete_branch, self.prune,
        ]  # fmt: skip
        verb = self.rng.choice(verbs)
        after = verb()
        if after is not None:
            self.become(after)
        return verb.__name__

    def become(self, stack: Stack) -> None:
        self.branches[self.current] = stack
        self.kept[self.current] = set(self.built(stack))
        self.past.append((self.current, len(self.bases) - 1, stack))
        self.git.point(self.current, self.tip(stack), checkout=True)

    def tip(self, stack: Stack) -> str:
        *_, last = self.built(stack)
        return last

    def built(self, stack: Stack) -> Iterator[str]:
        """The base and the commits, oldest first."""
        parent = self.bases[-1]
        yield parent
        for n, node in enumerate(stack, 1):
            key = (parent, node)
            if key not in self.shas:
                tree = self.git.tree(self.files(stack[:n]))
                self.shas[key] = self.git.commit(tree, parent, node)
            parent = self.shas[key]
            yield parent

    def listed(self) -> dict[str, Node]:
        return dict(zip(list(self.built(self.stack))[1:], self.stack, strict=True))

    def files(self, stack: Stack) -> dict[str, list[str]]:
        placed: dict[str, dict[tuple[float, str], str]] = {
            path: {(float(n), ""): f"{path} line {n}" for n in range(BASE)} for path in PATHS
        }
        for edit in (one for node in stack for one in node.edits):
            key = (edit.at, "") if edit.replaces else (edit.at, edit.text)
            placed[edit.path][key] = edit.text
        made = {path: [lines[key] for key in sorted(lines)] for path, lines in placed.items()}
        return made | {"main.py": [f"main {n}" for n in range(self.mains)]}

    # -- new commits -------------------------------------------------------------------------------

    def name(self) -> int:
        self.count += 1
        return self.count

    def edit(self, path: str, text: str | None = None) -> Edit:
        if text is None and self.rng.random() < 0.3:
            at = float(self.rng.randrange(BASE))
            return Edit(path, at, f"{path} line {at} rewritten {self.name()}", replaces=True)
        return Edit(path, self.rng.uniform(0, BASE), text or f"new line {self.name()}")

    def edits(self) -> tuple[Edit, ...]:
        paths = self.rng.sample(PATHS, self.rng.choice((1, 1, 2)))
        tiny = self.rng.random() < 0.3
        found = [self.edit(path) for path in paths for _ in range(1 if tiny else 4)]
        line = (self.rng.choice(PATHS), self.rng.choice(BOILERPLATE))
        if self.rng.random() < 0.3 and line not in self.used:
            # once in a file: the same line, added there anew, is no other line
            self.used.add(line)
            boilerplate = self.edit(*line)
            found = [boilerplate] if tiny else [*found, boilerplate]
        return tuple(found)

    def fresh(self) -> list[Node]:
        """Commits of one second, as a script makes them."""
        self.git.clock += 10
        return [
            Node(frozenset({str(self.name())}), self.subject(), self.git.clock, self.edits())
            for _ in range(self.rng.choice((1, 1, 2, 3)))
        ]

    def subject(self) -> str:
        return self.rng.choice((*SUBJECTS, f"Do {self.name()}"))

    # -- what may be done --------------------------------------------------------------------------

    def any(self, least: int = 1) -> int | None:
        return self.rng.randrange(len(self.stack)) if len(self.stack) >= least else None

    def changed(self, at: int, *nodes: Node) -> Stack:
        return (*self.stack[:at], *nodes, *self.stack[at + 1 :])

    def add(self) -> Stack | None:
        if len(self.stack) > 8:
            return None
        at = self.rng.choice((len(self.stack), self.rng.randrange(len(self.stack) + 1)))
        return (*self.stack[:at], *self.fresh(), *self.stack[at:])

    def clashes(self, node: Node) -> bool:
        """Whether git would stop with a conflict: another commit rewrites one of its lines."""
        own = {(edit.path, edit.at) for edit in node.edits if edit.replaces}
        others = (one for one in self.stack if one is not node)
        return any((edit.path, edit.at) in own for one in others for edit in one.edits)

    def drop(self) -> Stack | None:
        at = self.any(2)
        if at is None or self.clashes(self.stack[at]):
            return None
        self.dropped.append(self.stack[at])
        return self.changed(at)

    def amend(self) -> Stack | None:
        at = self.any()
        return None if at is None else self.changed(at, self.amended(self.stack[at]))

    def amended(self, node: Node) -> Node:
        """A line more, or one of its own anew."""
        if self.rng.random() < 0.5:
            return replace(node, edits=(*node.edits, self.edit(node.edits[0].path)))
        at = self.rng.randrange(len(node.edits))
        other = replace(node.edits[at], text=f"said anew {self.name()}")
        return replace(node, edits=(*node.edits[:at], other, *node.edits[at + 1 :]))

    def reword(self) -> Stack | None:
        at = self.any()
        if at is None:
            return None
        return self.changed(at, replace(self.stack[at], subject=self.subject()))

    def rewrite(self) -> Stack | None:
        """Amend and reword."""
        at = self.any()
        if at is None:
            return None
        return self.changed(at, replace(self.amended(self.stack[at]), subject=self.subject()))

    def again(self) -> Stack | None:
        """Undo a commit and make it again: another second, perhaps another text."""
        at = self.any()
        if at is None:
            return None
        self.git.clock += 10
        node = replace(self.stack[at], second=self.git.clock)
        return self.changed(at, self.amended(node) if self.rng.random() < 0.5 else node)

    def fold(self, at: int, *, keep: bool) -> Stack:
        one, other = self.stack[at : at + 2]
        made = replace(one, strands=one.strands | other.strands, edits=one.edits + other.edits)
        if not keep:
            self.git.clock += 10
            made = replace(made, subject=self.subject(), second=self.git.clock)
        return (*self.stack[:at], made, *self.stack[at + 2 :])

    def fixup(self) -> Stack | None:
        return (
            self.fold(self.rng.randrange(len(self.stack) - 1), keep=True) if self.any(2) else None
        )

    def squash(self) -> Stack | None:
        return (
            self.fold(self.rng.randrange(len(self.stack) - 1), keep=False) if self.any(2) else None
        )

    def squash_all(self) -> Stack | None:
        if len(self.stack) < 2 or self.rng.random() < 0.5:
            return None
        self.git.clock += 10
        edits = tuple(edit for node in self.stack for edit in node.edits)
        strands = frozenset[str]().union(*(node.strands for node in self.stack))
        return (Node(strands, self.subject(), self.git.clock, edits),)

    def split(self) -> Stack | None:
        """In two by lines; the first half keeps subject and second."""
        at = self.any()
        if at is None or len(self.stack[at].edits) < 2:
            return None
        node, half = self.stack[at], len(self.stack[at].edits) // 2
        first, second = (frozenset(f"{one}/{n}" for one in node.strands) for n in (1, 2))
        self.git.clock += 10
        return self.changed(
            at,
            replace(node, strands=first, edits=node.edits[:half]),
            Node(second, self.subject(), self.git.clock, node.edits[half:]),
        )

    def swap(self) -> Stack | None:
        if len(self.stack) < 2:
            return None
        at = self.rng.randrange(len(self.stack) - 1)
        one, other = self.stack[at : at + 2]
        if self.clashes(one) or self.clashes(other):
            return None
        return (*self.stack[:at], other, one, *self.stack[at + 2 :])

    def pick_back(self) -> Stack | None:
        free = [node for node in self.dropped if self.free(node)]
        return (*self.stack, self.rng.choice(free)) if free else None

    def free(self, node: Node) -> bool:
        same = any(akin(node.strands, other.strands) for other in self.stack)
        return not same and not self.clashes(node)

    def go_back(self) -> Stack | None:
        same = [
            stack
            for name, base, stack in self.past[-12:]
            if (name, base) == (self.current, len(self.bases) - 1)
        ]
        return self.rng.choice(same)

    def rebase(self) -> Stack:
        self.move_main()
        return self.stack

    def move_main(self) -> None:
        self.mains += 1
        node = Node(frozenset(), f"Mainline {self.mains}", self.git.clock, ())
        before = self.bases[-1] if self.bases else None
        self.bases.append(self.git.commit(self.git.tree(self.files(())), before, node))
        self.git.point("main", self.bases[-1])

    def switch(self) -> Stack:
        """To the other branch, which may have to be made."""
        self.current = "other" if self.current == "topic" else "topic"
        return self.branches.get(self.current) or tuple(self.fresh())

    def pick_across(self) -> Stack | None:
        other = "other" if self.current == "topic" else "topic"
        free = [node for node in self.branches.get(other, ()) if self.free(node)]
        return (*self.stack, self.rng.choice(free)) if free else None

    def drop_and_amend(self) -> Stack | None:
        """Between two looks: one commit goes, another is amended and a new one is made."""
        if len(self.stack) < 2:
            return None
        at = self.rng.randrange(len(self.stack) - 1)
        if self.clashes(self.stack[at]):
            return None
        self.dropped.append(self.stack[at])
        above = self.amended(self.stack[at + 1])
        return (*self.stack[:at], above, *self.stack[at + 2 :], *self.fresh())

    def delete_branch(self) -> None:
        other = "other" if self.current == "topic" else "topic"
        if other in self.branches:
            self.dropped += self.branches.pop(other)
            self.git.delete(other)

    def prune(self) -> None:
        if self.rng.random() < 0.2:
            kept = {sha for name in self.branches for sha in self.kept[name]}
            self.git.prune(kept | set(self.bases))
            self.shas = {key: sha for key, sha in self.shas.items() if sha in kept}
            self.past.clear()
            self.past.append((self.current, len(self.bases) - 1, self.stack))
