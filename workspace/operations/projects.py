"""The project operations and their tool results (workspace.md 7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workspace import projects
from workspace.access.principals import Principal
from workspace.operations.results import present
from workspace.project import Away, Project


@dataclass(frozen=True, slots=True)
class Listing:
    """The projects with a directory here, and those that live in other homes, by slug."""

    here: list[Project]
    elsewhere: list[Away]


def list_projects(principal: Principal) -> Listing:
    """Every project this caller reaches; broken ones too."""
    here = [project for project in projects.listed() if principal.reaches(project.slug)]
    known = {project.slug for project in here}
    away = [one for one in projects.elsewhere() if one.slug not in known]
    return Listing(here, [one for one in away if principal.reaches(one.slug)])


def create_project(
    principal: Principal,
    *,
    name: str,
    slug: str | None = None,
    repo: str | None = None,
    summary: str | None = None,
    area: str | None = None,
    status: str | None = None,
) -> Project:
    """Make a project. The slug it is about to have must be in the caller's scope."""
    principal.check_project("create_project", projects.creation_slug(name=name, slug=slug))
    return projects.create(
        principal=principal,
        name=name,
        slug=slug,
        repo=repo,
        summary=summary,
        group=area,
        status=status,
        over_mcp=bool(principal.clients),
    )


def listed(found: Listing) -> dict[str, Any]:
    rows = [_row(project) for project in found.here]
    shown = {"count": len(rows), "projects": rows, "elsewhere": [*map(_away, found.elsewhere)]}
    return present(shown, "elsewhere")


def _away(one: Away) -> dict[str, Any]:
    shown = {"slug": one.slug, "name": one.name, "node": one.node, "url": one.url}
    return present(shown, "node", "url") | {"alive": one.alive}


def _row(project: Project) -> dict[str, Any]:
    row = {
        "slug": project.slug,
        "name": project.name,
        "area": project.group,
        "status": project.status,
        "error": project.error,
    }
    return present(row, "area", "error")


def created(project: Project) -> dict[str, Any]:
    result = {
        "created": True,
        "slug": project.slug,
        "name": project.name,
        "status": project.status,
        "area": project.group,
        "dir": str(project.dir),
        "workingDir": str(project.working_dir),
        "repoBacked": project.repo_backed,
        "repo": project.repo,
    }
    return present(result, "area", "repo")
