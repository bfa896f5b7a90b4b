"""Rebuild the whole index from files, one of settings.SVC_INDEXES for `manage.py reindex`; and the
rows of other homes, one of settings.SVC_ELSEWHERE for `manage.py forget`.

Rows of projects are kept and marked as outdated: the row of a broken file has its last valid
content. Rows of other homes are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Model
from django.template.defaultfilters import pluralize
from django_q.models import OrmQ

from config.storage import homes, ranges
from workspace import models
from workspace.background import watcher
from workspace.chats.search import indexing
from workspace.chats.turns import delivery
from workspace.notify import tables
from workspace.projects import store
from workspace.triggers import runs

TABLES: tuple[type[Model], ...] = (
    models.Turn, models.Run, models.AuditEntry, models.TriggerState, tables.NotifyDelivery,
    tables.NotifyMessage, tables.NotifyCause, tables.NotifyChannel,
)  # fmt: skip


def reindex() -> str:
    """Rebuild the index; return one line about what it has now."""
    ours = models.Project.objects.filter(homes.adoptable())
    others = store.others()
    ours.update(stat="")
    models.Chat.objects.exclude(project__in=others.values("slug")).delete()
    watcher.reindex()
    indexing.catch_up_all(store.all())
    chats = models.Chat.objects.exclude(project__in=others.values("slug"))
    projects, talks = ours.count(), chats.count()
    return f"workspace: {projects} project{pluralize(projects)}, {talks} chat{pluralize(talks)}"


class Rows:
    """The workspace's rows of other homes."""

    def describe_others(self) -> dict[str, str]:
        """Home -> its projects, in words; also homes of which only runs or calls are left."""
        found: dict[str, list[str]] = {home: [] for table in TABLES for home in _homes(table)}
        for home, slug in store.others().values_list("home", "slug"):
            found.setdefault(home, []).append(slug)
        return {
            home: f"{len(slugs)} project{pluralize(len(slugs))}{_names(slugs)}"
            for home, slugs in found.items()
        }

    def forget(self, home: str) -> int:
        """Delete all rows of that home; return how many. Its files, wherever they are, stay."""
        slugs = list(store.others().filter(home=home).values_list("slug", flat=True))
        count = sum(ranges.delete(table._default_manager.filter(home=home)) for table in TABLES)
        for table in (models.Chat, models.InvalidEntry):
            count += ranges.delete(table._default_manager.filter(project__in=slugs))
        queues = [homes.queue(name, home) for name in (runs.QUEUE, delivery.QUEUE)]
        count += ranges.delete(OrmQ.objects.filter(key__in=queues))
        return count + ranges.delete(store.others().filter(home=home))


def _homes(table: type[Model]) -> Iterable[str]:
    """The other homes that rows of the table name."""
    if not homes.home():
        return []
    rows = table._default_manager.exclude(homes.adoptable()).order_by()
    return rows.values_list("home", flat=True).distinct()


def _names(slugs: list[str]) -> str:
    return f" ({', '.join(sorted(slugs)[:10])}{', …' if len(slugs) > 10 else ''})" if slugs else ""
