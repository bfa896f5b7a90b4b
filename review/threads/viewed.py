"""Which files of a commit are marked as viewed, and which marks no longer hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from config.errors import Invalid, printable
from config.git.command import GitError
from review.files import times
from review.git.commits import Commit, shown_path
from review.git.diffs import diff
from review.git.log import history
from review.threads import document
from review.threads.commit_review import CommitReview, past
from review.threads.document import Tree
from review.threads.schema import Mark
from review.threads.target import Target
from review.threads.writing import writes
from review.threads.writing.page import Page


def valid(target: Target, shown: CommitReview) -> tuple[list[str], list[str]]:
    """The paths marked as viewed, and those whose diff has changed since; in the commit's order.

    A file that was renamed since has changed; its mark is found under its former name.
    """
    if not shown.review.viewed:
        return [], []
    marks = _by_path(target, shown)
    now = digests(target, target.shown_commit, marks)
    holds = {path: _digest(target, marks[path]) == digest for path, digest in now.items()}
    return [path for path in now if holds[path]], [path for path in now if not holds[path]]


def seen_on(target: Target, shown: CommitReview, path: str) -> str | None:
    """The commit whose change of `path` was marked as viewed; None if there is no mark or the
    commit is gone."""
    mark = _by_path(target, shown).get(path)
    digest = _digest(target, mark) if mark else None
    if digest is None:
        return None
    for sha in past(target, shown):
        try:
            commit = history.commit(target.repository, sha)
            if mark and digests(target, commit, [mark.path]).get(mark.path) == digest:
                return commit.sha
        except GitError:
            continue
    return None


def set_viewed(target: Target, path: Any, viewed: Any) -> bool:
    """Mark a file of the commit, or remove its mark; False if it was so already."""
    if path is None:
        raise Invalid('"path" is required')
    return _set(target, [path], viewed, '"path" is not a file changed by this commit')


def set_all_viewed(target: Target, paths: Any, viewed: Any) -> bool:
    """As `set_viewed`, for several files in one write: all of them or none."""
    if not isinstance(paths, list) or not paths:
        raise Invalid('"paths" must be a list of the files to mark')
    return _set(target, paths, viewed, '"paths" names {name}, no file changed by this commit')


def _set(target: Target, paths: list[Any], viewed: Any, unknown: str) -> bool:
    files = {shown_path(file.path) for file in target.shown_commit.files}
    for path in paths:
        if not isinstance(path, str) or path not in files:
            raise Invalid(unknown.format(name=printable(str(path), 200)))
    if not isinstance(viewed, bool):
        raise Invalid('"viewed" must be true or false')
    found, at = digests(target, target.shown_commit, paths), times.now_exact()

    def operation(page: Page) -> bool:
        held = {one.path: one for one in page.review.viewed}
        if viewed:
            others = [path for path in paths if not _holds(target, held.get(path), found[path])]
        else:
            others = [path for path in paths if path in held]
        if not others:
            return False
        kept = marks_of(target, page)
        for path in others:
            mark = document.mark(Mark(path, found[path], at)) if viewed else None
            document.put(kept, path, mark)
        page.set("viewed", kept)
        return True

    return writes.write(target, operation)


def _holds(target: Target, mark: Mark | None, digest: str) -> bool:
    return mark is not None and _digest(target, mark) == digest


def take(target: Target, page: Page, new: Sequence[Mark]) -> bool:
    """Add marks of further files of the commit; existing marks stay."""
    known = {one.path for one in page.review.viewed}
    added = {one.path: document.mark(one) for one in new if one.path not in known}
    if added:
        page.set("viewed", marks_of(target, page) | added)
    return bool(added)


def _by_path(target: Target, shown: CommitReview) -> dict[str, Mark]:
    """The mark of each file by its current name; a renamed file has that of its former name."""
    marks = {mark.path: mark for mark in shown.review.viewed}
    files = target.shown_commit.files
    names = {shown_path(file.path) for file in files}
    for file in files:
        path, old = shown_path(file.path), shown_path(file.old_path or "")
        if path not in marks and old in marks and old not in names:
            marks[path] = marks[old]
    return marks


def marks_of(target: Target, page: Page) -> Tree:
    """The mapping of marks in the file; a list of paths is converted to one."""
    found = page.tree.get("viewed")
    if isinstance(found, Mapping):
        return dict(found)
    return {
        mark.path: document.mark(Mark(mark.path, _digest(target, mark), mark.at))
        for mark in page.review.viewed
    }


def _digest(target: Target, mark: Mark) -> str | None:
    """The hash of the diff that was viewed; None if it can no longer be found out."""
    if mark.diff is not None or mark.of is None:
        return mark.diff
    for commit in (target.shown_commit, target.commit):
        if commit.sha == mark.of:
            return digests(target, commit).get(mark.path)
    try:
        commit = history.commit(target.repository, mark.of)
        return digests(target, commit).get(mark.path)
    except GitError:
        return None


def digests(target: Target, commit: Commit, paths: Collection[str] | None = None) -> dict[str, str]:
    """The hash of the diff of each file, or of these files, by the path that answers show."""
    if paths is not None:
        shown = frozenset(paths)
        paths = {file.path for file in commit.files if shown_path(file.path) in shown}
    found = diff.hunk_digests(target.repository, commit, paths)
    return {shown_path(path): digest for path, digest in found.items()}
