"""The index as a whole: rebuilding all rows, one of settings.SVC_INDEXES for `manage.py reindex`,
and the rows of other homes, one of settings.SVC_ELSEWHERE for `manage.py forget`.

Rows of files stay but are checked again: the row of an invalid file has its last good value. Rows
of other homes are left alone; rows of commits belong to no home and are made when needed.
"""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.template.defaultfilters import pluralize

from config.storage import homes, ranges
from review import files, models
from review.stacks import listing


def reindex() -> str:
    """Rebuild the index, and return one line about what it holds now."""
    ours = models.FileRow.objects.filter(homes.adoptable())
    ours.update(stat="")
    models.RepoRow.objects.filter(
        key__startswith=f"{homes.home()}:" if homes.home() else ""
    ).delete()
    for table in (models.CommitRow, models.PatchRow):
        table.objects.all().delete()
    files.MIRROR.scan()
    projects, count = len(listing.project_list()["projects"]), ours.count()
    return f"review: {projects} project{pluralize(projects)}, {count} file{pluralize(count)}"


class Rows:
    """The rows of homes other than this one."""

    def describe_others(self) -> dict[str, str]:
        """By home: how many files it has, as text."""
        counts = _others().order_by().values_list("home").annotate(count=Count("*"))
        return {home: f"{count} file{pluralize(count)} of reviews" for home, count in counts}

    def forget(self, home: str) -> int:
        """Delete the rows of that home; return how many. Its files, wherever they are, stay."""
        count = ranges.delete(_others().filter(home=home))
        return count + ranges.delete(models.RepoRow.objects.filter(key__startswith=f"{home}:"))


def _others() -> QuerySet[models.FileRow]:
    return (
        models.FileRow.objects.exclude(homes.adoptable())
        if homes.home()
        else models.FileRow.objects.none()
    )
