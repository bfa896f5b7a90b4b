"""What the server does besides answering: follow files and refs, and notify clients.

Events carry ids only; correctness never depends on them, every request looks at the files. The API
publishes its own writes; their echo is recognised here by content and dropped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from django.conf import settings

from config import signals
from config.errors import NotFound
from config.git.command import GitError
from config.storage import files as kernel_files
from config.storage.files import sweep
from config.storage.paths import UnsafePath, own_folder
from config.storage.watch import Watcher
from review import caches, events, files, projects
from review.background import moved
from review.background.handwritten import Handwritten, Said
from review.background.telling import Teller
from review.git import keeping, refs, staying, used
from review.git.refs import Refs
from review.projects import Project
from review.stacks import repo as repos
from review.stacks.folding.fold import drop_old
from review.stacks.values import Item
from review.stacks.worktree import taking_over

DAY_S = 86_400.0
RepoKey = tuple[str, str]  # slug, repo
Look = Refs | GitError | None  # None: there is no such repo


class Background:
    """One of settings.SVC_BACKGROUND: the watcher of projects and of their repositories."""

    def __init__(self) -> None:
        self._watcher = Watcher(self.folders, self.on_change)
        self._teller = Teller()
        self._projects: dict[str, Project] = {}
        self._refs: dict[RepoKey, Look] = {}
        self._handwritten = Handwritten()
        self._seen: caches.Memory[Path, str] = caches.Memory(4096)  # etags of files
        self._drop_at = 0.0  # in seconds of the monotonic clock
        self._git: dict[Path, set[RepoKey]] = {}  # the repos that a folder of refs belongs to

    def start(self) -> None:
        sweep(_review_folders())
        self._projects = {project.slug: project for project in projects.all()}
        for project in self._projects.values():
            for entry in project.repos:
                self._keep(project.slug, entry.name)
                self._settle(project.slug, entry.name)
        self._teller.start()
        self._watcher.start()
        self._teller.later(("folds",), partial(drop_old, list(self._projects)))
        self._drop_rows()

    def stop(self) -> None:
        self._watcher.stop()
        self._teller.stop()
        staying.close()

    def folders(self) -> Iterable[Path]:
        """Every folder to watch, each for the files directly in it."""
        git: dict[Path, set[RepoKey]] = {}
        known: dict[RepoKey, Look] = {}
        for project in projects.all():
            for entry in project.repos:
                place = (project.slug, entry.name)
                known[place] = self._refs[place] if place in self._refs else _refs(*place)
                for folder in _ref_folders(entry.path):
                    git.setdefault(folder, set()).add(place)
        self._git, self._refs = git, known
        return [*_review_folders(), *git]

    def on_change(self, paths: set[Path]) -> None:
        """Called by the watcher, from its thread."""
        self._drop_rows()
        for place in {place for path in paths for place in self._git.get(path.parent, ())}:
            self._look_at_refs(place)
        root = files.root()
        for path in sorted(paths):
            if path.is_relative_to(root):
                self._look(path, path.relative_to(root).parts)

    def _drop_rows(self) -> None:
        """Drop unused rows, at most once a day and only at a change: without changes the index does
        not grow."""
        if time.monotonic() >= self._drop_at:
            self._drop_at = time.monotonic() + DAY_S
            self._teller.later(("rows",), used.drop_unused)

    def _look(self, path: Path, parts: tuple[str, ...]) -> None:
        later = self._teller.later
        match parts:
            case (slug,) | (slug, files.PROJECT) if files.SLUG.fullmatch(slug):
                self._project(slug)
            case (slug, "assets", _) if self._news(path):
                later(("assets", slug), partial(events.project, slug, "assets"))
            case (slug, "reviews" | "prs" as kind, repo, name) if name.endswith(".yaml"):
                parts = slug, kind, repo, name
                if self._news(path):
                    tell = partial(_tell_commits, slug, kind, repo, name.removesuffix(".yaml"))
                    later((kind, slug, repo, name), tell)
                    self._keep(slug, repo)
                    if kind == "reviews" and (said := self._handwritten.look(parts)):
                        key = "said", *parts, *(f"{one.thread.id} {one.text}" for one in said)
                        later(key, partial(_tell_said, parts, said))
                elif kind == "reviews":
                    self._handwritten.forget(parts)

    def _keep(self, slug: str, repo: str) -> None:
        """Keep the commits of review files from git's cleaning, also those of hand-made files."""
        self._teller.later(("keep", slug, repo), partial(_hold, slug, repo))

    def _settle(self, slug: str, repo: str) -> None:
        """Move the threads on uncommitted changes to the commits that have these changes now."""
        self._teller.later(("settle", slug, repo), partial(taking_over.settle, slug, repo))

    def _project(self, slug: str) -> None:
        """Take in a project that was added or removed, or changed in the keys of this part."""
        before, now = self._projects.pop(slug, None), _project(slug)
        if now is not None:
            self._projects[slug] = now
        if before != now:  # the watched folders of its repositories may differ
            self._watcher.rebuild()
        same = before == now  # a later change is reported by the next look
        if not self._news(files.path(slug, files.PROJECT), keep=not same) or same:
            return
        if before is None:
            self._teller.later(("added",), partial(events.projects, "added"))
        elif now is None:
            self._teller.later(("removed",), partial(events.projects, "removed"))
        else:
            self._teller.later(("config", slug), partial(events.project, slug, "config"))

    def _news(self, path: Path, *, keep: bool = True) -> bool:
        """Whether the file has new content that this process did not write. With `keep` that
        content counts as seen from then on, as what this process wrote always does."""
        etag = _etag(path, files.root() / path.relative_to(files.root()).parts[0])
        before, ours = self._seen.get(path), files.is_own_write(path, etag)
        if keep or ours:
            self._seen.put(path, etag)
        return not ours and etag != before

    def _look_at_refs(self, place: RepoKey) -> None:
        """Notify clients if the refs of a repo have changed since the last look.

        A missing project has no refs: that it was added or removed is reported by itself.
        """
        before, now = self._refs.get(place), _refs(*place)
        self._refs[place] = now
        if before is None or now is None or _key(before) == _key(now):
            return
        slug, name = place
        self._settle(slug, name)
        self._teller.later(("git", slug), partial(events.project, slug, "git"))
        if isinstance(before, Refs) and isinstance(now, Refs):
            moves = list(moved.moves(before, now))
            self._teller.later(("moved", slug, name, now.key), partial(moved.tell, *place, moves))


