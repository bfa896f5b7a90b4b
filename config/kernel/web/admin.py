"""Django's admin as a window: whoever the guard let in may look at every table, nobody may write.

There is no account row, no login and no log entry; the viewer is made for each request from the
principal that the browser auth mode admitted (design 16).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver

if TYPE_CHECKING:
    Table = admin.ModelAdmin[Model]
else:  # not generic at run time
    Table = admin.ModelAdmin

ACCOUNT_PAGES = frozenset({"login", "logout", "password_change", "password_change_done"})


@dataclass(frozen=True, slots=True)
class Viewer:
    """What the admin's templates and checks ask of a user."""

    username: str
    pk: None = None
    is_active: bool = True
    is_staff: bool = True
    is_authenticated: bool = True

    def get_username(self) -> str:
        return self.username

    get_short_name = get_username

    def has_usable_password(self) -> bool:
        return False

    def has_perm(self, perm: str, obj: object = None) -> bool:
        return perm.rpartition(".")[2].startswith("view_")

    def has_module_perms(self, label: str) -> bool:
        return True


class InspectionSite(admin.AdminSite):
    """The read-only site of all three parts."""

    site_header = site_title = "svc"
    index_title = "Inspection"
    final_catch_all_view = False
    enable_nav_sidebar = False
    index_template = "admin/inspection.html"

    def has_permission(self, request: HttpRequest) -> bool:
        principal = getattr(request, "principal", None)
        request.user = Viewer(getattr(principal, "id", "") or "anonymous")  # type: ignore[assignment]
        return True

    def get_urls(self) -> list[URLResolver | URLPattern]:
        pages: list[Any] = super().get_urls()
        return [page for page in pages if getattr(page, "name", None) not in ACCOUNT_PAGES]

    def get_log_entries(self, request: HttpRequest) -> QuerySet[LogEntry]:
        return LogEntry.objects.none()


class Inspection(Table):
    """A table that can be listed, searched and looked at."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


site = InspectionSite(name="admin")
