"""The dashboard part's history tables, for inspection."""

from __future__ import annotations

from django.contrib import admin

from config.web.admin import Inspection, site
from dashboard import models

__all__ = ("site",)  # filled when this module is imported


@admin.register(models.Slug, site=site)
class Slugs(Inspection):
    list_display = ("slug", "node", "state", "since", "reason", "observed_id", "removed_at")
    search_fields = ("slug", "observed_id")


@admin.register(models.Sample, site=site)
class Samples(Inspection):
    list_display = ("app", "ts", "state", "ok", "us", "status")
    list_select_related = ("app",)
    search_fields = ("app__slug",)


@admin.register(models.Hour, site=site)
class Hours(Inspection):
    list_display = ("app", "hour", "up", "degraded", "down", "stopped", "unknown", "n", "failed")
    list_select_related = ("app",)
    search_fields = ("app__slug",)


@admin.register(models.Edge, site=site)
class Edges(Inspection):
    list_display = ("app", "ts", "from_state", "to_state", "reason")
    list_select_related = ("app",)
    search_fields = ("app__slug",)
