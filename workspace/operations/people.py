"""What people do and no agent's tool does: the operations behind REST routes alone.

The catalogue of the specification is closed (2.3, 5.6.4), so none of these is granted to a client
or a turn, whatever its scope says (access/policy.py). `render` makes the JSON answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.kernel.logs import timestamp
from config.kernel.mcp.operations import Operation
from workspace import cloning, projects
from workspace.access.policy import PEOPLE
from workspace.access.principals import Principal
from workspace.chats import attachments, export, trash, unread
from workspace.chats.attachments import Attachment
from workspace.chats.search import search
from workspace.chats.search.search import Hits
from workspace.chats.trash import Deleted
from workspace.cloning import Clone
from workspace.models import Chat
from workspace.project import Project
from workspace.triggers import pausing


def mark_read(
    principal: Principal, *, project: str, session_id: str, offset: int | None = None
) -> tuple[Chat, bool]:
    return unread.mark(project=projects.get(project), session_id=session_id, offset=offset)


def _read(done: tuple[Chat, bool]) -> dict[str, Any]:
    row, changed = done
    return {"ok": True, "unread": row.unread, "changed": changed}


def mark_all_read(principal: Principal, *, project: str | None = None) -> int:
    return unread.mark_all(projects.all() if project is None else [projects.get(project)])


def _all_read(changed: int) -> dict[str, Any]:
    return {"ok": True, "changed": changed}


def count_unread(principal: Principal) -> Mapping[str, int]:
    return unread.counts()


def _counted(found: Mapping[str, int]) -> dict[str, Any]:
    rows = [{"slug": slug, "unread": count} for slug, count in found.items()]
    return {"unread": sum(found.values()), "projects": rows}


def delete_chat(principal: Principal, *, project: str, session_id: str) -> Deleted:
    return trash.delete(project=projects.get(project), session_id=session_id)


def _deleted(done: Deleted) -> dict[str, Any]:
    return {"ok": True, "sessionId": done.session_id, "deletedAt": timestamp(done.deleted)}


def restore_chat(principal: Principal, *, project: str, session_id: str) -> Chat:
    return trash.restore(project=projects.get(project), session_id=session_id)


def _restored(row: Chat) -> dict[str, Any]:
    return {"ok": True, "sessionId": row.id}


def list_trash(principal: Principal, *, project: str) -> list[Deleted]:
    return trash.listing(projects.get(project))


def _trashed(found: list[Deleted]) -> dict[str, Any]:
    rows = [
        {
            "sessionId": one.session_id,
            "name": one.name,
            "createdAt": one.created or None,
            "deletedAt": timestamp(one.deleted),
        }
        for one in found
    ]
    return {"chats": rows}


def export_chat(
    principal: Principal, *, project: str, session_id: str, form: export.Format
) -> export.Export:
    return export.export(project=projects.get(project), session_id=session_id, form=form)


def _exported(done: export.Export) -> dict[str, Any]:
    return {"name": done.name, "type": done.type, "pieces": done.pieces}


def pause_triggers(principal: Principal, *, project: str, paused: bool) -> tuple[Project, bool]:
    changed = pausing.pause(projects.get(project), paused=paused)
    return projects.get(project), changed


def _paused(done: tuple[Project, bool]) -> dict[str, Any]:
    pause = pausing.of(done[0])
    return {"ok": True, "paused": pause.wire() if pause else None, "changed": done[1]}


def pause_all_triggers(principal: Principal, *, paused: bool) -> bool:
    return pausing.pause_instance(paused=paused)


def _all_paused(changed: bool) -> dict[str, Any]:
    return {"ok": True, "changed": changed} | _pauses(projects.all())


def show_pauses(principal: Principal) -> list[Project]:
    return projects.all()


def _pauses(among: list[Project]) -> dict[str, Any]:
    everywhere = pausing.of_instance()
    own = {project.slug: pausing.of_data(project.data) for project in among}
    rows = [{"slug": slug, "since": pause.since} for slug, pause in own.items() if pause]
    return {"paused": everywhere.wire() if everywhere else None, "projects": rows}


def search_chats(
    principal: Principal, *, project: str | None, q: str, limit: int, before: int | None = None
) -> Hits:
    among = projects.all() if project is None else [projects.get(project)]
    return search.search(among, q, only=project, limit=limit, before=before)


def add_attachment(principal: Principal, *, project: str, name: str, data: bytes) -> Attachment:
    return attachments.add(project=projects.get(project), name=name, data=data)


def _attached(done: Attachment) -> dict[str, Any]:
    return {
        "path": done.path,
        "name": done.name,
        "type": done.type,
        "size": done.size,
        "url": done.url,
        "created": done.created,
    }


def get_attachment(principal: Principal, *, project: str, name: str) -> tuple[Attachment, bytes]:
    return attachments.get(project=projects.get(project), name=name)


def _got(found: tuple[Attachment, bytes]) -> dict[str, Any]:
    return {"type": found[0].type, "data": found[1]}


def list_clones(principal: Principal) -> list[Clone]:
    return cloning.running()


def _clones(found: list[Clone]) -> dict[str, Any]:
    rows = [
        {
            "slug": clone.slug,
            "name": clone.name,
            "step": clone.step or None,
            "percent": clone.percent,
            "startedAt": timestamp(clone.began),
        }
        for clone in found
    ]
    return {"clones": rows}


def stop_clone(principal: Principal, *, slug: str) -> str:
    cloning.stop(slug)
    return slug


OPERATIONS = (
    Operation(
        name="mark_read",
        group=PEOPLE,
        description="A person has read a chat, whole or up to an offset.",
        run=mark_read,
        render=_read,
    ),
    Operation(
        name="mark_all_read",
        group=PEOPLE,
        description="A person has read every chat of a project, or of all.",
        run=mark_all_read,
        render=_all_read,
        project_argument=None,
    ),
    Operation(
        name="count_unread",
        group=PEOPLE,
        description="Chats that hold something unseen, by project.",
        run=count_unread,
        render=_counted,
        read_only=True,
        project_argument=None,
    ),
    Operation(
        name="delete_chat",
        group=PEOPLE,
        description="Move a chat to the trash of its project.",
        run=delete_chat,
        render=_deleted,
        destructive=True,
    ),
    Operation(
        name="restore_chat",
        group=PEOPLE,
        description="Take a chat back from the trash.",
        run=restore_chat,
        render=_restored,
    ),
    Operation(
        name="list_trash",
        group=PEOPLE,
        description="Deleted chats of a project.",
        run=list_trash,
        render=_trashed,
        read_only=True,
    ),
    Operation(
        name="export_chat",
        group=PEOPLE,
        description="A chat as Markdown or JSON lines.",
        run=export_chat,
        render=_exported,
        read_only=True,
    ),
    Operation(
        name="add_attachment",
        group=PEOPLE,
        description="Keep a file for the agents of a project.",
        run=add_attachment,
        render=_attached,
    ),
    Operation(
        name="get_attachment",
        group=PEOPLE,
        description="A file that was attached.",
        run=get_attachment,
        render=_got,
        read_only=True,
    ),
    Operation(
        name="search_chats",
        group=PEOPLE,
        description="Messages that hold some words.",
        run=search_chats,
        render=search.wire,
        read_only=True,
    ),
    Operation(
        name="pause_triggers",
        group=PEOPLE,
        description="Hold every trigger of a project, or let them go on.",
        run=pause_triggers,
        render=_paused,
    ),
    Operation(
        name="pause_all_triggers",
        group=PEOPLE,
        description="Hold every trigger of the instance, or let them go on.",
        run=pause_all_triggers,
        render=_all_paused,
        project_argument=None,
    ),
    Operation(
        name="show_pauses",
        group=PEOPLE,
        description="What holds triggers back.",
        run=show_pauses,
        render=_pauses,
        read_only=True,
        project_argument=None,
    ),
    Operation(
        name="list_clones",
        group=PEOPLE,
        description="Repositories that are being cloned into new projects, and how far they are.",
        run=list_clones,
        render=_clones,
        read_only=True,
        project_argument=None,
    ),
    Operation(
        name="stop_clone",
        group=PEOPLE,
        description="End a clone; nothing of it stays.",
        run=stop_clone,
        render=lambda slug: {"ok": True, "slug": slug},
        project_argument=None,
    ),
)
