"""Every sha that a commit had while it was reviewed, and which of them its reviewer looked at.

See docs/design/review.md#versions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from config.errors import NotFound
from config.git.command import GitError
from config.jsonio import clean
from review import reviewer
from review.git import objects
from review.git.commits import Commit
from review.git.diffs import diff
from review.git.log import history
from review.stacks import repo as repos
from review.stacks import wire
from review.threads import commit_review, verdicts, viewed
from review.threads.commit_review import CommitReview
from review.threads.target import Target

PARENT = "PARENT"  # used in place of a version: the parent of the other one


class Version(TypedDict):
    """`n` counts from 1, the oldest. `here` is false if git no longer has the commit; then the
    fields that only git knows are null. `looked`: whether the reviewer marked a file as viewed,
    commented or gave a verdict on it."""

    n: int
    sha: str
    short: str
    subject: str | None
    committed: str | None
    parent: str | None
    current: bool
    here: bool
    looked: bool


class LastLook(TypedDict):
    """The version of the reviewer's last look; `changed`: whether the commit's own change differs
    since."""

    sha: str
    n: int
    changed: bool


class Versions(TypedDict):
    versions: list[Version]
    since: LastLook | None


@dataclass(frozen=True, slots=True)
class Family:
    """The versions of one commit, newest first, and those on which its reviewer did anything."""

    target: Target
    shown: CommitReview
    shas: list[str]
    looked: frozenset[str]

    @property
    def current(self) -> str:
        return self.target.shown_commit.sha

    def find_version(self, name: str) -> str:
        """The version that a full or short sha names. NotFound if it names none, or several."""
        wanted = name.lower()
        hits = [sha for sha in self.shas if sha.startswith(wanted)] if len(wanted) >= 4 else []
        if len(hits) != 1:
            why = "names several versions" if hits else "is not a version"
            raise NotFound(
                f"{clean(name[:64])} {why} of this commit; GET {{c}}/versions lists them",
                code="no_version",
            )
        return hits[0]

    def commit(self, sha: str) -> Commit:
        """The commit of a version. NotFound if git no longer has it."""
        if sha == self.current:
            return self.target.shown_commit
        try:
            return history.commit(self.target.repository, sha)
        except GitError as error:
            if error.kind == "timeout":
                raise
            raise NotFound(
                f"Version {sha[:12]} is no longer in the repository: nothing to compare with"
            ) from None


def versions(project: str, repo: str, sha: str) -> Versions:
    """All versions of a commit, oldest first, and the one of the reviewer's last look."""
    found = family(repos.target_at(project, repo, sha))
    return {"versions": render_all(found), "since": _since(found)}


def render_all(found: Family) -> list[Version]:
    """The versions as clients read them, oldest first."""
    gone = objects.missing(found.target.repository, found.shas)
    shorts = wire.shorts(found.shas)
    return [
        _version(found, n, one, shorts[one], here=one not in gone)
        for n, one in enumerate(reversed(found.shas), 1)
    ]


def family(target: Target) -> Family:
    shown = commit_review.of(target)
    shas = commit_review.versions(target, shown)
    return Family(target, shown, shas, _with_acts(target, shas))


def _version(found: Family, n: int, sha: str, short: str, *, here: bool) -> Version:
    commit = found.commit(sha) if here else None
    return {
        "n": n,
        "sha": sha,
        "short": short,
        "subject": clean(commit.subject) if commit else None,
        "committed": commit.committed if commit else None,
        "parent": commit.parent if commit else None,
        "current": sha == found.current,
        "here": here,
        "looked": sha in found.looked,
    }


def _with_acts(target: Target, shas: Sequence[str]) -> frozenset[str]:
    """The versions whose file has an act of the reviewer that no older one has. A file that takes
    over another one copies its acts."""
    me = reviewer.me().id
    known: set[Hashable] = set()
    found = set()
    for sha in reversed(shas):
        acts = _acts(target, sha, me)
        if acts - known:
            found.add(sha)
        known |= acts
    return frozenset(found)


def _acts(target: Target, sha: str, me: str) -> set[Hashable]:
    said = commit_review.file_of(target, sha)
    if said is None:
        return set()
    comments = (one.id for thread in said.threads for one in thread.comments if one.author == me)
    verdicts = (("", one.at) for one in said.verdicts if one.author == me)
    return {*((mark.path, mark.at) for mark in said.viewed), *comments, *verdicts}


def _since(found: Family) -> LastLook | None:
    """The newest version before the current one that the reviewer looked at. None if there is none,
    if it is gone, or if the current one was read to its end."""
    older = found.shas[found.shas.index(found.current) + 1 :]
    last = next((sha for sha in older if sha in found.looked), None)
    if last is None or _read(found) or not objects.exists(found.target.repository, last):
        return None
    n = len(found.shas) - found.shas.index(last)
    return {"sha": last, "n": n, "changed": _has_changed(found, last)}


def _read(found: Family) -> bool:
    """Whether every file of the current version is viewed, or the reviewer judged it as it is."""
    me, target = reviewer.me().id, found.target
    mine = (one for one in found.shown.review.verdicts if one.author == me)
    if any(one.sha == target.commit.sha and not verdicts.is_changed(target, one) for one in mine):
        return True
    files = found.target.shown_commit.files
    return bool(files) and len(viewed.valid(found.target, found.shown)[0]) == len(files)


def _has_changed(found: Family, old: str) -> bool:
    """Whether the current version's own change differs from that of `old`, parents aside."""
    repository = found.target.repository
    was = diff.change_digest(repository, history.commit(repository, old))
    return was != diff.change_digest(repository, found.target.shown_commit)
