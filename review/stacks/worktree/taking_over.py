"""A commit takes over the threads and viewed marks of the changes that it commits.

The review file of the work tree records at which HEAD it was last settled; the commits made since
then are examined at the next look. What moves is first written to the commit's file and then
removed from this one, so that nothing is lost; the next look finishes an interrupted move. See
docs/design/review.md#threads-on-what-is-not-committed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from config.errors import SvcError
from config.git import shadow
from config.git.command import GitError
from config.storage import files as storage
from review import events, files, projects
from review.git import family, objects, ranges
from review.git.commits import Changed, shown_path
from review.git.diffs import diff
from review.git.log import history
from review.git.repository import Repository
from review.stacks import repo as repos
from review.stacks.values import Item, Repo
from review.stacks.worktree import looks
from review.stacks.worktree.looks import Look
from review.threads import commit_review, document, ids, reading, viewed
from review.threads.carry.traces import Trace
from review.threads.placement import placing
from review.threads.placement.placing import KEPT, Placed
from review.threads.schema import Fingerprint, Mark, ReviewFile, Thread, normal_side
from review.threads.target import Target
from review.threads.writing import limits, renewal, writes
from review.threads.writing.page import Page

log = logging.getLogger(__name__)

MOST = 500  # most commits that are examined
CONTEXT = 3  # lines beside a change that belong to it
UNBORN = ""  # HEAD before the first commit
# reflog entries that mean no new commit: a rebase starts with a checkout and aborts with one
TAKEN_OUT = re.compile(
    r"(?:checkout|reset): |(?:rebase|pull)\b[^:]*(?:\((?:start|abort)\): |: (?:checkout |aborting))"
)


def settled_target(project: str, repo: str) -> Target:
    """What is not committed, as reviews see it, after every commit took over its threads and marks.

    NotFound for the project, the repo or its work tree; GitError if git cannot answer.
    """
    entry = projects.repo(projects.get(project), repo)
    made = _target(project, repo, looks.look(project, repo))
    if not _is_due(made):
        return made
    with storage.lock(f"taking over:{project}/{repo}"):
        found = looks.look(project, repo)
        made = _target(project, repo, found)
        if _is_due(made) and not found.blocked:
            try:
                _Settling(made, repos.load(projects.get(project), entry)).run()
            except (SvcError, GitError) as error:
                log.warning("nothing was taken over", extra={"repo": repo, "why": str(error)})
    return made


def settle(project: str, repo: str) -> None:
    """Settle without returning the target: after a commit, when HEAD moved, at the start. Does
    nothing while HEAD is unchanged."""
    if not files.has_worktree(project, repo):
        return
    try:
        found = repos.look_up_repo(project, repo)
        said = _settled_head(project, repo)
        if found.refs is None or (said and said.sha == found.refs.head):
            return
        settled_target(project, repo)
    except (SvcError, GitError) as error:
        log.info("what is not committed is not seen", extra={"repo": repo, "why": str(error)})


def _target(project: str, repo: str, found: Look) -> Target:
    seen, head = replace(found.commit, files=found.files), found.pointers.head
    return Target(
        slug=project,
        repo=repo,
        repository=found.repository,
        commit=history.commit(found.repository, head) if head else seen,
        shown_commit=seen,
        match=None,
        trace=Trace(files.WORKTREE),
        uncommitted=True,
    )


def _is_due(target: Target) -> bool:
    """Whether HEAD has changed since the file was last settled."""
    if target.commit is target.shown_commit or not files.has_worktree(target.slug, target.repo):
        return False
    said = _settled_head(target.slug, target.repo)
    return said is None or said.sha != target.commit.sha


def _settled_head(project: str, repo: str) -> Fingerprint | None:
    """The HEAD at which the file was last settled."""
    found = files.read(project, "reviews", repo, f"{files.WORKTREE}.yaml")
    return reading.fingerprint(found.data.get("commit"), []) if found else None


@dataclass(frozen=True, slots=True)
class _Version:
    """One state on which the threads are placed: a commit, or the current work tree (no item)."""

    target: Target
    placed: dict[str, Placed]
    item: Item | None = None

    def changes(self, path: str | None) -> Changed | None:
        found = (one for one in self.target.shown_commit.files if path in _names(one))
        return next(found, None)

    def touches(self, where: Placed) -> bool:
        """Whether it changes the thread's file or, for a thread on no file, anything."""
        if where.path is None:
            return bool(self.target.shown_commit.files)
        return self.changes(where.path) is not None

    def distance(self, where: Placed) -> int | None:
        """The number of lines from the thread's lines to the nearest change; None if the thread has
        no certain lines, or if the change is too far away to belong to it."""
        file = self.changes(where.path) if where.placement in KEPT else None
        if file is None or where.line is None or file.is_submodule:
            return None
        old = normal_side(where.side) == "LEFT"
        edits = diff.edits(self.target.repository, file.old_oid, file.new_oid)
        spans = [edit[:2] if old else edit[2:] for edit in edits]
        same = normal_side(where.start_side or where.side) == normal_side(where.side)
        first = where.start_line if where.start_line and same else where.line
        away = min((_away(first, where.line, *span) for span in spans), default=MOST)
        return away if away <= CONTEXT else None


