"""The messages of a project whose folder was renamed by hand follow its chats.

A row names its project. Once no folder has that name any more, what waits could never run, and no
page would show it.
"""

from __future__ import annotations

from config.storage import homes
from workspace import trash
from workspace.chats import files
from workspace.chats.turns.delivery import announce
from workspace.chats.turns.states import BUSY, WAITING
from workspace.models import Turn
from workspace.projects import store
from workspace.projects.project import Project


def follow() -> int:
    """Give the rows of chats with unfinished turns to the project whose folder has the chat now, if
    their own is gone and not in the trash. Return how many rows were moved."""
    left = Turn.objects.filter(homes.mine(), state__in=(*BUSY, *WAITING)).order_by()
    gone = {*left.values_list("project", flat=True).distinct()}.difference(store.slugs())
    if gone:
        gone -= {one.slug for one in trash.listing()}
    moved = sum(_take(project, gone) for project in store.all()) if gone else 0
    if moved:
        announce()
    return moved


def _take(project: Project, gone: set[str]) -> int:
    """Give the project the rows of its chats. A chat that has rows here already is a copy."""
    rows = Turn.objects.filter(homes.mine(), project__in=gone)
    chats = {*rows.filter(state__in=(*BUSY, *WAITING)).values_list("chat", flat=True)}
    chats &= {*files.session_ids(project)}
    here = Turn.objects.filter(project=project.slug, chat__in=chats)
    chats -= {*here.values_list("chat", flat=True)}
    return rows.filter(chat__in=chats).update(project=project.slug)
