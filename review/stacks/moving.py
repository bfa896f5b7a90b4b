"""Where the repositories under review are: open one in a project, or record that it moved."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from config.errors import Conflict, Invalid, SvcError
from review import events, projects
from review.git import ancestry, ranges
from review.git.repository import Repository
from review.stacks import details, states, wire

log = logging.getLogger(__name__)


def open_repo(
    project: str,
    *,
    path: Any = None,
    range: Any = None,  # noqa: A002 - the word of the file
    name: Any = None,
) -> wire.Repo:
    """Open a repository for review; without a path, the one that the project works in."""
    working_dir: Callable[[str], Path | None] = import_string(settings.SVC_WORKING_DIR)
    added = projects.add_repo(
        project, path=path, range=range, name=name, working_dir=working_dir(project)
    )
    events.project(project, "config")
    return details.repo_of(project, added.name)


def ensure(project: str, top: Path) -> None:
    """Put the repository at `top` under review if it is not yet, as a chat works on a branch of it
    (settings.SVC_UNDER_REVIEW). A failure is logged."""
    try:
        found = projects.get(project)
        if any(entry.path.resolve() == top.resolve() for entry in found.repos):
            return
        projects.add_repo(project, path=str(top), range=None, name=None, working_dir=None)
        events.project(project, "config")
    except SvcError as error:
        log.warning("a repository is not under review: %s", error, extra={"project": project})


def move_repo(project: str, repo: str, *, path: Any = None, confirm: Any = None) -> wire.Repo:
    """Record the new path of a repository in project.yaml.

    Invalid if no repository is there. Conflict, unless `confirm` is true, if it has none of the
    commits that the repo's files are about.
    """
    if not isinstance(confirm, bool | None):
        raise Invalid('"confirm" must be true or false')
    found = projects.get(project)
    before = projects.repo(found, repo)
    repository = projects.repository_at(found, path)
    if not confirm:
        _check_same(project, repo, repository)
    projects.set_path(project, repo, repository.path)
    if projects.repo(projects.get(project), repo) != before:
        events.project(project, "config")
    return details.repo_of(project, repo)


def _check_same(slug: str, name: str, repository: Repository) -> None:
    names = states.stems(slug, name)
    ancestry.forget()  # another repository may have been at this path
    if names and not ancestry.resolve(repository, names):
        raise Conflict(
            f"{ranges.name_text(str(repository.path))} holds no commit that was reviewed in repo "
            f"{name} ({len(names)}); it may be another repository. "
            'Send "confirm": true to use it anyway.',
            code="other_repository",
        )
