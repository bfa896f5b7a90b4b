"""One repo of a project as it is now: range, stacks, matches, landings.

Everything depends on one stamp made of stats: while it is unchanged, nothing is read again.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

from config.errors import Invalid, NotFound, printable
from config.git.command import GitError
from review import caches, files, projects
from review.git import ancestry, ranges, refs
from review.git.commits import Commit
from review.git.log import history
from review.git.repository import Repository
from review.projects import Project, RepoEntry
from review.stacks import agents, items, unread
from review.stacks.values import Failure, Item, Repo
from review.threads.target import Target

Key = tuple[str, str]
HEX = re.compile("[0-9a-f]{4,64}")
PASSING = ("timeout", "failed", "unreadable")  # failures that may be over at the next try
REST = 10  # a list does not retry for so many times as long as the failure took

_repos: caches.Memory[Key, Repo] = caches.Memory(256)
_locks: WeakValueDictionary[Key, threading.Lock] = WeakValueDictionary()
_making = threading.Lock()


def load(project: Project, entry: RepoEntry, *, counts: bool = False) -> Repo:
    """The repo as it is now. A repo that cannot be read is returned with its errors.

    Without `counts` the commits may lack their line counts, which spares a diff of every file.
    A caller that waited while another one read the repo takes that result, even a failure.
    """
    asked = time.monotonic()
    opened, mark = _open(project, entry)
    key = _key(project, entry)
    with _lock(key):
        known = _repos.get(key)
        if known is not None and (
            (known.stamp == mark and (known.counted or not counts))
            or (known.failed and known.failed.at > asked)
        ):
            return _of(project, known)
        return _repos.put(key, _assemble(project, entry, opened, mark, counts))


def load_for_list(project: Project, entry: RepoEntry) -> Repo:
    """Like `load`, for a list, which waits for each repo: one that failed slowly is not tried again
    for a while, unless it changed. `load` tries again at any time, and lists use its result."""
    known = _repos.get(_key(project, entry))
    failed = known.failed if known else None
    rests = failed and time.monotonic() - failed.at < REST * failed.took
    if known and failed and rests and failed.stamp == _open(project, entry)[1]:
        return _of(project, known)
    return load(project, entry)


def _lock(key: Key) -> threading.Lock:
    """The lock of this repo alone: a repo whose git hangs does not block others."""
    with _making:
        return _locks.setdefault(key, threading.Lock())


def _of(project: Project, known: Repo) -> Repo:
    return known if known.project is project else replace(known, project=project)


def get_cached(project: Project, entry: RepoEntry) -> Repo | None:
    """The repo as this process last read it, however long ago; None when it never did."""
    return _repos.get(_key(project, entry))


def stamp(project: Project, entry: RepoEntry) -> str:
    """A value that changes with anything that the repo is made from; made from stats only.

    No two are equal while the repo shows a failure that may be over.
    """
    known = _repos.get(_key(project, entry))
    if known is not None and not known.stamp:
        return f"{time.perf_counter_ns()}"
    return _open(project, entry)[1]


def look_up_repo(project: str, repo: str) -> Repo:
    """One repo as it is now. NotFound for an unknown project or repo."""
    listed = projects.get(project)
    return load(listed, projects.repo(listed, repo))


def look_up(project: str, repo: str, sha: str) -> tuple[Repo, Item]:
    """One commit of one repo as both are now. NotFound for an unknown project, repo or commit,
    Invalid for a sha that names several commits."""
    found = look_up_repo(project, repo)
    return found, find(found, sha)


def target_at(project: str, repo: str, sha: str) -> Target:
    """One commit as reviews see it; raises like `look_up`."""
    return target(*look_up(project, repo, sha))


def find(repo: Repo, sha: str) -> Item:
    """The listed commit that a full or short sha names. Invalid if it names several, NotFound if it
    names none.
    """
    if sha == files.WORKTREE:
        raise NotFound(
            "This is not to be had for what is not committed; commit it first",
            code="not_committed",
        )
    if repo.errors:
        raise _unread(repo, sha)
    wanted = sha.lower()
    if (item := repo.by_sha.get(wanted)) is not None:
        return item
    hits = [item for item in repo.items if item.commit.sha.startswith(wanted)]
    if not HEX.fullmatch(wanted) or not hits:
        raise NotFound(
            f"Commit {printable(sha, 7)} is not in the range of repo {repo.entry.name}; it may "
            "have been rebased away. Look it up again in the project detail.",
            code="not_in_range",
            extra=_heir(repo, wanted),
        )
    if len(hits) > 1:
        raise Invalid(
            f'Short sha "{wanted}" is ambiguous: matches {len(hits)} commits', code="ambiguous_sha"
        )
    return hits[0]


def _unread(repo: Repo, sha: str) -> NotFound:
    """The error that says why no commit of the repo is shown."""
    cure = " Put it back, or give its new path on the page of the project." if repo.missing else ""
    text = f"Commit {printable(sha, 7)} of repo {repo.entry.name} cannot be shown: {repo.errors[0]}"
    return NotFound(text.rstrip(".") + "." + cure, code="unreadable")


def _heir(repo: Repo, wanted: str) -> dict[str, str]:
    """`moved_to`: the listed commit that stands for a gone one, if there is just one."""
    gone = {
        sha: item.commit.sha
        for item in repo.items
        for sha in (*(item.match.shas if item.match else ()), *_carried_shas(item))
    }
    found = {new for old, new in gone.items() if HEX.fullmatch(wanted) and old.startswith(wanted)}
    return {"moved_to": found.pop()} if len(found) == 1 else {}


def _carried_shas(item: Item) -> tuple[str, ...]:
    """The gone commits whose reviews the commit's own file has taken over."""
    carried = item.trace.carried
    return (carried.sha, *carried.also) if carried else ()


