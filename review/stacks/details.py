"""What the read routes answer: a project, a commit, one file, progress, PR record (contract 8)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from config.kernel.errors import NotFound, SvcError
from config.kernel.jsonio import clean, dumps
from review import assets, caches, markdown, projects, reviewer
from review.git import ancestry, catfile, diffs, log, objects
from review.git.command import GitError
from review.git.commits import Commit, shown_path
from review.git.repository import Repository
from review.projects import Project
from review.reviews import records, shown, viewed
from review.reviews.target import Target
from review.stacks import prs, repo, wire
from review.stacks.contents import Files, complete
from review.stacks.listing import counts
from review.stacks.values import Item, Repo

__all__ = ["commit", "etag", "file", "image", "interdiff", "pr", "progress", "project"]

Record = dict[str, Any]
Contents = Literal["all", "none"] | int

COUNTED = 200  # files of a commit that are counted for a first look
AT_ONCE = 4 << 20  # characters of text in an answer that is made in one piece
KEPT = 1 << 20  # characters of text in an answer that is remembered
PIECE = 256 << 10  # bytes of a streamed answer's piece

_projects: caches.Memory[str, tuple[str, Record]] = caches.Memory(128)

_small: caches.Memory[tuple[object, ...], list[Record]] = caches.Memory(16)


@dataclass(frozen=True, slots=True)
class Place:
    """One commit among all commits of its project, in the order of reading."""

    repos: list[Repo]
    repo: Repo
    item: Item

    @property
    def target(self) -> Target:
        return repo.target(self.repo, self.item)

    @property
    def counts(self) -> wire.Counts:
        return counts(self.repo, [self.item])[0]

    @property
    def neighbours(self) -> tuple[Record | None, Record | None]:
        """The commits before and after this one: repo by repo, stack by stack, bottom to top."""
        path = [(found, found.by_sha[sha]) for found in self.repos for sha in reading_order(found)]
        at = path.index((self.repo, self.item))
        before = path[at - 1] if at else None
        after = path[at + 1] if at + 1 < len(path) else None
        return _neighbour(before), _neighbour(after)


def reading_order(found: Repo) -> Iterator[str]:
    return chain.from_iterable(stack.commits for stack in found.stacks)


def project(slug: str) -> Record:
    """The project detail. Nothing is made again while nothing changed."""
    found = projects.get(slug)
    mark = _mark(found)
    known = _projects.get(slug)
    if known is not None and known[0] == mark:
        return known[1]
    loaded = [repo.load(found, entry, counts=True) for entry in found.repos]
    made = {
        "slug": found.slug,
        "title": found.title,
        "description": found.description,
        "archived": found.archived,
        "example": bool(found.example),
        "file": str(found.file),
        "parse_error": found.parse_error,
        "repos": [_repo(one) for one in loaded],
    }
    return _projects.put(slug, (mark, made))[1]


def repo_of(slug: str, name: str) -> Record:
    """One repo as the project detail has it."""
    return next(one for one in project(slug)["repos"] if one["name"] == name)


def rendered(found: Record, mount: str) -> Record:
    """The project with `description_html` of itself and of each stack, safe on pages there."""
    repos = [
        one | {"stacks": [_rendered(stack, mount) for stack in one["stacks"]]}
        for one in found["repos"]
    ]
    return _rendered(found, mount) | {"repos": repos}


def _rendered(record: Record, mount: str) -> Record:
    return record | {"description_html": markdown.html(record["description"], mount=mount)}


def commit(
    slug: str, name: str, sha: str, *, contents: Contents = "all"
) -> Record | Iterator[bytes]:
    """The commit detail; a big one as pieces of its JSON, so that it is never whole in memory.

    `contents`: of which files texts, edits and counts are shown.
    """
    with _told():
        place = _place(slug, name, sha)
        before, after = place.neighbours
        files = _Listed(place, contents)
        head = _header(place, files.commit) | {"prev": before, "next": after}
        tail = {
            "truncated": files.truncated,
            "pr": _pr(place),
            "review": records.review(place.target),
        }
        return files.answer(head, tail)


def file(slug: str, name: str, sha: str, path: str) -> Record:
    """One file of the commit, whole. NotFound when the commit does not change it."""
    with _told():
        place = _place(slug, name, sha)
        listed = _Listed(place, "all")
        for changed in listed.commit.files:
            if path in (changed.path, shown_path(changed.path)):
                (found,) = Files(listed.target.repository, listed.commit).whole([changed])
                return listed.marked(found)
    raise NotFound('"path" is not a file changed by this commit')


def image(slug: str, name: str, sha: str, path: str, side: str) -> tuple[bytes, str]:
    """An image that the commit changes, as it was (LEFT) or is (RIGHT): its bytes and type.

    NotFound when the commit does not change it, or the side holds no image of at most 5 MB.
    """
    with _told():
        target = _place(slug, name, sha).target
        for changed in target.shown_commit.files:
            if path in (changed.path, shown_path(changed.path)):
                oid = changed.old_oid if side == "LEFT" else changed.new_oid
                known = oid is not None and oid in changed.blobs
                data = _small_blob(target.repository, oid) if oid and known else None
                kind = assets.kind_of(data) if data else None
                if data and kind:
                    return data, kind
                raise NotFound("No image of at most 5 MB on this side")
    raise NotFound('"path" is not a file changed by this commit')


def _small_blob(repository: Repository, oid: str) -> bytes | None:
    found = dict(catfile.infos(repository, [oid]))[oid]
    if found is None or found[1] > assets.LIMIT:
        return None
    return objects.blob(repository, oid)


def progress(slug: str, name: str, sha: str) -> dict[str, int]:
    place = _place(slug, name, sha)
    return wire.progress(place.item, place.counts)


def pr(project: str, repo: str, sha: str) -> Record:
    """The PR record of a commit."""
    return _pr(_place(project, repo, sha))


def interdiff(
    project: str, repo: str, sha: str, old: str | None = None, path: str | None = None
) -> dict[str, str]:
    """What changed between `old` and this one, in the file `path` or in all.

    `old` is by default the commit this one stands for; of a file the one on which it was marked
    as viewed.
    """
    with _told():
        target = _place(project, repo, sha).target
        new = target.commit if path is None else target.shown_commit
        paths = () if path is None else _names(new, path)
        source = _there(target.repository, old or _compared(target, path))
        if source is None and old is not None:
            raise NotFound(f"No such commit: {clean(old[:64])}")
        if source is None or not objects.exists(target.repository, new.sha):
            gone = "commit this was reviewed on" if source is None else "reviewed commit itself"
            raise NotFound(f"The {gone} is no longer in the repository: nothing to compare with")
        text = diffs.interdiff(target.repository, source, new.sha, paths)
        return {"from": source, "to": new.sha, "text": clean(text)}


def _there(repository: Repository, name: str) -> str | None:
    """The commit of that full or short sha; what was resolved before may have been pruned."""
    known = ancestry.resolve(repository, [name.lower()] if name.isalnum() else [])
    return next((sha for sha in known.values() if objects.exists(repository, sha)), None)


def _names(commit: Commit, path: str) -> list[str]:
    """What a file of the commit is called after and before it."""
    for changed in commit.files:
        if path in (changed.path, shown_path(changed.path)):
            return [changed.path, *([changed.old_path] if changed.old_path else [])]
    raise NotFound('"path" is not a file changed by this commit')


def _compared(target: Target, path: str | None) -> str:
    """The commit that a reader knows."""
    found = shown.shown(target)
    if path is None:
        if found.matched_from is None:
            raise NotFound("This commit was carried over from no other; say from which to compare")
        return found.matched_from
    known = viewed.seen_on(target, found, shown_path(path))
    if known is None:
        raise NotFound(
            "No commit is known on which this file was viewed; say from which to compare"
        )
    return known


def etag(slug: str, *parts: str) -> str:
    """A tag of everything an answer below this project shows; `parts` name the answer."""
    me = reviewer.me()
    material = "\0".join((_mark(projects.get(slug)), me.id, me.name, *parts))
    return hashlib.sha256(material.encode(errors="replace")).hexdigest()[:32]


class _Listed:
    """The files of one commit, as many of them whole as are asked for."""

    def __init__(self, place: Place, asked: Contents) -> None:
        self.target = place.target
        self.asked = asked
        self.commit = self._counted(self.target.shown_commit)
        marked, stale = viewed.valid(self.target, shown.shown(self.target))
        self.viewed, self.stale = frozenset(marked), frozenset(stale)
        self.files = Files(self.target.repository, self.commit)

    @property
    def truncated(self) -> bool:
        return len(self.commit.files) > self.most

    @property
    def most(self) -> int:
        if isinstance(self.asked, int):
            return self.asked
        return len(self.commit.files) if self.asked == "all" else 0

    def marked(self, record: Record) -> Record:
        path = record["path"]
        return record | {
            "viewed": path in self.viewed,
            "changed_since_viewed": path in self.stale,
        }

    def answer(self, head: Record, tail: Record) -> Record | Iterator[bytes]:
        """In one piece if it is small."""
        found, first, size = iter(self._records()), [], 0
        for one in found:
            first.append(one)
            size += len(one["old"] or "") + len(one["new"] or "")
            if size > AT_ONCE:
                return _streamed(head, map(self.marked, chain(first, found)), tail)
        if size <= KEPT and all(map(complete, first)):
            _small.put(self._key, first)
        if head["additions"] is None and not self.truncated:
            head["additions"] = sum(one["additions"] or 0 for one in first)
            head["deletions"] = sum(one["deletions"] or 0 for one in first)
        return head | {"files": [self.marked(one) for one in first]} | tail

    @property
    def _key(self) -> tuple[object, ...]:
        commit = self.commit
        place = self.target.repository.common_dir
        return (place, commit.sha, commit.parent, commit.counted, self.most)

    def _records(self) -> Iterable[Record]:
        """The files without marks, those asked for whole; a small answer is remembered."""
        known = _small.get(self._key)
        if known is not None:
            return known
        whole = self.files.whole(self.commit.files[: self.most])
        bare = [self.files.bare(file) for file in self.commit.files[self.most :]]
        return chain(whole, bare)

    def _counted(self, commit: Commit) -> Commit:
        """With line counts where they are not found on the way, unless that takes long."""
        if commit.counted or self.asked == "all" or len(commit.files) > COUNTED:
            return commit
        return log.commit(self.target.repository, commit.sha)


def _streamed(head: Record, files: Iterator[Record], tail: Record) -> Iterator[bytes]:
    """The answer as JSON in pieces; the sums stand behind the files they are of."""
    added = deleted = 0
    counted = head["additions"] is not None or tail["truncated"]  # then they stay unknown
    if not counted:
        head = {key: value for key, value in head.items() if key not in ("additions", "deletions")}
    piece = bytearray(dumps(head)[:-1] + b',"files":[')
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
    yield bytes(piece) + b"]," + dumps(sums | tail)[1:]


def _header(place: Place, commit: Commit) -> Record:
    own = place.item.commit
    if not own.counted:
        own = commit if own.sha == commit.sha else log.commit(place.target.repository, own.sha)
    counted = own.counted
    stack = place.repo.stacks[place.item.stack - 1]
    return wire.commit(place.item, _short(place.repo, place.item), place.counts) | {
        "additions": own.additions if counted else None,
        "deletions": own.deletions if counted else None,
        "stack": wire.place(place.item, stack),
    }


def _place(slug: str, name: str, sha: str) -> Place:
    """One commit of a project. NotFound, or Invalid for a sha that names several."""
    found = projects.get(slug)
    entry = projects.repo(found, name)
    loaded = {one.index: repo.load(found, one) for one in found.repos}
    mine = loaded[entry.index]
    return Place(list(loaded.values()), mine, repo.find(mine, sha))


def _pr(place: Place) -> Record:
    item = place.item
    name = item.branch["name"] if item.branch else None
    made = prs.record(place.target, item.pr, source_sha=item.pr_source, branch=name)
    landed = item.landed.record if item.landed else None
    return made | {"landed": landed, "proposed": wire.proposed(item)}


def _repo(found: Repo) -> Record:
    shorts = wire.shorts([item.commit.sha for item in found.items])
    counted = zip(found.items, counts(found, found.items), strict=True)
    return wire.repo(
        found, (wire.listed(item, shorts[item.commit.sha], told) for item, told in counted)
    )


def _neighbour(place: tuple[Repo, Item] | None) -> Record | None:
    if place is None:
        return None
    found, item = place
    return wire.neighbour(found, item, _short(found, item))


def _short(found: Repo, item: Item) -> str:
    return wire.shorts([one.commit.sha for one in found.items])[item.commit.sha]


def _mark(found: Project) -> str:
    """Changes with anything that is shown below this project; stats only."""
    return "\0".join(
        [found.etag, found.parse_error or "", *(repo.stamp(found, entry) for entry in found.repos)]
    )


@contextmanager
def _told() -> Iterator[None]:
    """A git that cannot answer is told in its own sentence."""
    try:
        yield
    except GitError as error:
        raise SvcError(error.text) from error