def _review_folders() -> Iterator[Path]:
    """The projects directory, every directory in it, and the folders of review state in those.

    A directory that is not a project yet may become one with the next file.
    """
    root: Path = settings.PROJECTS_DIR
    yield root
    for slug in filter(files.SLUG.fullmatch, files.list_folder(root)):
        yield root / slug
        for name in ("assets", *files.KINDS):
            folder = root / slug / name
            if own_folder(root / slug, folder):
                yield folder
                yield from _repos(root / slug, folder) if name in files.KINDS else ()


def _repos(project: Path, folder: Path) -> Iterator[Path]:
    below = (folder / repo for repo in files.list_folder(folder))
    return (path for path in below if own_folder(project, path))


def _ref_folders(path: Path) -> list[Path]:
    try:
        return refs.watched_folders(projects.open_at(path))
    except GitError:
        return []


def _project(slug: str) -> Project | None:
    try:
        return projects.get(slug)
    except NotFound:
        return None


def _refs(slug: str, name: str) -> Look:
    """The refs of a repo, the error if they cannot be read, None without such a repo."""
    try:
        path = projects.repo(projects.get(slug), name).path
        return refs.read(projects.open_at(path))
    except NotFound:
        return None
    except GitError as error:
        return error


def _key(look: Refs | GitError) -> str:
    return look.key if isinstance(look, Refs) else ""


def _hold(slug: str, name: str) -> None:
    """Keep the commits that have a review file from git's cleaning."""
    shas = files.names(slug, "reviews", name)
    if not shas:
        return
    try:
        keeping.hold(projects.open_at(projects.repo(projects.get(slug), name).path), shas)
    except (NotFound, GitError):
        return


def _etag(path: Path, project: Path) -> str:
    """The hash of a file's content, "" without one; its error and stat if it cannot be read."""
    try:
        found = kernel_files.read(path, limit=files.LIMIT, within=project)
    except (OSError, UnsafePath) as error:
        return f"{error} {kernel_files.stat_of(path)}"
    return found.etag if found else ""


def _tell_commits(slug: str, kind: str, name: str, stem: str) -> None:
    """Publish an event for each commit that shows the file; for the project if none does."""
    try:
        project = projects.get(slug)
        found = repos.load(project, projects.repo(project, name))
    except NotFound:
        return
    if stem == files.WORKTREE:
        events.review(slug, name, stem)
        return
    tell = events.review if kind == "reviews" else events.pr
    shown = [item for item in found.items if _shows(item, stem)]
    for item in shown:
        tell(slug, name, item.commit.sha)
    if not shown:
        events.project(slug, "reviews")


def _tell_said(parts: tuple[str, str, str, str], said: list[Said]) -> None:
    """Send a signal for each, with the commit on which the file is shown, else the file's own."""
    slug, _kind, name, file = parts
    stem = file.removesuffix(".yaml")
    try:
        project = projects.get(slug)
        entry = projects.repo(project, name)
    except NotFound:
        return
    shown = [one for one in repos.load(project, entry).items if _shows(one, stem)]
    for one in said:
        written = signals.ThreadWritten(
            repository=entry.path,
            project=slug,
            repo=name,
            sha=shown[0].commit.sha if shown else stem,
            thread=one.thread.id,
            act=one.act,
            author=one.author,
            text=one.text,
            file=one.thread.path or "",
            line=one.thread.line,
            by_file=True,
        )
        signals.tell(signals.thread_written, written)


def _shows(item: Item, stem: str) -> bool:
    sources = item.match.shas if item.match else ()
    return any(sha.startswith(stem) for sha in (item.commit.sha, *sources, item.pr_source or ""))
