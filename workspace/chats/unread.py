"""What a person has not seen: turns that ended and messages from others, since a page last showed
the chat.

Kept as `readTo` in the record of the chat, a byte offset of its transcript: in a file, because it
belongs to the reader, and in the record, because that moves with the chat. All who are admitted
share one state, as there are no roles. Archived chats are never unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Count

from config.errors import Conflict, NotFound
from workspace.chats import files, index
from workspace.models import Chat
from workspace.projects import store
from workspace.projects.project import Project


def mark(*, project: Project, session_id: str, offset: int | None = None) -> tuple[Chat, bool]:
    """Mark the chat as read up to a byte, or completely; the position never moves back. Return its
    row, and whether the position changed.

    NotFound if there is no such chat; Conflict if its record is read-only."""
    row = index.get(project, session_id)
    end = row.offset if offset is None else min(offset, row.offset)
    if not row.unread:
        return row, False
    changed = files.set_read(project, session_id, end)[1]
    return index.get(project, session_id), changed


def mark_all(among: Iterable[Project]) -> int:
    """Mark every unread chat of these projects as read. Return how many that were."""
    unread = [(one, row.id) for one in among for row in index.entries(one) if row.unread]
    return sum(_mark_one(project, chat) for project, chat in unread)


def _mark_one(project: Project, session_id: str) -> bool:
    """Mark one of many chats; one that is gone or read-only does not stop the others."""
    try:
        return mark(project=project, session_id=session_id)[1]
    except (Conflict, NotFound):
        return False


def counts() -> Mapping[str, int]:
    """Unread chats by project of this home, from the index alone; only projects that have some."""
    unread = Chat.objects.filter(unread=True).exclude(project__in=store.others().values("slug"))
    rows = unread.order_by().values_list("project")
    return dict(rows.annotate(Count("pk")).order_by("project"))
