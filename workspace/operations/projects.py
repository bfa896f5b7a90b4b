"""The project operations and their tool results (workspace.md 7.2)."""

from __future__ import annotations

from typing import Any

from workspace import projects
from workspace.access.principals import Principal
from workspace.operations.results import present
from workspace.project import Project


def list_projects(principal: Principal) -> list[Project]:
    """Every project this caller reaches, by slug; broken ones too."""
    return [project for project in projects.all() if principal.reaches(project.slug)]


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
        over_mcp=principal.kind == "client",
    )


def listed(found: list[Project]) -> dict[str, Any]:
    return {"count": len(found), "projects": [_row(project) for project in found]}


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
