"""A repo whose repository stands elsewhere now: where, and whether it is the same one."""

from __future__ import annotations

from typing import Any

from config.kernel.errors import Conflict, Invalid
from review import projects
from review.git import ancestry, ranges
from review.git.repository import Repository
from review.stacks import states


def move(slug: str, name: str, path: Any, *, confirm: Any = None) -> bool:
    """Write the new path into project.yaml; whether that changed anything.

    Invalid where no repository is. Conflict, unless `confirm` is true, where it holds none of the
    commits that the repo's files are about.
    """
    if not isinstance(confirm, bool | None):
        raise Invalid('"confirm" must be true or false')
    project = projects.get(slug)
    before = projects.repo(project, name)
    repository = projects.repository_at(project, path)
    if not confirm:
        _check_same(slug, name, repository)
    projects.set_path(slug, name, repository.path)
    return projects.repo(projects.get(slug), name) != before


def _check_same(slug: str, name: str, repository: Repository) -> None:
    names = states.stems(slug, name)
    ancestry.forget()  # another repository may have stood at this path
    if names and not ancestry.resolve(repository, names):
        raise Conflict(
            f"{ranges.named(str(repository.path))} holds no commit that was reviewed in repo "
            f"{name} ({len(names)}); it may be another repository. "
            'Send "confirm": true to use it all the same.',
            code="other_repository",
        )
