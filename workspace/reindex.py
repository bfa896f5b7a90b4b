"""Every index row from its files again: one of settings.SVC_INDEXES, for `manage.py reindex`.

The rows of projects stay, only unbelieved: one whose file is broken holds its last good value.
"""

from __future__ import annotations

from workspace import background, models, projects
from workspace.chats.search import indexing


def reindex() -> str:
    """Rebuild, and say in one line what the index holds now."""
    models.Project.objects.update(stat="")
    models.Chat.objects.all().delete()
    background.reindex()
    indexing.catch_up_all(projects.all())
    count = models.Project.objects.count(), models.Chat.objects.count()
    return f"workspace: {count[0]} projects, {count[1]} chats"
