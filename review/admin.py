"""The review part's index tables, for inspection."""

from __future__ import annotations

from django.contrib import admin

from config.web.admin import Inspection, site
from review import models

__all__ = ("site",)  # filled by this module's import


@admin.register(models.FileRow, site=site)
class Files(Inspection):
    list_display = ("key", "error", "error_line", "read_at")
    search_fields = ("key",)


@admin.register(models.CommitRow, site=site)
class Commits(Inspection):
    list_display = ("key",)
    search_fields = ("key",)


@admin.register(models.PatchRow, site=site)
class Patches(Inspection):
    list_display = ("sha", "patch_id", "patch_id_u0", "change_id")
    search_fields = ("sha", "patch_id", "change_id")


@admin.register(models.RepoRow, site=site)
class Repos(Inspection):
    list_display = ("key", "stamp")
    search_fields = ("key",)
