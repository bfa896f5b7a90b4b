"""Every row of the review part again: one of settings.SVC_INDEXES, for `manage.py reindex`.

The rows of files stay, only unbelieved: one whose file is broken holds its last good value.
"""

from __future__ import annotations

from review import files, models
from review.stacks import listing


def reindex() -> str:
    """Rebuild, and say in one line what the index holds now."""
    models.FileRow.objects.update(stat="")
    for table in (models.CommitRow, models.PatchRow, models.RepoRow):
        table.objects.all().delete()
    files.MIRROR.scan()
    projects = listing.project_list()["projects"]
    return f"review: {len(projects)} projects, {models.FileRow.objects.count()} files"