class _Settling:
    """One pass over what was committed since the last one."""

    def __init__(self, target: Target, repo: Repo) -> None:
        found = commit_review.of(target)
        files.check_whole(f"{target.stem}.yaml", found.parse_error, found.review.version)
        self.target, self.repo, self.review = target, repo, found.review
        threads = self.review.conversations
        self.now = _version(target, threads)
        self.since = [
            _version(replace(repos.target(repo, item), repository=target.repository), threads, item)
            for item in _committed_since(target, self.review, repo)
        ]

    def run(self) -> None:
        taken = {thread.id: self._taker(thread) for thread in self.review.conversations}
        threads: dict[str, Thread] = {}
        marks: set[str] = set()
        whole = True
        for version in self.since:
            mine = [one for one in self.review.conversations if taken[one.id] is version]
            viewed_there = _viewed_in(version, self.review.viewed, but=marks)
            if not mine and not viewed_there:
                continue
            try:
                self._deliver(version, mine, viewed_there)
            except SvcError as error:  # a file that cannot be written: the next look retries
                log.warning("a commit took nothing over", extra={"why": str(error)})
                whole = False
                continue
            threads |= {one.id: one for one in mine}
            marks |= {one.path for one in viewed_there}
        writes.write(self.target, _Leaving(self.target, threads, marks | self._stale(), whole))
        events.review(self.target.slug, self.target.repo, self.target.stem)

    def _taker(self, thread: Thread) -> _Version | None:
        """The state whose changes are nearest to the thread's lines: a commit, or None for the work
        tree. If they are near no change, the last commit of its file, once that file has no
        uncommitted changes."""
        where = [(one, one.placed[thread.id]) for one in (self.now, *self.since)]
        near = [
            (away, n) for n, (one, at) in enumerate(where) if (away := one.distance(at)) is not None
        ]
        if near:
            found = where[min(near)[1]][0]
            return None if found is self.now else found
        if self.now.touches(where[0][1]):
            return None
        touching = [(one, at) for one, at in where[1:] if one.touches(at)]
        kept = [one for one, at in touching if at.placement in KEPT]
        return next(reversed(kept or [one for one, _ in touching]), None)

    def _deliver(self, version: _Version, threads: list[Thread], marks: list[Mark]) -> None:
        assert version.item is not None
        moved = [_follow(version, thread) for thread in threads]
        target = repos.target(self.repo, version.item)
        if writes.write(target, _Arriving(target, moved, marks)):
            events.review(target.slug, target.repo, target.stem)

    def _stale(self) -> set[str]:
        """The paths of marks whose files were committed, but not as they were when viewed."""
        return {
            mark.path
            for mark in self.review.viewed
            if self.now.changes(mark.path) is None
            and any(one.changes(mark.path) for one in self.since)
        }


class _Arriving:
    """Adds what a commit takes over to its file; it may be called repeatedly."""

    def __init__(self, target: Target, threads: list[Thread], marks: list[Mark]) -> None:
        self.target, self.threads, self.marks = target, threads, marks

    def __call__(self, page: Page) -> bool:
        changed = viewed.take(self.target, page, self.marks)
        known = {one.id: one for one in page.review.threads}
        count = len(known)
        for thread in self.threads:
            there = known.get(thread.id)
            if there is None or not _is_same(there, thread):
                limits.room_for_a_thread(count)
                count += 1
                name = thread.id if there is None else ids.mint("t", page.names)
                page.add(replace(thread, id=name))
                changed = True
                continue
            said = {one.id for one in there.comments}
            for comment in thread.comments:
                if comment.id not in said:
                    page.reply(there, comment)
                    changed = True
        return changed


