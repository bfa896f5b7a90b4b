"""The admin is a window: every table can be looked at, nothing can be changed, no login."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth import get_user_model
from django_q.models import OrmQ
from django_q.tasks import async_task

from config.web import admin as kernel_admin
from tests.workspace.api.conftest import Api
from workspace import admin, models
from workspace.access.principals import User

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TABLES = sorted(str(model._meta.label_lower).replace(".", "/") for model in admin.site._registry)


@pytest.fixture
def api(db) -> Api:
    return Api(User(username="kim", anonymous=False))


@pytest.fixture
def run(db) -> models.Run:
    return models.Run.objects.create(
        id="run_1", project="alpha", trigger="nightly", trigger_type="schedule", kind="trigger",
        cause="cron", queued_at=NOW, status="failed", reason="no login",
    )  # fmt: skip


def test_the_tables_of_the_contract_are_there():
    wanted = {"run", "auditentry", "turn", "triggerstate", "invalidentry", "clientuse"}

    assert {f"workspace/{table}" for table in wanted} <= set(TABLES)
    assert {"django_q/ormq", "django_q/failure"} <= set(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_listed_and_searched(api, table):
    listed = api.get(f"/admin/{table}/?q=x", Accept="text/html")

    assert listed.status_code == 200
    assert b"Add " not in listed.content


def test_the_front_page_names_the_viewer_and_makes_no_account(api):
    page = api.get("/admin/", Accept="text/html")

    assert page.status_code == 200
    assert b"kim" in page.content
    assert get_user_model().objects.count() == 0


def test_a_row_is_shown_without_a_field_to_change(api, run):
    page = api.get(f"/admin/workspace/run/{run.pk}/change/", Accept="text/html")

    assert page.status_code == 200
    assert b"no login" in page.content
    assert b'name="status"' not in page.content
    assert b'name="_save"' not in page.content


def test_the_claim_and_the_token_of_a_turn_are_not_shown(api):
    models.Turn.objects.create(
        id="msg_1", project="alpha", chat="c", state="running", prompt="p", message="p",
        sender={"kind": "user"}, mode="plan", max_turns=1, created=NOW, claim="claim-secret",
        token_hash="hash-secret",
    )  # fmt: skip

    page = api.get("/admin/workspace/turn/msg_1/change/", Accept="text/html")

    assert page.status_code == 200
    assert b"-secret" not in page.content


@pytest.mark.parametrize("rest", ["add/", "run_1/delete/"])
def test_pages_that_write_are_refused(api, run, rest):
    answer = api.get(f"/admin/workspace/run/{rest}", Accept="text/html")

    assert answer.status_code == 403
    assert models.Run.objects.count() == 1


@pytest.mark.parametrize("path", ["run/", "run/run_1/change/", "run/run_1/delete/", "run/add/"])
def test_nothing_is_written_by_any_method(api, run, path):
    form = b"action=delete_selected&_selected_action=run_1&status=completed&post=yes"
    for method in ("POST", "PUT", "DELETE"):
        answer = api.client.generic(
            method, f"/admin/workspace/{path}", form,
            content_type="application/x-www-form-urlencoded", **{"svc.principal": api.user},
        )  # fmt: skip
        assert answer.status_code in (403, 405)
    run.refresh_from_db()
    assert run.status == "failed"


@pytest.mark.parametrize("page", ["login/", "logout/", "password_change/", "nope/"])
def test_there_is_no_login(api, page):
    assert api.get(f"/admin/{page}", Accept="text/html").status_code == 404


def test_what_waits_for_a_worker_is_named_without_its_payload(api):
    async_task("workspace.tasks.sweep", task_name="sweep")

    page = api.get("/admin/django_q/ormq/", Accept="text/html")
    [waiting] = OrmQ.objects.all()
    row = api.get(f"/admin/django_q/ormq/{waiting.pk}/change/", Accept="text/html")

    assert b"workspace.tasks.sweep" in page.content
    assert waiting.payload.encode() not in row.content


def audited(count: int, outcome: str = "ok") -> None:
    models.AuditEntry.objects.bulk_create(
        models.AuditEntry(time=NOW, outcome=outcome, peer="::1", request_id=f"req_{outcome}")
        for _ in range(count)
    )


def test_a_list_counts_and_pages_so_many_rows_and_says_that_there_are_more(api, monkeypatch):
    audited(61)
    page = "/admin/workspace/auditentry/"

    assert b"61 audit entries" in api.get(page, Accept="text/html").content
    monkeypatch.setattr(kernel_admin, "MOST", 60)
    shown = api.get(page, Accept="text/html").content
    assert b"more than 60 audit entries" in shown
    assert (b"?p=2" in shown, b"?p=3" in shown) == (True, False)


def test_words_are_looked_for_among_the_newest_rows(api, monkeypatch):
    audited(1, outcome="old")
    audited(2)
    found = "/admin/workspace/auditentry/?q=req_old"

    assert b"1 audit entry" in api.get(found, Accept="text/html").content
    monkeypatch.setattr(kernel_admin, "LOOKED", 2)
    assert b"0 audit entries" in api.get(found, Accept="text/html").content


def test_filters_offer_the_values_that_occur(api):
    audited(2, outcome="denied")
    audited(1, outcome="ok")

    shown = api.get("/admin/workspace/auditentry/", Accept="text/html").content

    assert b"?outcome=denied" in shown
    assert b"?outcome=ok" in shown
    assert b"?outcome=error" not in shown
