"""The list of projects: a summary per repo, kept in RepoRow and valid for its stamp."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.db import OperationalError

from config.git.command import GitError
from config.storage import homes
from review import caches, files, projects
from review.examples import installing as examples
from review.git import repository
from review.git.log import history as commits
from review.models import RepoRow
from review.projects import Project, RepoEntry
from review.stacks import repo as repos
from review.stacks.values import Item, Repo
from review.stacks.worktree import reviewed
from review.threads import records

log = logging.getLogger(__name__)
CHUNK = 500  # parameters of one query


class UnreadableRepo(TypedDict):
    """A repo whose commits cannot be shown, and why."""

    repo: str
    error: str


class ProjectItem(TypedDict):
    slug: str
    title: str
    repos: list[str]
    repoCount: int
    commitCount: int
    followOnCount: int
    mergedCount: int
    archived: bool
    example: bool
    unresolved: int
    lastModified: str | None
    error: str | None
    unreadable: list[UnreadableRepo]


class ProjectList(TypedDict):
    projectsDir: str
    home: str
    examples: examples.ReviewState
    projects: list[ProjectItem]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the list shows of one repo. `modified`: seconds since 1970."""

    commits: int = 0
    follow_on: int = 0
    merged: int = 0
    unresolved: int = 0
    modified: float = 0.0
    error: str = ""


_known: caches.Memory[str, tuple[str, Summary]] = caches.Memory(2000)


def project_list() -> ProjectList:
    """Every project under review. Unchanged projects are not parsed again and run no process."""
    found = projects.all()
    _recall(found)
    return {
        "projectsDir": str(settings.PROJECTS_DIR),
        "home": str(Path.home()),
        "examples": examples.state(),
        "projects": [_render_item(one) for one in found],
    }


def titles(found: Iterable[Project]) -> Iterator[tuple[Project, str, str, str]]:
    """(project, repo, sha, title) of every commit as its repo was last read. Reads no repository.

    For repos that this process has not read, they come from the rows, as last listed.
    """
    rows = dict(RepoRow._default_manager.values_list("key", "data"))
    for project in found:
        for entry in project.repos:
            known = repos.get_cached(project, entry)
            told = rows.get(_key(project, entry), {}).get("commits", [])
            for sha, title in told if known is None else _titles(known):
                yield project, entry.name, sha, title


def stacks(project: Project, entry: RepoEntry) -> list[tuple[str, str]]:
    """Title and size of each stack as last read; if none were, the names of repo and project."""
    known = repos.get_cached(project, entry)
    if known is None or not known.stacks:
        return [(entry.name, project.title)]
    return [(one.title or entry.name, _size_text(len(one.commits))) for one in known.stacks]


def _size_text(commits: int) -> str:
    return "1 commit" if commits == 1 else f"{commits} commits"


def _titles(found: Repo) -> list[tuple[str, str]]:
    return [(item.commit.sha, item.title) for item in found.items]


def _key(project: Project, entry: RepoEntry) -> str:
    """The key of row and cache. It has the home: two homes may have projects of the same name."""
    name = f"{project.slug}/{entry.name}"
    return f"{homes.home()}:{name}" if homes.home() else name


def counts(found: Repo, items: Iterable[Item]) -> list[tuple[int, int, int, int]]:
    """Counts for each commit: threads, resolved ones, unresolved ones, viewed files."""
    here = repos.reviewed_shas(found)
    return [
        records.counts(repos.target(found, item)) if item.commit.sha in here else (0, 0, 0, 0)
        for item in items
    ]