class _Leaving:
    """Removes what commits have taken over, and records up to which HEAD. A thread that was changed
    meanwhile stays until the next look."""

    def __init__(
        self, target: Target, threads: dict[str, Thread], marks: Collection[str], whole: bool
    ) -> None:
        self.target, self.threads, self.marks, self.whole = target, threads, marks, whole

    def __call__(self, page: Page) -> bool:
        there = [one for one in page.review.threads if one.id in self.threads]
        gone = [one for one in there if _says(one) == _says(self.threads[one.id])]
        for thread in reversed(gone):
            page.remove(thread)
        if held := [one.path for one in page.review.viewed if one.path in self.marks]:
            left = viewed.marks_of(self.target, page)
            page.set("viewed", {path: mark for path, mark in left.items() if path not in held})
        if self.whole and len(gone) == len(there):
            page.set("commit", document.fingerprint(self.target))
        return True


def _version(target: Target, threads: Sequence[Thread], item: Item | None = None) -> _Version:
    placed = placing.place(target, threads)
    by_id = {one.id: where for one, where in zip(threads, placed, strict=True)}
    return _Version(target, by_id, item)


def _committed_since(target: Target, said: ReviewFile, repo: Repo) -> list[Item]:
    """The commits under review that HEAD has gained since, oldest first. An amended one is new."""
    before = _head_of(said.commit) if said.commit else None
    if before is None or (before and not objects.exists(target.repository, before)):
        return []
    shas: dict[str, None] = {}
    for start, end in _ways(repo.repository or target.repository, before, target.commit.sha):
        out = [sha for sha in (start, before) if sha]
        if all(objects.exists(target.repository, sha) for sha in (*out, end)):
            shas |= dict.fromkeys(_list_commits(target.repository, end, out))
    return [repo.by_sha[sha] for sha in list(shas)[-MOST:] if sha in repo.by_sha]


def _head_of(said: Fingerprint) -> str | None:
    """The commit at HEAD that a file names. Before the first commit it names a look, because that
    is all there is."""
    is_look = said.author == shadow.EMAIL and (said.subject or "").startswith(files.WORKTREE)
    return UNBORN if is_look else said.sha


def _ways(repository: Repository, before: str, now: str) -> list[tuple[str, str]]:
    """The spans (start, end) over which HEAD moved by commits since it was at `before`, without
    moves to existing commits, as by a checkout. If no reflog tells, the span from `before` to a
    descendant.
    """
    moves = family.head_moves(repository)
    if before:
        since = (n + 1 for n, move in enumerate(moves) if move.after == before)
    else:
        since = (n for n, move in enumerate(moves) if _is_root(move))
    at = max(since, default=None)
    if at is None or moves[-1].after != now:
        follows = not before or ranges.merge_base(repository, before, now) == before
        return [(before, now)] if follows else []
    found: list[tuple[str, str]] = []
    for commits, steps in groupby(moves[at:], lambda move: not TAKEN_OUT.match(move.why)):
        first, *more = steps
        if commits:
            start = before if _is_root(first) else first.before
            found.append((start, (more or [first])[-1].after))
    return found


def _is_root(move: family.Move) -> bool:
    """Whether it made the first commit of a branch without history."""
    return not move.before.strip("0")


def _list_commits(repository: Repository, end: str, out: Sequence[str]) -> list[str]:
    """The commits up to `end`, oldest first, except those reachable from `out`."""
    less = (f"^{sha}" for sha in out)
    asked = ("rev-list", "--first-parent", f"--max-count={MOST}", end, *less)
    return repository.run(*asked).decode().split()[::-1]


def _follow(version: _Version, thread: Thread) -> Thread:
    """The thread as the commit's file gets it: anchored to the commit's lines, if it is on them."""
    where = version.placed[thread.id]
    if where.placement not in KEPT or thread.path is None:
        return thread
    return renewal.with_new_anchor(version.target, thread, where)


def _viewed_in(version: _Version, marks: Iterable[Mark], *, but: Collection[str]) -> list[Mark]:
    """The marks of files that the commit changes exactly as they were when they were marked."""
    made = [mark for mark in marks if mark.path not in but and version.changes(mark.path)]
    if not made:
        return []
    digests = viewed.digests(version.target, version.target.shown_commit)
    return [mark for mark in made if mark.diff and digests.get(mark.path) == mark.diff]


def _names(file: Changed) -> set[str]:
    return {shown_path(path) for path in (file.path, file.old_path) if path}


def _away(first: int, last: int, start: int, count: int) -> int:
    """The number of lines between a range and a change; without `count`, that is after `start`."""
    begin, end = (start, start + count - 1) if count else (start + 1, start)
    return max(0, begin - last, first - end)


def _is_same(one: Thread, other: Thread) -> bool:
    """Whether two threads share a comment: an id written by hand may be in use in several files."""
    return bool({said.id for said in one.comments} & {said.id for said in other.comments})


def _says(thread: Thread) -> object:
    comments = [(one.id, one.body, one.updated_at) for one in thread.comments]
    return comments, thread.resolved, thread.asked, thread.proposed
