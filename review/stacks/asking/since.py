"""What changed in the lines of a thread since an agent was asked about them.

The change is looked for where an answer can be: in the thread's own commit, in the commits above it
(a fixup that is not folded yet), in the work tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypedDict

from config.errors import NotFound
from config.git.command import GitError
from config.jsonio import clean
from review import files
from review.git import objects
from review.git.diffs import diff
from review.git.diffs.diff import Edit
from review.git.repository import Repository
from review.stacks import repo as repos
from review.stacks.worktree import looks, reviewed
from review.threads import commit_review
from review.threads.asked import Asked
from review.threads.placement.shift import Shift
from review.threads.target import Target

NEAR, CONTEXT, MOST = 10, 3, 400  # lines: around the thread's, of context, in one answer

Where = Literal["commit", "stack", "worktree"]
Since = TypedDict(
    "Since",
    {
        "from": str,
        "to": str | None,
        "where": Where | None,
        "path": str | None,
        "text": str,
        "truncated": bool,
    },
)


@dataclass(frozen=True, slots=True)
class _Version:
    """One state of the repository in which the thread's file is read."""

    repository: Repository
    sha: str

    def blob(self, path: str) -> str | None:
        found = objects.entry(self.repository, self.sha, path)
        return found.oid if found is not None and found.kind == "blob" else None


def since(project: str, repo: str, sha: str, thread: str) -> Since:
    """The hunks near the thread's lines, or all hunks of its file if it is on no line.

    If nothing changed, `where` is null and `text` is "". NotFound if no agent was asked, or if the
    commit that it was asked about is gone.
    """
    target = reviewed.having(project, repo, sha, thread)
    asked = commit_review.of(target).review.thread(thread).asked
    if asked is None or asked.sha is None:
        raise NotFound("No agent was asked about this thread")
    there = _holding(target, asked.sha)
    answer: Since = {
        "from": asked.sha, "to": None, "where": None, "path": asked.path, "text": "",
        "truncated": False,
    }  # fmt: skip
    if asked.path is None:
        return answer
    span = repos.look_up_repo(project, repo).range
    head = span.head_sha if span else None
    for where, old, new in _steps(there, target, asked, head):
        lines = _diff_lines(where, asked, old, new)
        if lines:
            shown, cut = "\n".join(lines[:MOST]), len(lines) > MOST
            to = files.WORKTREE if where == "worktree" else new.sha
            answer |= {"to": to, "where": where, "text": clean(shown), "truncated": cut}
            return answer
    return answer


def _holding(target: Target, sha: str) -> Repository:
    """The repository with the state asked about; for uncommitted changes, that of the looks."""
    if objects.exists(target.repository, sha):
        return target.repository
    with suppress(NotFound, GitError):
        there = looks.look_at(target.repository.path).repository
        if objects.exists(there, sha):
            return there
    raise NotFound("The commit that was asked about is no longer in the repository")


def _steps(
    repository: Repository, target: Target, asked: Asked, head: str | None
) -> Iterator[tuple[Where, _Version, _Version]]:
    """Yield the pairs of states to compare, each made only if the one before showed no change."""
    first, now = _Version(repository, asked.sha or ""), target.shown_commit.sha
    yield "worktree" if target.uncommitted else "commit", first, _Version(repository, now)
    if target.uncommitted:
        return
    if head and asked.tip and objects.exists(repository, asked.tip):
        yield "stack", _Version(repository, asked.tip), _Version(repository, head)
    try:
        look = looks.look_at(repository.path)
    except (NotFound, GitError):
        return
    if look.pointers.head:
        mine = look.repository
        yield "worktree", _Version(mine, look.pointers.head), _Version(mine, look.commit.sha)


def _diff_lines(where: Where, asked: Asked, old: _Version, new: _Version) -> list[str]:
    """The hunks of the file as lines of a unified diff."""
    path = asked.path or ""
    there = new.repository
    after = path if new.blob(path) else diff.renames(there, old.sha, new.sha).get(path, path)
    before_oid, after_oid = old.blob(path), new.blob(after)
    if before_oid == after_oid:
        return []
    try:
        edits = diff.edits(there, before_oid, after_oid)
        line = _line(where, asked, there, before_oid)
    except GitError:
        return []
    near = [edit for edit in edits if line is None or _is_near(edit, line)]
    return _hunk_lines(_lines(there, before_oid), _lines(there, after_oid), near)


def _line(where: Where, asked: Asked, there: Repository, before_oid: str | None) -> int | None:
    """The thread's line in the older text; in states above its commit, the line may have moved."""
    if where == "commit" or asked.line is None or asked.sha is None:
        return asked.line
    first = _Version(there, asked.sha).blob(asked.path or "")
    return Shift(diff.edits(there, first, before_oid)).nearest(asked.line) if first else None


def _is_near(edit: Edit, line: int) -> bool:
    start, count = edit[0], edit[1]
    return start - NEAR <= line <= start + count + NEAR


def _lines(there: Repository, oid: str | None) -> list[str]:
    data = objects.blob(there, oid) if oid else None
    if not data or objects.is_binary(data):
        return []
    return objects.text(data)[0].removesuffix("\n").split("\n")


def _hunk_lines(old: Sequence[str], new: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """Hunks with three lines of context; edits close to each other share a hunk."""
    groups: list[list[Edit]] = []
    for edit in edits:
        last = groups[-1][-1] if groups else None
        if last and edit[0] - (last[0] + last[1]) <= 2 * CONTEXT:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return [line for group in groups for line in _hunk(old, new, group)]


def _hunk(old: Sequence[str], new: Sequence[str], group: Sequence[Edit]) -> Iterator[str]:
    """The lines of a hunk. `group` is in -U0 form: an edit without old lines follows its line."""
    spans = [
        (start - bool(count), count, at - bool(many), many) for start, count, at, many in group
    ]
    begin = max(0, spans[0][0] - CONTEXT)
    end = min(len(old), spans[-1][0] + spans[-1][1] + CONTEXT)
    shift = sum(many - count for _, count, _, many in spans)
    first = spans[0][2] - (spans[0][0] - begin)
    yield f"@@ -{begin + 1},{end - begin} +{first + 1},{end - begin + shift} @@"
    at = begin
    for start, count, there, many in spans:
        yield from (f" {line}" for line in old[at:start])
        yield from (f"-{line}" for line in old[start : start + count])
        yield from (f"+{line}" for line in new[there : there + many])
        at = start + count
    yield from (f" {line}" for line in old[at:end])
