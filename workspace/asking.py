"""The interface of chats for other parts (config/web/asking.py): which projects have agents that
work in a directory, and sending a message to one on behalf of the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from config.errors import Conflict, Invalid
from config.web.asking import Desk, OpenChat, Wish
from workspace.access.principals import User
from workspace.chats import actions, listing
from workspace.models import Chat
from workspace.projects import schema, store
from workspace.projects.project import Project
from workspace.worktrees import place

CHATS = 8  # newest chats shown of a project
NAMES = 50  # names tried for a new project


def desks(folders: Sequence[Path]) -> list[Desk]:
    """Nearest first: a project that works in exactly the directory is before one above it."""
    found = []
    for project in store.all():
        where = project.place
        depth = max((_depth(where.dir, folder) for folder in folders), default=0)
        if depth and not where.problem and not project.error:
            found.append((-depth, project.slug, project))
    return [_desk(project) for _, _, project in sorted(found, key=lambda one: one[:2])]


def send(principal: Any, wish: Wish, message: str, name: str) -> tuple[str, str, str]:
    """Continue the chat, or start one; without a project, make one that works in the folder."""
    person = principal if isinstance(principal, User) else User()
    if wish.project is None and wish.folder is None:
        raise Invalid("Say in which project the agent is to work, or that one is to be made")
    project = store.get(wish.project) if wish.project else _make(person, wish.folder)
    if wish.chat is not None:
        chat = wish.chat
        actions.send(principal=person, project=project, session_id=chat, prompt=message)
    else:
        chat = actions.create(principal=person, project=project, prompt=message, name=name).chat.id
    return project.slug, chat, f"/projects/{project.slug}/chats/{chat}"


def _depth(place: Path, folder: Path) -> int:
    """Depth of `place` if `folder` is in it or is it, else 0: deeper is nearer."""
    return len(place.parts) if folder.is_relative_to(place) else 0


def _desk(project: Project) -> Desk:
    rows = listing.listing([project], limit=CHATS).rows
    chats: list[OpenChat] = [_open(row) for row in rows]
    return {
        "project": project.slug,
        "name": project.name,
        "directory": str(project.working_dir),
        "chats": chats,
    }


def _open(row: Chat) -> OpenChat:
    found: OpenChat = {"id": row.id, "name": row.name or row.id}
    if tree := place.of_file(row.id, row.record):
        found["branch"] = tree.branch
    return found


def _make(person: User, folder: Path | None) -> Project:
    """A new project that works in the directory and has its name, with a number if taken."""
    assert folder is not None
    base = schema.derive_slug(folder.name)
    for number in range(1, NAMES):
        slug = base if number == 1 else f"{base}-{number}"
        try:
            return store.create(principal=person, name=folder.name, slug=slug, path=str(folder))
        except Conflict as error:
            if error.code != "exists":
                raise
    raise Conflict(f"There are {NAMES} projects called {base} already", code="exists")
