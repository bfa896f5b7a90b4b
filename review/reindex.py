"""The index as a whole: every row again, one of settings.SVC_INDEXES for `manage.py reindex`, and
what other homes have, one of settings.SVC_ELSEWHERE for `manage.py forget`.

The rows of files stay, only unbelieved: one whose file is broken holds its last good value. What
belongs to another home is left alone; rows of commits belong to none and are made when needed.
"""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.template.defaultfilters import pluralize

from config.storage import homes, ranges
from review import files, models
from review.stacks import listing


def reindex() -> str:
    """Rebuild, and say in one line what the index holds now."""
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
    """What the review part knows of homes that are not this one's."""

    def found(self) -> dict[str, str]:
        """By home: its files, in words."""
        counts = _others().order_by().values_list("home").annotate(count=Count("*"))
        return {home: f"{count} file{pluralize(count)} of reviews" for home, count in counts}

    def forget(self, home: str) -> int:
        """Everything of that home; how many rows. Its files, wherever they are, stay."""
        count = ranges.delete(_others().filter(home=home))
        return count + ranges.delete(models.RepoRow.objects.filter(key__startswith=f"{home}:"))


def _others() -> QuerySet[models.FileRow]:
    return (
        models.FileRow.objects.exclude(homes.adoptable())
        if homes.home()
        else models.FileRow.objects.none()
    )
