"""The HTML pages of the workspace: only shells, addressed by project and chat.

A page of a project or chat that does not exist is a 404 in the same shell. A page's script gets
its content from the JSON API.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse

from config.web.pages import Crumb, or_missing, page
from workspace import demo
from workspace.access import reach
from workspace.chats import index
from workspace.projects import store
from workspace.projects.project import Project

HOME: Crumb = ("Workspace", "/")
LATEST = "limit=100&turns=1"  # query for messages of a chat, as in its script


def _missing(request: HttpRequest, why: str) -> HttpResponse:
    return page(
        request,
        "errors/missing.html",
        part="main",
        title="Nothing here",
        crumbs=[HOME],
        data={"why": why},
        status=404,
    )


def home(request: HttpRequest) -> HttpResponse:
    return _page(request, "home", title="Workspace", crumbs=[HOME], preload=["/api/now"])


def runs(request: HttpRequest) -> HttpResponse:
    return _page(request, "runs", title="Runs", crumbs=[HOME, ("Runs", "/runs")])


def search(request: HttpRequest) -> HttpResponse:
    return _page(request, "search", title="Search", crumbs=[HOME, ("Search", "/search")])


def audit(request: HttpRequest) -> HttpResponse:
    return _page(request, "audit", title="Audit", crumbs=[HOME, ("Audit", "/audit")])


def clients(request: HttpRequest) -> HttpResponse:
    return _page(request, "clients", title="Clients", crumbs=[HOME, ("Clients", "/clients")])


def instance(request: HttpRequest) -> HttpResponse:
    """The page of the instance's settings."""
    return _page(request, "instance", title="Settings", crumbs=[HOME, ("Settings", "/settings")])


@or_missing(_missing)
def project(request: HttpRequest, *, slug: str) -> HttpResponse:
    return _project_page(request, "project", slug, "")


@or_missing(_missing)
def chats(request: HttpRequest, *, slug: str) -> HttpResponse:
    return _project_page(request, "chat", slug, "Chats")


@or_missing(_missing)
def triggers(request: HttpRequest, *, slug: str) -> HttpResponse:
    return _project_page(request, "triggers", slug, "Triggers", {"nightly": demo.NIGHTLY})


@or_missing(_missing)
def project_runs(request: HttpRequest, *, slug: str) -> HttpResponse:
    return _project_page(request, "runs", slug, "Runs")


@or_missing(_missing)
def settings(request: HttpRequest, *, slug: str) -> HttpResponse:
    return _project_page(request, "settings", slug, "Settings")


@or_missing(_missing)
def chat(request: HttpRequest, *, slug: str, session_id: str) -> HttpResponse:
    found = store.get(slug)
    name = index.get(found, session_id).name
    crumbs = [HOME, (found.name, f"/projects/{slug}"), (name, request.path)]
    data = {"project": slug, "chat": session_id, "root": str(found.working_dir)}
    api = f"/api/projects/{slug}"
    here = f"{api}/chats/{session_id}"
    box = ["/api/engines", f"/api/models?project={slug}"]  # shown above the message
    first = [api, here, f"{here}/messages?{LATEST}", *box]
    return _page(
        request, "chat", title=name, crumbs=crumbs, data=data, project=found, preload=first
    )


def missing(request: HttpRequest, **_where: str) -> HttpResponse:
    """The page for any other address that a browser navigates to."""
    return _missing(request, f"There is no page at {request.path}.")


def _project_page(
    request: HttpRequest, name: str, slug: str, section: str, data: dict[str, str] | None = None
) -> HttpResponse:
    found = store.get(slug)
    crumbs = [HOME, (found.name, f"/projects/{slug}")]
    if section:
        crumbs.append((section, request.path))
    title = f"{section} · {found.name}" if section else found.name
    data = {"project": slug, "root": str(found.working_dir), **(data or {})}
    return _page(request, name, title=title, crumbs=crumbs, data=data, project=found)


def _page(
    request: HttpRequest,
    name: str,
    *,
    title: str,
    crumbs: list[Crumb],
    data: dict[str, str] | None = None,
    project: Project | None = None,
    preload: Sequence[str] = (),
) -> HttpResponse:
    open_wide = project is not None and reach.on_host(project.network)
    return page(
        request,
        f"workspace/{name}.html",
        part="main",
        title=title,
        crumbs=crumbs,
        data=data,
        warnings=[reach.host_warning("this project")] if open_wide else [],
        preload=preload,
    )
