"""A person's consent to use the servers of one `.mcp.json`, given for exactly its bytes.

It is kept in the projects directory outside of every project, where no sandbox shows it, so that an
agent cannot write it. Any other content needs a new consent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import orjson
from django.conf import settings

from config.errors import Conflict, Denied, NotFound
from config.storage import files, homes, opening
from workspace.access.principals import Principal
from workspace.projects.project import Project
from workspace.servers import mcpfile

LIMIT = 4096
NOT_A_PERSON = "only a person may let a project's own servers be used, in the project's settings"


def agreed_sha256(project: Project) -> str:
    """The sha256 of the content that a person agreed to; "" if there is none."""
    try:
        kept = orjson.loads(opening.contents(_path(project), limit=LIMIT))
        return str(kept["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def give(project: Project, sha256: str, *, principal: Principal) -> None:
    """Consent to the servers of this content. Conflict if the file has changed since, NotFound if
    it is gone, Denied unless the caller is a person."""
    _need_person(principal)
    found = mcpfile.read(project)
    if found is None:
        raise NotFound(f"{project.slug} has no {mcpfile.NAME} any more")
    if found.error:
        raise Conflict(f"{mcpfile.NAME} {found.error}")
    if found.sha256 != sha256:
        text = f"{mcpfile.NAME} has changed since it was shown; look at it again"
        raise Conflict(text, code="stale")
    kept = {"sha256": sha256, "by": principal.id, "at": datetime.now(UTC).isoformat()}
    path = _path(project)
    with files.writing(path.name):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write(path, orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE))


def withdraw(project: Project, *, principal: Principal) -> None:
    """Withdraw the consent: none of the servers is used any more. Denied like `give`."""
    _need_person(principal)
    if _path(project).exists():
        files.change(_path(project), lambda _now: None)


def _need_person(principal: Principal) -> None:
    if principal.kind != "user":
        raise Denied(NOT_A_PERSON)


def _path(project: Project) -> Path:
    return Path(settings.PROJECTS_DIR) / homes.FOLDER / "servers" / f"{project.slug}.json"
