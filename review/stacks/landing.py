"""Where commits landed on the trunk, by the first of six kinds of evidence that applies.

`evidence` is the rule; `Trunk` holds what the rule needs from git, and no more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from review.git import patches
from review.git.commits import Commit
from review.git.log import history
from review.git.ranges import Range
from review.git.repository import Repository
from review.threads.carry.traces import Trace

NUMBER = re.compile(r"\(#([0-9]{1,9})\)\s*\Z")
Signature = tuple[str, str, str]
COMPARED = 500  # trunk commits whose patches are compared with commits that left the range


@dataclass(frozen=True, slots=True)
class Clues:
    """What one commit can be recognised by. `equal` is the trunk commit with the same patch,
    `signed` what an amend preserves."""

    sha: str
    recorded: str | None = None
    change_id: str | None = None
    equal: str | None = None
    number: int | None = None
    signed: Signature | None = None


@dataclass(frozen=True, slots=True)
class Trunk:
    """Facts of the trunk: which given commits it contains, and its own since the merge base."""

    ancestors: frozenset[str] = frozenset()
    by_change_id: Mapping[str, str] = field(default_factory=dict)
    by_number: Mapping[int, str] = field(default_factory=dict)
    by_signature: Mapping[Signature, str] = field(default_factory=dict)


def evidence(clues: Clues, trunk: Trunk) -> tuple[str, str] | None:
    """(landed sha, kind of evidence), None when nothing shows that the commit landed."""
    if clues.recorded:
        return clues.recorded, "record"
    if clues.sha in trunk.ancestors:
        return clues.sha, "ancestor"
    if clues.change_id and (sha := trunk.by_change_id.get(clues.change_id)):
        return sha, "change-id"
    if clues.equal:
        return clues.equal, "patch-id"
    if clues.number is not None and (sha := trunk.by_number.get(clues.number)):
        return sha, "number"
    if clues.signed and (sha := trunk.by_signature.get(clues.signed)):
        return sha, "author-date"
    return None


def index_trunk(commits: Iterable[Commit], ancestors: frozenset[str] = frozenset()) -> Trunk:
    """Index the trunk's commits, oldest first, by change id and PR number, of which the newest
    wins, and by what an amend preserves, where no two are alike."""
    commits = list(commits)
    signed = Counter(signature(commit) for commit in commits)
    by_signature = {
        known: commit.sha
        for commit in commits
        if (known := signature(commit)) and signed[known] == 1
    }
    by_change_id: dict[str, str] = {}
    by_number: dict[int, str] = {}
    for commit in commits:
        if commit.change_id:
            by_change_id[commit.change_id] = commit.sha
        if found := NUMBER.search(commit.subject):
            by_number[int(found[1])] = commit.sha
    return Trunk(ancestors, by_change_id, by_number, by_signature)


def signature(commit: Commit | Trace) -> Signature | None:
    """Author, author date to the second and subject; None if one is unknown."""
    author = commit.author if isinstance(commit, Trace) else commit.author_email
    found = (author.casefold(), commit.authored, commit.subject)
    return found if all(found) else None


def outside(tips: Iterable[str], commits: Sequence[Commit]) -> tuple[str, ...]:
    """The tips that are neither one of these commits nor a parent of one: only there can one of
    them have landed as another commit."""
    known = {commit.sha for commit in commits} | {p for commit in commits for p in commit.parents}
    return tuple(tip for tip in tips if tip not in known)


def since(repository: Repository, tips: Sequence[str], base: str | None) -> list[Commit]:
    """The commits of the trunk that are not reachable from `base`, oldest first per tip.

    Without a base, only the newest COMPARED commits.
    """
    found: dict[str, Commit] = {}
    for tip in tips:
        span = Range(
            text=None, base=base, head=tip, base_sha=base, head_sha=tip, trunk=None, trunk_shas=(),
            limit=COMPARED if base is None else None,
        )  # fmt: skip
        commits = history.commits(repository, span, counts=False)[0] if tip != base else []
        found |= {commit.sha: commit for commit in commits}
    return list(found.values())


def equals(
    repository: Repository, ids: Mapping[str, str | None], trunk: Sequence[Commit]
) -> dict[str, str]:
    """The trunk commit with the same patch, by sha. `ids`: stable patch-id by sha."""
    wanted = {patch_id: sha for sha, patch_id in ids.items() if patch_id}
    if not wanted or not trunk:
        return {}
    theirs = patches.of(repository, [commit.sha for commit in trunk[-COMPARED:]])
    return {
        wanted[patch.patch_id]: sha
        for sha, patch in theirs.items()
        if patch.patch_id is not None and patch.patch_id in wanted
    }
