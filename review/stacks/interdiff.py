"""What changed between the commit that a reader knows and the one that now stands for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict

from config.errors import NotFound
from config.jsonio import clean
from review.git import ancestry, objects
from review.git.commits import Changed, Commit, shown_path
from review.git.diffs import diff
from review.git.log import history
from review.git.repository import Repository
from review.stacks import repo as repos
from review.threads import commit_review, viewed
from review.threads.target import Target

Interdiff = TypedDict(
    "Interdiff", {"from": str, "to": str, "text": str, "without_lines": list[str]}
)
Interdiff.__doc__ = (
    "`without_lines`: the files that differ in what no line of the text tells: name, mode, content."
)


def interdiff(
    project: str, repo: str, sha: str, old: str | None = None, path: str | None = None
) -> Interdiff:
    """What changed between `old` and this commit, in the file `path` or in all files.

    `old` is by default the commit that this one stands for or, with `path`, the one on which that
    file was marked as viewed.
    """
    target = repos.target_at(project, repo, sha)
    new = target.commit if path is None else target.shown_commit
    paths = () if path is None else _names(new, path)
    source = _there(target.repository, old or _find_known(target, path))
    if source is None and old is not None:
        raise NotFound(f"No such commit: {clean(old[:64])}")
    if source is None or not objects.exists(target.repository, new.sha):
        gone = "commit this was reviewed on" if source is None else "reviewed commit itself"
        raise NotFound(f"The {gone} is no longer in the repository: nothing to compare with")
    text = diff.interdiff(target.repository, source, new.sha, paths)
    was = history.commit(target.repository, source)
    now = history.commit(target.repository, new.sha)
    return {
        "from": source,
        "to": new.sha,
        "text": clean(text),
        "without_lines": _without_lines(was, now, paths),
    }


def _without_lines(old: Commit, new: Commit, paths: Collection[str]) -> list[str]:
    """The files with a difference that no line of the text shows: binary content, mode or name."""
    was, now = ({file.path: file for file in one.files} for one in (old, new))
    return [
        shown_path(path)
        for path in sorted(was.keys() | now.keys())
        if (not paths or path in paths) and _differ(was.get(path), now.get(path))
    ]


def _differ(old: Changed | None, new: Changed | None) -> bool:
    if old is None or new is None:
        alone = old or new
        return alone is not None and not (alone.additions or alone.deletions)
    return _beside_lines(old) != _beside_lines(new)


def _beside_lines(file: Changed) -> tuple[str | None, ...]:
    contents = (file.old_oid, file.new_oid) if file.additions is None else ()
    return (file.old_path, file.old_mode, file.new_mode, *contents)


def _there(repository: Repository, name: str) -> str | None:
    """The commit of a full or short sha; None if it is gone, even if it was resolved before."""
    known = ancestry.resolve(repository, [name.lower()] if name.isalnum() else [])
    return next((sha for sha in known.values() if objects.exists(repository, sha)), None)


def _names(commit: Commit, path: str) -> list[str]:
    """The paths of a file after and before the commit."""
    for changed in commit.files:
        if path in (changed.path, shown_path(changed.path)):
            return [changed.path, *([changed.old_path] if changed.old_path else [])]
    raise NotFound('"path" is not a file changed by this commit')


def _find_known(target: Target, path: str | None) -> str:
    """The commit that the reader knows. NotFound if there is none."""
    found = commit_review.of(target)
    if path is None:
        if found.matched_from is None:
            raise NotFound(
                "This commit was not carried over from another; name one to compare with"
            )
        return found.matched_from
    known = viewed.seen_on(target, found, shown_path(path))
    if known is None:
        raise NotFound(
            "No commit is known on which this file was viewed; say from which to compare"
        )
    return known
