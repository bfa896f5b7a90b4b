"""What is shown of a project and of a commit: all of it, one file, progress, PR record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NotRequired, TypedDict, TypeVar

from config.errors import Invalid, NotFound
from config.jsonio import dumps
from review import caches, markdown, projects, reviewer
from review.git import commits
from review.git.commits import shown_path
from review.git.log import history
from review.stacks import repo, wire
from review.stacks.contents import files as texts
from review.stacks.contents import images
from review.stacks.listing import counts
from review.stacks.prs import pr_files
from review.stacks.values import Item, Repo
from review.threads import commit_review, records, verdicts, viewed
from review.threads.target import Target

COUNTED = 200  # most files of a commit whose lines are counted for a first answer
AT_ONCE = 4 << 20  # most characters of text in an answer that is made in one piece
KEPT = 1 << 20  # most characters of text in an answer that is cached
PIECE = 256 << 10  # bytes of one piece of a streamed answer


class Project(TypedDict):
    slug: str
    title: str
    description: str | None
    description_html: NotRequired[str]
    archived: bool
    example: bool
    file: str
    parse_error: str | None
    repos: list[wire.Repo]


class File(texts.Record):
    viewed: bool
    changed_since_viewed: bool


class Pr(pr_files.Record):
    proposed: pr_files.ProposedRecord | None
    verdicts: list[verdicts.Given]


class Head(wire.CommitHead):
    additions: int | None
    deletions: int | None
    stack: wire.CommitStack
    prev: wire.Neighbour | None
    next: wire.Neighbour | None


class Tail(TypedDict):
    truncated: bool
    pr: Pr
    review: records.Review


class Commit(Head, Tail):
    files: list[File]


Rendered = TypeVar("Rendered", Project, wire.Stack)

_projects: caches.Memory[str, tuple[str, Project]] = caches.Memory(128)
_small: caches.Memory[tuple[object, ...], list[texts.Record]] = caches.Memory(16)


@dataclass(frozen=True, slots=True)
class CommitPosition:
    """One commit among all commits of its project, in reading order."""

    project: projects.Project
    repo: Repo
    item: Item

    @property
    def target(self) -> Target:
        return repo.target(self.repo, self.item)

    @property
    def counts(self) -> wire.Counts:
        return counts(self.repo, [self.item])[0]

    @property
    def neighbours(self) -> tuple[wire.Neighbour | None, wire.Neighbour | None]:
        """The commits before and after this one: repo by repo, stack by stack, bottom to top.
        Another repo is read only at the ends of this one."""
        path, entries = list(reading_order(self.repo)), self.project.repos
        at, here = path.index(self.item.commit.sha), self.repo.entry.index
        below = (one for one in reversed(entries) if one.index < here)
        above = (one for one in entries if one.index > here)
        before = _neighbour(self.repo, path[at - 1]) if at else self._nearest(below, -1)
        if at + 1 < len(path):
            return before, _neighbour(self.repo, path[at + 1])
        return before, self._nearest(above, 0)

    def _nearest(self, entries: Iterable[projects.RepoEntry], end: int) -> wire.Neighbour | None:
        """The commit at that end (0 or -1) of the first of these repos that has commits."""
        loaded = (repo.load(self.project, entry) for entry in entries)
        ends = (_neighbour(one, path[end]) for one in loaded if (path := [*reading_order(one)]))
        return next(ends, None)


def reading_order(found: Repo) -> Iterator[str]:
    return chain.from_iterable(stack.commits for stack in found.stacks)


def project(project: str) -> Project:
    """The project detail, cached until something changes."""
    found = projects.get(project)
    mark = _mark(found)
    known = _projects.get(project)
    if known is not None and known[0] == mark:
        return known[1]
    loaded = [repo.load(found, entry, counts=True) for entry in found.repos]
    made: Project = {
        "slug": found.slug,
        "title": found.title,
        "description": found.description,
        "archived": found.archived,
        "example": bool(found.example),
        "file": str(found.file),
        "parse_error": found.parse_error,
        "repos": [_repo(one) for one in loaded],
    }
    _projects.put(project, (mark, made))
    return made


def repo_of(slug: str, name: str) -> wire.Repo:
    """One repo as in the project detail."""
    return next(one for one in project(slug)["repos"] if one["name"] == name)


def with_html(found: Project, mount: str) -> Project:
    """The project with `description_html` for itself and each stack, safe on pages of `mount`."""
    repos = [
        one | {"stacks": [_add_html(stack, mount) for stack in one["stacks"]]}
        for one in found["repos"]
    ]
    return {**_add_html(found, mount), "repos": repos}


def _add_html(record: Rendered, mount: str) -> Rendered:
    return record | {"description_html": markdown.html(record["description"], mount=mount)}


def commit(
    project: str, repo: str, sha: str, *, contents: Any = "all", rendered: int = 0, mount: str = ""
) -> Commit | Iterator[bytes]:
    """The commit detail; a large one as pieces of its JSON, so that it is never whole in memory.

    `contents`: which files have texts, edits and counts: all, none, or how many; Invalid otherwise.
    `rendered`: in how many threads, from the top, comments have `body_html` for pages of `mount`.
    """
    place = _place(project, repo, sha)
    files = _Listed(place, texts.parse_wanted(contents))
    tail: Tail = {
        "truncated": files.truncated,
        "pr": _pr(place),
        "review": records.review(place.target, rendered=rendered, mount=mount),
    }
    return files.answer(_header(place, files.commit), tail)


def file(project: str, repo: str, sha: str, path: str | None) -> File:
    """One file of the commit, whole. NotFound when the commit does not change it."""
    place = _place(project, repo, sha)
    if path is None:
        raise Invalid('"path" is required')
    listed = _Listed(place, "all")
    for changed in listed.commit.files:
        if path in (changed.path, shown_path(changed.path)):
            (found,) = texts.Files(listed.target.repository, listed.commit).whole([changed])
            return listed.with_marks(found)
    raise NotFound('"path" is not a file changed by this commit')


def image(
    project: str, repo: str, sha: str, path: str | None, side: str | None
) -> tuple[bytes, str]:
    """An image that the commit changes, as it was (LEFT) or is (RIGHT): its bytes and type.

    NotFound when the commit does not change it, or the side holds no image of at most 5 MB.
    """
    target = _place(project, repo, sha).target
    return images.of(target.repository, target.shown_commit, path, side)


def progress(target: Target) -> wire.Progress:
    return wire.progress(target.shown_commit, records.counts(target))


def pr(project: str, repo: str, sha: str) -> Pr:
    """The PR record of a commit."""
    return _pr(_place(project, repo, sha))


def etag(slug: str, *parts: str) -> str:
    """The etag of everything that an answer below this project shows; `parts` name the answer."""
    me = reviewer.me()
    material = "\0".join((_mark(projects.get(slug)), me.id, me.name, *parts))
    return hashlib.sha256(material.encode(errors="replace")).hexdigest()[:32]


class _Listed:
    """The files of one commit, with contents for as many as are asked for."""

    def __init__(self, place: CommitPosition, asked: texts.Wanted) -> None:
        self.target = place.target
        self.asked = asked
        self.commit = self._with_counts(self.target.shown_commit)
        marked, stale = viewed.valid(self.target, commit_review.of(self.target))
        self.viewed, self.stale = frozenset(marked), frozenset(stale)
        self.files = texts.Files(self.target.repository, self.commit)

    @property
    def truncated(self) -> bool:
        return len(self.commit.files) > self.most

    @property
    def most(self) -> int:
        if isinstance(self.asked, int):
            return self.asked
        return len(self.commit.files) if self.asked == "all" else 0

    def with_marks(self, record: texts.Record) -> File:
        path = record["path"]
        return {
            **record,
            "viewed": path in self.viewed,
            "changed_since_viewed": path in self.stale,
        }

    def answer(self, head: Head, tail: Tail) -> Commit | Iterator[bytes]:
        """The answer: in one piece if it is small, else as pieces of JSON."""
        found, size = iter(self._records()), 0
        first: list[texts.Record] = []
        for one in found:
            first.append(one)
            size += len(one["old"] or "") + len(one["new"] or "")
            if size > AT_ONCE:
                return _stream(head, map(self.with_marks, chain(first, found)), tail)
        if size <= KEPT and all(map(texts.complete, first)):
            _small.put(self._key, first)
        if head["additions"] is None and not self.truncated:
            head["additions"] = sum(one["additions"] or 0 for one in first)
            head["deletions"] = sum(one["deletions"] or 0 for one in first)
        return {**head, "files": [self.with_marks(one) for one in first], **tail}

    @property
    def _key(self) -> tuple[object, ...]:
        commit = self.commit
        place = self.target.repository.common_dir
        return (place, commit.sha, commit.parent, commit.counted, self.most)

    def _records(self) -> Iterable[texts.Record]:
        """The files without marks, with contents for those asked for; small answers are cached."""
        known = _small.get(self._key)
        if known is not None:
            return known
        whole = self.files.whole(self.commit.files[: self.most])
        bare = [self.files.bare(file) for file in self.commit.files[self.most :]]
        return chain(whole, bare)

    def _with_counts(self, commit: commits.Commit) -> commits.Commit:
        """The commit, with line counts if its contents will not give them and it is not large."""
        if commit.counted or self.asked == "all" or len(commit.files) > COUNTED:
            return commit
        return history.commit(self.target.repository, commit.sha)


def _stream(head: Head, files: Iterator[File], tail: Tail) -> Iterator[bytes]:
    """The answer as pieces of JSON; the sums come after the files that they are made from."""
    added = deleted = 0
    counted = head["additions"] is not None or tail["truncated"]  # if truncated, sums stay unknown
    late = () if counted else ("additions", "deletions")
    known = {key: value for key, value in head.items() if key not in late}
    piece = bytearray(dumps(known)[:-1] + b',"files":[')
    comma = b""
    for one in files:
        added += one["additions"] or 0
        deleted += one["deletions"] or 0
        piece += comma + dumps(one)
        comma = b","
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    sums = {} if counted else {"additions": added, "deletions": deleted}
    yield bytes(piece) + b"]," + dumps({**sums, **tail})[1:]


def _header(place: CommitPosition, commit: commits.Commit) -> Head:
    own = place.item.commit
    if not own.counted:
        own = commit if own.sha == commit.sha else history.commit(place.target.repository, own.sha)
    counted = own.counted
    stack = place.repo.stacks[place.item.stack - 1]
    before, after = place.neighbours
    return {
        **wire.commit(place.item, _short(place.repo, place.item), place.counts),
        "additions": own.additions if counted else None,
        "deletions": own.deletions if counted else None,
        "stack": wire.place(place.item, stack),
        "prev": before,
        "next": after,
    }


def _place(slug: str, name: str, sha: str) -> CommitPosition:
    """One commit of a project. NotFound, or Invalid for a sha that names several."""
    found = projects.get(slug)
    mine = repo.load(found, projects.repo(found, name))
    return CommitPosition(found, mine, repo.find(mine, sha))


def _pr(place: CommitPosition) -> Pr:
    item = place.item
    name = item.branch["name"] if item.branch else None
    made = pr_files.record(place.target, item.pr, source_sha=item.pr_source, branch=name)
    landed = wire.landed_record(item.landed) if item.landed else None
    given = verdicts.of(place.target)
    return {**made, "landed": landed, "proposed": wire.proposed_record(item), "verdicts": given}


def _repo(found: Repo) -> wire.Repo:
    shorts = wire.shorts([item.commit.sha for item in found.items])
    counted = zip(found.items, counts(found, found.items), strict=True)
    judged = _verdicts_by_sha(found)
    return wire.repo(
        found,
        (
            wire.item_record(item, shorts[item.commit.sha], told, judged.get(item.commit.sha, []))
            for item, told in counted
        ),
    )


def _verdicts_by_sha(found: Repo) -> dict[str, list[verdicts.Given]]:
    """The verdicts of each reviewed commit, by sha."""
    here = repo.reviewed_shas(found)
    return {sha: verdicts.of(repo.target(found, found.by_sha[sha])) for sha in here}


def _neighbour(found: Repo, sha: str) -> wire.Neighbour:
    item = found.by_sha[sha]
    return wire.neighbour(found, item, _short(found, item))


def _short(found: Repo, item: Item) -> str:
    return wire.shorts([one.commit.sha for one in found.items])[item.commit.sha]


def _mark(found: projects.Project) -> str:
    """A value that changes with anything shown below this project; made from stats only."""
    return "\0".join(
        [found.etag, found.parse_error or "", *(repo.stamp(found, entry) for entry in found.repos)]
    )
