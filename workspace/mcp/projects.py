"""The project operations and their tool results."""

from __future__ import annotations

from typing import Any

from config.network import NetworkSetting
from workspace.access import reach
from workspace.access.principals import Agent, Principal
from workspace.engines.network import Network
from workspace.mcp.results import present
from workspace.models import Turn
from workspace.projects import store
from workspace.projects.project import Away, Project


def list_projects(principal: Principal) -> dict[str, Any]:
    """Projects that this caller reaches, broken ones included, and those of other homes."""
    here = store.all_with_taken()
    known = {project.slug for project in here if principal.reaches(project.slug)}
    rows = [_row(project) for project in here if project.slug in known]
    away = [
        _away(one)
        for one in store.elsewhere()
        if one.slug not in known and principal.reaches(one.slug)
    ]
    return present({"count": len(rows), "projects": rows, "elsewhere": away}, "elsewhere")


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


def _network(principal: Principal) -> Network | None:
    """The network a clone may use: that of the calling turn, the instance's for a client, None
    (unlimited) for people."""
    if isinstance(principal, Agent):
        turn = Turn.objects.filter(id=principal.turn).first()
        return reach.network(store.get(principal.project).network, turn.network if turn else "")
    return None if principal.kind in ("user", "system") else reach.network(NetworkSetting())


def create_project(
    principal: Principal,
    *,
    name: str,
    slug: str | None = None,
    area: str | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Make a project. Its future slug must be in the caller's scope."""
    principal.check_project("create_project", store.creation_slug(name=name, slug=slug))
    over_mcp = bool(principal.clients)
    project = store.create(
        principal=principal, name=name, slug=slug, group=area, over_mcp=over_mcp,
        network=_network(principal), **given,
    )  # fmt: skip
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
