"""Topic branches of real repositories, rewritten in a scratch clone as their authors might have.

Which new commit stands for which old one is known from how the branch was rewritten, not from
anything the service finds out.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

FEWEST, MOST = 2, 15  # commits of a branch worth replaying
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Rewriter",
    "GIT_AUTHOR_EMAIL": "rewriter@example.org",
    "GIT_COMMITTER_NAME": "Rewriter",
    "GIT_COMMITTER_EMAIL": "rewriter@example.org",
    "GIT_EDITOR": "true",
}


def git(folder: Path, *args: str, **env: str) -> str:
    """What git prints; CalledProcessError when it fails. Bytes that are no UTF-8 are replaced."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=ENVIRONMENT | env, capture_output=True, check=True
    )
    return done.stdout.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Branch:
    """A merged topic branch: its commits, oldest first, and where mainline was at the merge."""

    base: str
    onto: str
    commits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """`fates`: the new commits that may stand for each old one; none for a dropped one."""

    kind: str
    commits: tuple[str, ...]
    fates: Mapping[str, frozenset[str]]


def branches(repository: Path, most: int, chance: Random) -> list[Branch]:
    """Up to `most` branches without merges inside whose mainline had moved on when they landed."""
    merges = [
        line.split()
        for line in git(repository, "log", "--merges", "--format=%P", "HEAD").splitlines()
    ]
    pairs = [parents for parents in merges if len(parents) == 2]
    chance.shuffle(pairs)
    found: list[Branch] = []
    for mainline, topic in pairs:
        branch = _branch(repository, mainline, topic)
        if branch:
            found.append(branch)
        if len(found) == most:
            break
    return found


def _branch(repository: Path, mainline: str, topic: str) -> Branch | None:
    bases = git(repository, "merge-base", "--all", mainline, topic).split()
    if len(bases) != 1 or bases[0] == mainline:
        return None
    lines = git(
        repository, "log", "--reverse", "--topo-order", "--format=%H %P", f"{bases[0]}..{topic}"
    ).splitlines()
    rows = [line.split() for line in lines]
    if not FEWEST <= len(rows) <= MOST or any(len(row) != 2 for row in rows):
        return None
    return Branch(bases[0], mainline, tuple(row[0] for row in rows))


class Scratch:
    """A clone that borrows the objects of a repository, in which branches are rewritten."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder
        git(folder.parent, "clone", "-q", "--shared", "--no-checkout", str(repository), str(folder))
        git(folder, "config", "gc.auto", "0")
        git(folder, "config", "rerere.enabled", "false")

    def rewritten(self, branch: Branch, chance: Random) -> Iterator[Rewritten]:
        """The branch in each way that applies without stopping."""
        for kind, plan in PLANS.items():
            if todo := plan(self, branch, chance):
                try:
                    yield self._rebased(kind, branch, todo)
                except subprocess.CalledProcessError:
                    self._abort()

    def files(self, sha: str) -> list[str]:
        told = git(
            self.folder, "diff-tree", "-r", "--no-renames", "--name-only", "-z", f"{sha}^", sha
        )
        return [name for name in told.split("\0") if name]

    def _rebased(self, kind: str, branch: Branch, steps: list[Step]) -> Rewritten:
        git(self.folder, "checkout", "-q", "--force", "--detach", branch.commits[-1])
        git(self.folder, "clean", "-qfdx")
        script = self.folder / ".git" / "todo"
        script.write_text("".join(line + "\n" for step in steps for line in step.lines))
        git(
            self.folder, "rebase", "-q", "-i", *FAVOUR[kind], "--empty=keep",
            "--reapply-cherry-picks", "--no-autosquash", "--onto", branch.onto, branch.base,
            GIT_SEQUENCE_EDITOR=f"cp {shlex.quote(str(script))}",
        )  # fmt: skip
        new = git(
            self.folder, "rev-list", "--reverse", "--topo-order", f"{branch.onto}..HEAD"
        ).split()
        assert len(new) == sum(step.makes for step in steps), (kind, branch)
        fates: dict[str, set[str]] = {sha: set() for sha in branch.commits}
        at = 0
        for step in steps:
            made = new[at : at + step.makes] or new[at - 1 : at]
            at += step.makes
            fates[step.sha] |= set(made)
        return Rewritten(kind, tuple(new), {old: frozenset(its) for old, its in fates.items()})

    def _abort(self) -> None:
        for args in (["rebase", "--abort"], ["rebase", "--quit"]):
            subprocess.run(
                ["git", *args], cwd=self.folder, env=ENVIRONMENT, capture_output=True, check=False
            )


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one old commit: lines of the todo list, and how many commits they make (0:
    it goes into the one before)."""

    sha: str
    lines: tuple[str, ...]
    makes: int = 1


Plan = Callable[[Scratch, Branch, Random], "list[Step] | None"]


def _pick(sha: str) -> Step:
    return Step(sha, (f"pick {sha}",))


def _rebase(scratch: Scratch, branch: Branch, chance: Random) -> list[Step]:
    return [_pick(sha) for sha in branch.commits]


def _reorder(scratch: Scratch, branch: Branch, chance: Random) -> list[Step]:
    steps = [_pick(sha) for sha in branch.commits]
    at = chance.randrange(len(steps) - 1)
    steps[at : at + 2] = steps[at : at + 2][::-1]
    return steps


def _fixup(scratch: Scratch, branch: Branch, chance: Random) -> list[Step]:
    """A later commit of the branch, often an answer to a review, goes into the one before."""
    steps = [_pick(sha) for sha in branch.commits]
    at = chance.randrange(1, len(steps))
    sha = branch.commits[at]
    steps[at] = Step(sha, (f"fixup {sha}",), makes=0)
    return steps


def _squash(scratch: Scratch, branch: Branch, chance: Random) -> list[Step]:
    """All of it becomes one new commit with a message, author and date of its own."""
    first, *rest = branch.commits
    again = "git reset -q --soft HEAD^ && git commit -q --allow-empty -m 'All of it'"
    steps = [_pick(first)] + [Step(sha, (f"fixup {sha}",), makes=0) for sha in rest]
    steps[-1] = Step(rest[-1], (*steps[-1].lines, f"exec {again}"), makes=0)
    return steps


def _drop(scratch: Scratch, branch: Branch, chance: Random) -> list[Step]:
    gone = chance.randrange(len(branch.commits))
    return [_pick(sha) for at, sha in enumerate(branch.commits) if at != gone]


def _split(scratch: Scratch, branch: Branch, chance: Random) -> list[Step] | None:
    """One commit becomes two, file by file; the first half keeps message and author."""
    wide = [sha for sha in branch.commits if len(scratch.files(sha)) > 1]
    if not wide:
        return None
    chosen = chance.choice(wide)
    names = scratch.files(chosen)
    first = shlex.join(names[: (len(names) + 1) // 2])
    halve = (
        f"git reset -q --mixed HEAD^ && git add -A -- {first} && git commit -q -C {chosen}"
        " && git add -A && git commit -q -m 'The other half'"
    )
    return [
        Step(sha, (f"pick {sha}", f"exec {halve}"), makes=2) if sha == chosen else _pick(sha)
        for sha in branch.commits
    ]


PLANS: Mapping[str, Plan] = {
    "rebase": _rebase,
    "reorder": _reorder,
    "fixup": _fixup,
    "squash": _squash,
    "drop": _drop,
    "split": _split,
}
# Conflicting lines are resolved in favour of the branch, which is how its content comes to change.
# Without a dropped commit that would bring its lines back in a later one.
FAVOUR = {kind: [] if kind == "drop" else ["-X", "theirs"] for kind in PLANS}