def _render_item(project: Project) -> ProjectItem:
    parts = [_summary(project, entry) for entry in project.repos]
    told = zip(project.repos, parts, strict=True)
    return {
        "slug": project.slug,
        "title": project.title,
        "repos": [entry.name for entry in project.repos],
        "repoCount": len(project.repos),
        "commitCount": sum(part.commits for part in parts),
        "followOnCount": sum(part.follow_on for part in parts),
        "mergedCount": sum(part.merged for part in parts),
        "archived": project.archived,
        "example": bool(project.example),
        "unresolved": sum(part.unresolved for part in parts),
        "lastModified": _time(
            max([_modified_at(project.stat), *(part.modified for part in parts)])
        ),
        "error": project.parse_error,
        "unreadable": [
            {"repo": entry.name, "error": part.error} for entry, part in told if part.error
        ],
    }


def _summary(project: Project, entry: RepoEntry) -> Summary:
    if entry.errors:
        return Summary(error=entry.errors[0])
    key = _key(project, entry)
    known = _known.get(key)
    if known is not None and known[0] == repos.stamp(project, entry):
        return known[1]
    found = repos.load_for_list(project, entry)
    made = _summarise(found)
    _known.put(key, (found.stamp, made))
    _keep(key, found, made)
    return made


def _summarise(found: Repo) -> Summary:
    follow_ons = {stack.n for stack in found.stacks if stack.follow_on}
    merged = sum(item.status == "merged" for item in found.items)
    follow_on = sum(item.status != "merged" and item.stack in follow_ons for item in found.items)
    unresolved = sum(unresolved for _, _, unresolved, _ in counts(found, found.items))
    if found.errors:
        unresolved = sum(orphan.unresolved for orphan in found.orphans)
    beside = reviewed.read_threads(found.project.slug, found.entry.name, unresolved_only=True)
    return Summary(
        commits=len(found.items) - merged - follow_on,
        follow_on=follow_on,
        merged=merged,
        unresolved=unresolved + len(beside),
        modified=max([_head_time(found), *_file_times(found)], default=0.0),
        error=found.errors[0] if found.errors else "",
    )


def _head_time(found: Repo) -> float:
    """The committer date of the range's head; 0 if it cannot be read."""
    if found.range is None or found.repository is None:
        return 0.0
    head = found.by_sha.get(found.range.head_sha)
    try:
        commit = head.commit if head else commits.commit(found.repository, found.range.head_sha)
        return datetime.fromisoformat(commit.committed).timestamp()
    except (GitError, ValueError):
        return 0.0


def _file_times(found: Repo) -> Iterator[float]:
    for kind in files.KINDS:
        for name in files.names(found.project.slug, kind, found.entry.name):
            with contextlib.suppress(OSError):
                path = files.path(found.project.slug, kind, found.entry.name, f"{name}.yaml")
                yield path.stat().st_mtime


def _modified_at(stat: str) -> float:
    """The modification time of a stat of the kernel, in seconds since 1970; 0 for no stat."""
    return int(stat.partition(":")[0] or 0) / 1e9


def _time(seconds: float) -> str | None:
    if not seconds:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _recall(found: list[Project]) -> None:
    """Load the rows of repos that this process has not read yet, CHUNK rows per query."""
    keys = [_key(one, entry) for one in found for entry in one.repos]
    unseen = [key for key in keys if _known.get(key) is None]
    if not unseen:
        return
    for start in range(0, len(unseen), CHUNK):
        rows = RepoRow._default_manager.filter(pk__in=unseen[start : start + CHUNK])
        for key, stamp, data in rows.values_list("key", "stamp", "data"):
            with contextlib.suppress(KeyError, TypeError, ValueError):
                repository.recall(data["repository"])
                _known.put(key, (stamp, Summary(**data["summary"])))


def _keep(key: str, found: Repo, made: Summary) -> None:
    """Write the row, for the next process. A full disk only costs that process time."""
    if found.repository is None or not found.stamp:
        return
    data = {
        "summary": asdict(made),
        "repository": repository.as_json(found.repository),
        "commits": _titles(found),
    }
    try:
        RepoRow._default_manager.update_or_create(
            pk=key, defaults={"stamp": found.stamp, "data": data}
        )
    except OperationalError as error:
        log.warning("the row of a repo lags", extra={"repo": key, "why": str(error)})
