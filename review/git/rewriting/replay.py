"""Replay a chain of commits with its fixups folded, on trees alone: no work tree, no index.

The objects that it writes are unreachable until a ref is moved.
See docs/design/review.md#apply-and-fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from config.git.command import GitError
from review.git import output
from review.git.repository import Repository
from review.git.rewriting import raw
from review.git.rewriting.autosquash import Fold
from review.git.rewriting.raw import Raw


class Clash(Exception):
    """Two changes conflict: the commit that could not be replayed, and the conflicting files."""

    def __init__(self, sha: str, paths: list[str]) -> None:
        super().__init__(sha)
        self.sha, self.paths = sha, paths


@dataclass(frozen=True, slots=True)
class Replayed:
    """`made`: old sha of every commit of the chain -> the new one in its place. For a fold, that is
    the new commit below it, where a branch that ended at the fold has to end."""

    tip: str
    tree: str
    made: Mapping[str, str]


def replay(
    repository: Repository, chain: Sequence[Raw], folds: Sequence[Fold], committer: bytes
) -> Replayed:
    """Replay the chain, oldest first, with each fold folded into its target. Clash; GitError."""
    return _Replay(repository, folds, committer).run(chain)


class _Replay:
    def __init__(self, repository: Repository, folds: Sequence[Fold], committer: bytes) -> None:
        self.repository = repository
        self.committer = committer
        self.moved = {fold.sha: fold for fold in folds}

    def run(self, chain: Sequence[Raw]) -> Replayed:
        by_sha = {one.sha: one for one in chain}
        self.before = self._trees(chain)
        groups: dict[str, list[Raw]] = {}
        for one in chain:
            if one.sha not in self.moved:
                groups[one.sha] = []
        for fold in self.moved.values():
            groups[fold.target].append(by_sha[fold.sha])
        tip = chain[0].parents[0] if chain[0].parents else None
        tree = self.before[chain[0].sha]
        made: dict[str, str] = {}
        for one in chain:
            if one.sha in self.moved:
                assert tip is not None, "a fold stands above its target"
                made[one.sha] = tip
                continue
            tip, tree = self._group(one, groups[one.sha], tip, tree)
            made[one.sha] = tip
        assert tip is not None, "a chain has commits"
        return Replayed(tip, tree, made)

    def _trees(self, chain: Sequence[Raw]) -> dict[str, str]:
        """The tree of each commit's parent, by sha."""
        below = [one.parents[0] for one in chain[:1] if one.parents]
        base = raw.read(self.repository, below)
        first = base[0].tree if base else self.repository.empty_tree
        trees = [first, *(one.tree for one in chain)]
        return {one.sha: tree for one, tree in zip(chain, trees, strict=False)}

    def _group(
        self, target: Raw, folded: Sequence[Raw], tip: str | None, tree: str
    ) -> tuple[str, str]:
        """Make one commit with its folds; it stays the same if nothing folds and its parent is
        unchanged."""
        if not folded and tip == (target.parents[0] if target.parents else None):
            return target.sha, target.tree
        message = target.message
        for one in (target, *folded):
            tree = self._pick(one, tree)
            if (fold := self.moved.get(one.sha)) is not None:
                message = _message(message, target, one, fold)
        made = target.with_message(message).bytes(tree, tip, self.committer)
        return raw.store(self.repository, made), tree

    def _pick(self, commit: Raw, tree: str) -> str:
        """The tree with the commit's change applied."""
        if tree == self.before[commit.sha]:
            return commit.tree
        # A sibling of the picked commit with that tree: their merge base is their common parent.
        beside = raw.store(
            self.repository, commit.bytes(tree, commit.parents[0], b"svc <svc@localhost> 0 +0000")
        )
        told = merge_trees(self.repository, beside, commit.sha)
        if isinstance(told, list):
            raise Clash(commit.sha, told)
        return told


def merge_trees(repository: Repository, ours: str, theirs: str) -> str | list[str]:
    """The tree of their merge, or the conflicting paths. GitError."""
    asked = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    try:
        told = repository.run(*asked, accepted=(0, 1))
    except GitError as error:
        if "usage:" in error.text or "not a valid" in error.text.lower():
            raise GitError("failed", "Folding needs git 2.38 or later") from None
        raise
    tree, *paths = [part.decode(errors="surrogateescape") for part in told.split(b"\0")]
    if not output.SHA.fullmatch(tree):
        raise GitError("failed", "git merge-tree said nothing")
    found = list(dict.fromkeys(path for path in paths if path))
    return found or tree


def _message(before: bytes, target: Raw, commit: Raw, fold: Fold) -> bytes:
    """The message with what the fold adds to it, in the target's encoding."""
    if fold.act == "fixup":
        return before
    said = commit.message.partition(b"\n")[2].lstrip(b"\n")
    if target.encoding.lower() != commit.encoding.lower():
        text = said.decode(_codec(commit.encoding), "replace")
        said = text.encode(_codec(target.encoding), "replace")
    if not said.strip():
        return before
    return said if fold.act == "amend" else before.rstrip(b"\n") + b"\n\n" + said


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        return "utf-8"
    return encoding