def reviewed_shas(repo: Repo) -> frozenset[str]:
    """The shas of the commits that may have a review. Most commits of a long range have none, and
    looking for each one's file would read the folder every time."""
    names = frozenset(files.names(repo.project.slug, "reviews", repo.entry.name))
    longest = max(map(len, repo.by_sha), default=0)
    short = tuple(name for name in names if len(name) < longest)
    return frozenset(
        sha
        for sha, item in repo.by_sha.items()
        if sha in names or sha.startswith(short) or item.match or item.shares.parts
    )


def target(repo: Repo, item: Item) -> Target:
    """The commit as reviews see it."""
    assert repo.repository is not None, "a repo with items was opened"
    return Target(
        slug=repo.project.slug,
        repo=repo.entry.name,
        repository=repo.repository,
        commit=item.commit,
        shown_commit=item.shown_commit,
        match=item.match,
        trace=item.trace,
        shares=item.shares,
    )


def _key(project: Project, entry: RepoEntry) -> Key:
    return project.slug, f"{entry.name} {entry.index}" if entry.errors else entry.name


def _open(project: Project, entry: RepoEntry) -> tuple[Repository | GitError, str]:
    """The repository, or why there is none, and the stamp of the repo."""
    parts = [repr(entry), files.stamp(project.slug, entry.name)]
    try:
        if entry.errors:
            raise GitError("failed", entry.errors[0])
        found = projects.open_at(entry.path)
        parts += [repr(found), refs.stamp(found)]
    except GitError as error:
        return error, _hash([*parts, error.text])
    return found, _hash(parts)


def _assemble(
    project: Project,
    entry: RepoEntry,
    opened: Repository | GitError,
    mark: str,
    counts: bool,
) -> Repo:
    empty, begun = Repo(project, entry, mark, counted=counts), time.monotonic()
    if entry.errors:
        return replace(empty, errors=entry.errors)
    if isinstance(opened, GitError):
        return _unreadable(empty, opened)
    try:
        try:
            return _fill(empty, opened)
        except GitError as error:
            if error.kind != "failed":
                raise
            ancestry.forget()  # a commit that was here may have been pruned since
            return _fill(empty, opened)
    except GitError as error:
        found = _unreadable(replace(empty, repository=opened), error)
        if error.kind not in PASSING:
            return found
        now = time.monotonic()  # an empty stamp matches none, so the next load tries again
        return replace(found, stamp="", failed=Failure(mark, now, now - begun))


def _unreadable(empty: Repo, error: GitError) -> Repo:
    """The repo with the reason why it cannot be read, and with what its files say."""
    cure = "; a shorter range, such as HEAD~50..HEAD, is faster" if error.kind == "timeout" else ""
    text = f"{error.text}{cure}"
    kept = unread.orphans(empty.project.slug, empty.entry.name, text)
    return replace(empty, errors=(text,), orphans=kept)


def _fill(empty: Repo, opened: Repository) -> Repo:
    pointers, said = refs.read(opened), []
    if (work := pointers.underway) and ranges.of_head(empty.entry.range):
        pointers = pointers.settled
        said = [
            f"A {work.kind} of {ranges.name_text(work.branch)} is in progress; "
            "the branch is shown as it was before"
        ]
    span = ranges.resolve(opened, pointers, empty.entry.range, empty.entry.trunk)
    reading = partial(files.read_all, empty.project.slug, "reviews", empty.entry.name)
    commits, warnings = history.commits(opened, span, counts=empty.counted, meanwhile=reading)
    base = replace(
        empty,
        repository=opened,
        refs=pointers,
        range=span,
        warnings=(*empty.entry.warnings, *said, *warnings),
    )
    beside: dict[str, list[Commit]] = {}
    if _is_first(empty):
        beside = agents.read(opened, pointers, span, commits, counts=empty.counted)
    more = [one for listed in beside.values() for one in listed]
    branches = {one.sha: name for name, listed in beside.items() for one in listed}
    return items.fill(base, [*commits, *more], branches)


def _is_first(empty: Repo) -> bool:
    """Whether it is the first entry of its repository, since branches of chats are shown once."""
    alike = [one.name for one in empty.project.repos if one.path == empty.entry.path]
    return alike[:1] == [empty.entry.name]


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()
