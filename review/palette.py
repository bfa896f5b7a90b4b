"""What the palette finds of the review part, its count of unresolved threads, and the repositories
it knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from config.web.palette import Badge, Destination, Folder
from review import files, projects
from review.stacks import listing
from review.stacks.worktree import looks

SHORT = 7  # digits of a sha


def destinations() -> Iterator[Destination]:
    """The list of projects, the projects under review, and their commits as last read."""
    yield Destination("Review", "part", "/")
    found = projects.all()
    for project in found:
        if project.repos:
            yield Destination(project.title, "review", _path(project.slug), "Review", project.slug)
    for project, repo, sha, title in listing.titles(found):
        hint = f"{sha[:SHORT]} · {project.title}"
        yield Destination(title, "commit", _path(project.slug, repo, sha), hint, sha)


def waiting() -> Badge:
    """The number of unresolved threads, in projects that are not archived."""
    shown = [one for one in listing.project_list()["projects"] if not one["archived"]]
    count = sum(one["unresolved"] for one in shown)
    return Badge(count, "unresolved thread" if count == 1 else "unresolved threads")


def folders() -> Iterator[Folder]:
    """Repositories under review, except the examples."""
    for project in projects.all():
        if not project.example:
            yield from (Folder(str(one.path), "review") for one in project.repos if not one.errors)


def around(folder: Path) -> Iterator[Destination]:
    """The stacks of repositories inside a directory, as last read; for a repository at the
    directory itself also its uncommitted changes."""
    for project in projects.all():
        for entry in project.repos:
            if not entry.errors and entry.path.resolve().is_relative_to(folder):
                if entry.path.resolve() == folder and (
                    found := looks.count(project.slug, entry.name)
                ):
                    path = _path(project.slug, entry.name, files.WORKTREE)
                    yield Destination("Changes", "changes", path, _files(found["files"]))
                for title, hint in listing.stacks(project, entry):
                    yield Destination(title, "review", _path(project.slug), hint)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files" if count else "all committed"


def _path(*parts: str) -> str:
    return "/".join(["/p", *(quote(part, safe="") for part in parts)])
