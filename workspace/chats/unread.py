"""What a person has not seen: a turn that ended or a message that is not a person's, since a page
showed the chat last.

Kept as `readTo` in the record of the chat, a byte of its transcript: a file, because it is the
reader's, and in the one place that moves with the chat. All who are admitted share one
state, as there are no roles. Archived chats are never unread.
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
    """The chat was read up to a byte, or whole: its row, and whether that was news. Never back.

    NotFound without such a chat; Conflict when its record may only be read."""
    row = index.get(project, session_id)
    end = row.offset if offset is None else min(offset, row.offset)
    if not row.unread:
        return row, False
    changed = files.set_read(project, session_id, end)[1]
    return index.get(project, session_id), changed


def mark_all(among: Iterable[Project]) -> int:
    """Every unread chat of these projects counts as read; how many that were."""
    unread = [(one, row.id) for one in among for row in index.entries(one) if row.unread]
    return sum(_marked(project, chat) for project, chat in unread)


def _marked(project: Project, session_id: str) -> bool:
    """One chat among many: one that went, or may only be read, does not stop the others."""
    try:
        return mark(project=project, session_id=session_id)[1]
    except (Conflict, NotFound):
        return False


def counts() -> Mapping[str, int]:
    """Unread chats by project of this home, from the index alone; only projects that have some."""
    unread = Chat.objects.filter(unread=True).exclude(project__in=store.others().values("slug"))
    rows = unread.order_by().values_list("project")
    return dict(rows.annotate(Count("pk")).order_by("project"))
