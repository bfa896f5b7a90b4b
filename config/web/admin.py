"""Django's admin, read-only: every caller that the guard admits may see every table.

There is no account row, no login and no log entry; each request gets a viewer made from the
principal that the browser auth mode admitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver
from django.utils.functional import cached_property

from config.storage import ranges

if TYPE_CHECKING:
    Table = admin.ModelAdmin[Model]
    Pages = Paginator[Model]
else:  # the classes are not generic at run time
    Table, Pages = admin.ModelAdmin, Paginator

MOST = 10_000  # rows that a list counts and pages through
LOOKED = 5_000  # rows that a search looks at
ACCOUNT_PAGES = frozenset({"login", "logout", "password_change", "password_change_done"})


@dataclass(frozen=True, slots=True)
class Viewer:
    """The attributes and methods of a user that the admin's templates and checks need."""

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


class Counted(Pages):
    """Paginates the first MOST rows only; use filters to reach older ones."""

    @cached_property
    def found(self) -> int:
        """The number of rows, at most MOST + 1."""
        rows: Any = self.object_list
        return int(rows.order_by()[: MOST + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self.found, MOST)

    @property
    def more(self) -> bool:
        return self.found > MOST


class Values(admin.AllValuesFieldListFilter):
    """A filter by the distinct values of a column that is first in an index; fast in any table."""

    def __init__(self, field: Any, *where: Any, **more: Any) -> None:
        super().__init__(field, *where, **more)
        self.lookup_choices: Any = ranges.values(field.model, field.column)


class Inspection(Table):
    """A table that can be listed, searched and viewed."""

    list_per_page = 30
    show_full_result_count = False
    paginator = Counted

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Ledger(Inspection):
    """A table of records that grows without limit: a search looks only at its newest rows."""

    search_help_text = f"Looks through the newest {LOOKED:,} rows"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Model], search_term: str
    ) -> tuple[QuerySet[Model], bool]:
        rows = ranges.newest(queryset, LOOKED) if search_term else queryset
        return super().get_search_results(request, rows, search_term)


site = InspectionSite(name="admin")
