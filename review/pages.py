"""The pages of the review part. Their scripts are clients of its JSON API.

No page waits for git: the API says whether a commit is in the range of its repo.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from config.errors import NotFound
from config.jsonio import visible
from config.web.pages import Crumb, or_missing, page
from review import files, projects

SHA = re.compile(r"[0-9a-fA-F]{4,64}")
POSITION = re.compile(r"[1-9][0-9]{0,3}")
CHANGES = "Not committed"
SHOWN = 7  # characters of a sha in titles and breadcrumbs
FIRST = "rendered=40&contents=8"  # of a commit, as its script asks for it: see commit.js


def _missing(request: HttpRequest, why: str) -> HttpResponse:
    return page(
        request,
        "errors/missing.html",
        part="review",
        title="Nothing here",
        crumbs=[home(request)],
        data={"base": base(request), "why": why},
        status=404,
    )


def start(request: HttpRequest) -> HttpResponse:
    """Every project under review."""
    first = [_api(request, "projects")]
    return _page(request, "start", title="Review", crumbs=[home(request)], preload=first)


@or_missing(_missing)
def project(request: HttpRequest, *, project: str) -> HttpResponse:
    """The stacks of one project."""
    found = projects.get(project)
    name = visible(found.title)
    crumbs = [home(request), (name, request.path)]
    first = [f"{_api(request, 'projects', project)}?html=1"]
    return _page(request, "project", title=name, crumbs=crumbs, preload=first, project=project)


@or_missing(_missing)
def commit(request: HttpRequest, *, project: str, repo: str, sha: str) -> HttpResponse:
    """One commit: its diff and its review. The same page also shows the project's other commits."""
    found = projects.get(project)
    projects.repo(found, repo)
    if not SHA.fullmatch(sha):
        raise NotFound(f"{sha} is not the sha of a commit.")
    short = sha[:SHOWN]
    name = visible(found.title)
    crumbs = [home(request), (name, f"{base(request)}/p/{project}"), (short, request.path)]
    title = f"{short} · {name}"
    roots = {one.name: _work_tree(one.path) for one in found.repos if not one.errors}
    where = {"project": project, "repo": repo, "sha": sha, "roots": json.dumps(roots)}
    here = _api(request, "projects", project, "repos", repo, "commits", sha)
    own = (f"?{FIRST}", "/versions", "/drafts?html=1")
    first = [*(here + below for below in own), _api(request, "projects", project)]
    return _page(request, "commit", title=title, crumbs=crumbs, preload=first, **where)


@or_missing(_missing)
def stack(request: HttpRequest, *, project: str, repo: str, n: str) -> HttpResponse:
    """A stack as one diff."""
    found = projects.get(project)
    entry = projects.repo(found, repo)
    if not POSITION.fullmatch(n):
        raise NotFound(f"{n} is not the position of a stack.")
    name, here = visible(found.title), f"Stack {n}"
    crumbs = [home(request), (name, f"{base(request)}/p/{project}"), (here, request.path)]
    where = {"project": project, "repo": repo, "stack": n, "root": _work_tree(entry.path)}
    return _page(request, "stack", title=f"{here} · {name}", crumbs=crumbs, **where)


@or_missing(_missing)
def changes(request: HttpRequest, *, project: str, repo: str) -> HttpResponse:
    """What is not committed in one repository."""
    found = projects.get(project)
    entry = projects.repo(found, repo)
    name = visible(found.title)
    crumbs = [home(request), (name, f"{base(request)}/p/{project}"), (CHANGES, request.path)]
    where = {
        "project": project,
        "repo": repo,
        "sha": files.WORKTREE,
        "root": _work_tree(entry.path),
    }
    return _page(request, "changes", title=f"{CHANGES} · {name}", crumbs=crumbs, **where)


def missing(request: HttpRequest, **_where: str) -> HttpResponse:
    """Any other address a browser navigates to."""
    return _missing(request, f"There is no page at {request.path}.")


def base(request: HttpRequest) -> str:
    """The prefix of every address of this part: "/review" on the main port, else ""."""
    found: str = request.META.get("SCRIPT_NAME", "")
    return found


def home(request: HttpRequest) -> Crumb:
    return ("Review", f"{base(request)}/")


def _work_tree(path: Path) -> str:
    """The directory whose files an editor can open; "" for a bare repository."""
    return str(path) if os.path.lexists(path / ".git") else ""


def _api(request: HttpRequest, *parts: str) -> str:
    """The address of an API route, spelled as the scripts do (js/review/route.js)."""
    return "/".join([f"{base(request)}/api", *(quote(part, safe="!'()*~") for part in parts)])


def _page(
    request: HttpRequest,
    name: str,
    *,
    title: str,
    crumbs: list[Crumb],
    preload: Sequence[str] = (),
    **where: str,
) -> HttpResponse:
    data = {"base": base(request), "home": str(Path.home()), **where}
    return page(
        request,
        f"review/{name}.html",
        part="review",
        title=title,
        crumbs=crumbs,
        data=data,
        preload=preload,
    )
