"""Two versions of a commit, or a whole stack, as a diff like any other.

In each file, what a rebase brought in is distinguished from what the author changed. See
docs/design/review.md#versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

from config.errors import Invalid, NotFound
from config.git.command import GitError
from config.jsonio import clean
from review.git.commits import Changed, Commit, shown_path
from review.git.diffs import between
from review.git.diffs.between import Differences
from review.git.repository import Repository
from review.stacks import repo as repos
from review.stacks.compared import versions
from review.stacks.compared.versions import PARENT, Family, Version
from review.stacks.contents import files as texts
from review.stacks.contents import images
from review.threads import viewed

MOST = 200  # files with texts in one answer


class ComparedFile(texts.Record):
    """`from_base`: the indices of those `edits` that come from the new base, not from the author;
    `base`: whether all of them do."""

    viewed: bool
    changed_since_viewed: bool
    from_base: list[int]
    base: bool


class MessageChange(TypedDict):
    old: str
    new: str


Comparison = TypedDict(
    "Comparison",
    {
        "from": Version | None,
        "to": Version,
        "rebased": bool,
        "message": MessageChange | None,
        "additions": int,
        "deletions": int,
        "truncated": bool,
        "files": list[ComparedFile],
    },
)
Comparison.__doc__ = "`from` is null where it is what `to` was made on."


@dataclass(frozen=True, slots=True)
class Pair:
    """Two commits and their differences. `commit`: the newer one as if the older one were its
    parent; `base`: the differences of their parents, in the same files."""

    repository: Repository
    old: Commit | None
    new: Commit
    commit: Commit
    found: Differences
    base: Differences
    rebased: bool = False

    @property
    def files(self) -> texts.Files:
        edits = {file.path: tuple(edit for edit, _ in told) for file, told in self.found.items()}
        return texts.Files(self.repository, self.commit, edits)

    def file(self, path: str | None) -> Changed:
        """The changed file of that path. NotFound if it is the same in both."""
        if path is None:
            raise Invalid('"path" is required')
        for changed in self.commit.files:
            if path in (changed.path, shown_path(changed.path)):
                return changed
        raise NotFound('"path" is not a file that differs between the two')


def since(
    project: str, repo: str, sha: str, old: str, *, to: str | None = None,
    whole: bool = False, contents: Any = "all",
) -> Comparison:  # fmt: skip
    """What changed from version `old` to the current one, or to the version `to`.

    Covers the files that either version changes; with `whole`, also those only the base changes.
    """
    asked = texts.parse_wanted(contents)
    found = versions.family(repos.target_at(project, repo, sha))
    pair = _pair(found, old, to, whole=whole)
    most = asked if isinstance(asked, int) else len(pair.commit.files) if asked == "all" else 0
    most = min(most, MOST)
    listed = {one["sha"]: one for one in versions.render_all(found)}
    return {
        "from": listed[pair.old.sha] if pair.old and old != PARENT else None,
        "to": listed[pair.new.sha],
        "rebased": pair.rebased,
        "message": None if old == PARENT else _message(pair),
        "additions": sum(file.additions or 0 for file in pair.commit.files),
        "deletions": sum(file.deletions or 0 for file in pair.commit.files),
        "truncated": len(pair.commit.files) > most,
        "files": list(_records(found, pair, most)),
    }


def file(
    project: str, repo: str, sha: str, old: str, path: str | None, *,
    to: str | None = None, whole: bool = False,
) -> ComparedFile:  # fmt: skip
    """One file of such a comparison, with its contents."""
    found = versions.family(repos.target_at(project, repo, sha))
    pair = _pair(found, old, to, whole=whole)
    changed = pair.file(path)
    (record,) = pair.files.whole([changed])
    return _Marks(found, pair)(changed, record)


def image(
    project: str, repo: str, sha: str, old: str, *,
    path: str | None, side: str | None, to: str | None = None,
) -> tuple[bytes, str]:  # fmt: skip
    """An image that differs, from the older or the newer version: its bytes and type."""
    pair = two(project, repo, sha, old, to, whole=True)
    return images.of(pair.repository, pair.commit, path, side)


def two(
    project: str, repo: str, sha: str, old: str, to: str | None = None, *, whole: bool = False
) -> Pair:
    """Two versions of a commit. NotFound if one is no version of it, or is gone."""
    return _pair(versions.family(repos.target_at(project, repo, sha)), old, to, whole=whole)


def pair_of(
    repository: Repository, old: Commit | None, new: Commit, *, whole: bool, based: bool = True
) -> Pair:
    """Compare two commits, in the files that either of them changes; with `whole` or without
    `based`, in all files. With `based`, their parents are compared too. GitError if git cannot
    answer."""
    mine = between.names([*(old.files if old else ()), *new.files])
    paths = None if whole or not based else mine
    there = old.sha if old else None
    found = between.between(repository, there, new.sha, paths)
    as_one = between.as_commit(new, there, found)
    if old is None or not based:
        return Pair(repository, old, new, as_one, found, {})
    base = between.between(repository, old.parent, new.parent, between.names([*found]))
    return Pair(repository, old, new, as_one, found, base, old.parent != new.parent)


def _pair(found: Family, old: str, to: str | None, *, whole: bool) -> Pair:
    new = found.commit(found.find_version(to) if to else found.current)
    repository = found.target.repository
    try:
        if old == PARENT:
            return pair_of(repository, _parent(found, new), new, whole=True, based=False)
        return pair_of(repository, found.commit(found.find_version(old)), new, whole=whole)
    except GitError as error:
        if error.kind == "timeout":
            raise
        raise NotFound(f"The two cannot be compared: {error.text}") from None


def _parent(found: Family, new: Commit) -> Commit | None:
    return found.commit(new.parent) if new.parent else None


def _message(pair: Pair) -> MessageChange | None:
    """Both messages if they differ, else None."""
    told = (f"{one.subject}\n\n{one.body}".strip() if one else "" for one in (pair.old, pair.new))
    old, new = told
    return None if old == new else {"old": clean(old), "new": clean(new)}


def _records(found: Family, pair: Pair, most: int) -> Iterator[ComparedFile]:
    shown, marked = pair.files, _Marks(found, pair)
    listed = pair.commit.files
    if most:
        for changed, record in zip(listed[:most], shown.whole(listed[:most]), strict=True):
            yield marked(changed, record)
    for changed in listed[most:]:
        yield marked(changed, shown.bare(changed))


class _Marks:
    """Adds to each file what git does not know: viewed marks, and what the base brought in."""

    def __init__(self, found: Family, pair: Pair) -> None:
        self.pair = pair
        self.base = {file.path: (file, told) for file, told in pair.base.items()}
        marked: tuple[list[str], list[str]] = ([], [])
        if pair.new.sha == found.current:
            marked = viewed.valid(found.target, found.shown)
        self.viewed, self.stale = map(frozenset, marked)

    def __call__(self, changed: Changed, record: texts.Record) -> ComparedFile:
        told = self.pair.found[changed]
        other, theirs = self.base.get(changed.path, (None, ()))
        from_base = between.equal(told, theirs)
        same = other is not None and _sides(other) == _sides(changed)
        path = record["path"]
        return {
            **record,
            "viewed": path in self.viewed,
            "changed_since_viewed": path in self.stale,
            "from_base": from_base,
            "base": same or (bool(told) and len(from_base) == len(told) and other is not None),
        }


def _sides(file: Changed) -> tuple[str | None, ...]:
    return file.old_oid, file.new_oid, file.old_mode, file.new_mode
