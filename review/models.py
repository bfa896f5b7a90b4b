"""Index tables of the review part, all rebuildable: files and git hold the truth."""

from __future__ import annotations

from django.db import models

from config.storage import homes


class FileRow(models.Model):
    """One YAML file as last read: project.yaml, a review file or a PR file.

    `key` is its path below the projects directory, `data` its last good value with every scalar as
    text.
    """

    key = models.CharField(max_length=700, primary_key=True)
    path = models.TextField()
    stat = models.CharField(max_length=80)  # "mtime_ns:size:inode", compared with the file
    etag = models.CharField(max_length=64)
    data = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    error_line = models.IntegerField(null=True)
    read_at = models.DateTimeField(auto_now=True)
    home = models.CharField(max_length=homes.LENGTH, blank=True, default=homes.home)

    class Meta:
        ordering = ("key",)

    def __str__(self) -> str:
        return self.key


class CommitRow(models.Model):
    """One commit against one parent: metadata, counts and its raw list of files. `key` is the
    repository's key for the commit (`Repository.key`), a colon, and the parent's sha or nothing."""

    key = models.CharField(max_length=130, primary_key=True)
    data = models.JSONField()
    used = models.DateField(null=True, db_index=True)  # accurate to a week (review/git/used.py)

    class Meta:
        ordering = ("key",)

    def __str__(self) -> str:
        return self.key


class PatchRow(models.Model):
    """What identifies a commit after a rebase: patch ids, change id, hashes of changed lines. `sha`
    is the repository's key for the commit (`Repository.key`)."""

    sha = models.CharField(max_length=64, primary_key=True)
    patch_id = models.CharField(max_length=64, blank=True, db_index=True)
    patch_id_u0 = models.CharField(max_length=64, blank=True, db_index=True)
    change_id = models.TextField(blank=True)
    lines = models.JSONField(default=dict)  # {hashes of path and changed line: how often}
    used = models.DateField(null=True, db_index=True)

    class Meta:
        ordering = ("sha",)

    def __str__(self) -> str:
        return self.sha


class RepoRow(models.Model):
    """One repo of one project as last assembled, as the project list shows it."""

    key = models.CharField(max_length=240, primary_key=True)  # "[<home>:]<slug>/<repo name>"
    stamp = models.CharField(max_length=64)  # hash of everything the summary was made from
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("key",)

    def __str__(self) -> str:
        return self.key
