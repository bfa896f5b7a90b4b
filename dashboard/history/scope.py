"""Which node's history it is: in a shared database each dashboard reads and writes only its
own."""

from __future__ import annotations

from django.db import connection
from django.db.models import Count, QuerySet
from django.template.defaultfilters import pluralize

from config.process import nodes
from config.storage import ranges
from dashboard.models import Slug

_FIND = f"SELECT * FROM {Slug._meta.db_table} WHERE node = %s AND slug = %s"  # noqa: S608


def here() -> str:
    """The `node` of this dashboard's rows: "" in SQLite, which only has this node."""
    return "" if connection.vendor == "sqlite" else nodes.me()


def mine() -> QuerySet[Slug]:
    """The slugs of this node. Rows that refer to them are this node's as well."""
    return Slug.objects.filter(node=here())


def find(slug: str) -> Slug | None:
    """The Slug row of this node, by raw SQL to save compiling the query each time."""
    return next(iter(Slug.objects.raw(_FIND, [here(), slug])), None)


def adopt() -> None:
    """Take over the rows that a move between SQLite and PostgreSQL, or an upgrade, left without a
    node.

    Each is taken by one node; a slug that already has a history here keeps that.
    """
    node = here()
    left = Slug.objects.filter(node="") if node else Slug.objects.exclude(node="")
    if not node and left.exists():  # the file may also hold those of other nodes
        left = left.filter(node=nodes.me())
    left.exclude(slug__in=mine().order_by().values("slug")).update(node=node)


class Rows:
    """The histories of other nodes: one of settings.SVC_ELSEWHERE, for `manage.py forget`."""

    def describe_others(self) -> dict[str, str]:
        """By node: a text that says how many apps have a history."""
        counts = _others().order_by().values_list("node").annotate(count=Count("*"))
        return {node: f"the history of {count} app{pluralize(count)}" for node, count in counts}

    def forget(self, node: str) -> int:
        """Delete everything of that node. Returns the number of rows."""
        return ranges.delete(_others().filter(node=node))


def _others() -> QuerySet[Slug]:
    return Slug.objects.exclude(node__in=("", here())) if here() else Slug.objects.none()
