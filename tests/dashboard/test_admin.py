"""The tables of the dashboard and of review are open to inspection, on the main port."""

from __future__ import annotations

import pytest

from dashboard.history.scope import here
from dashboard.models import Edge, Hour, Sample, Slug
from tests.workspace.api.conftest import Api
from workspace.access.principals import User

TABLES = ("dashboard/slug", "dashboard/sample", "dashboard/hour", "dashboard/edge")


@pytest.fixture
def api(db) -> Api:
    app = Slug.objects.create(node=here(), slug="shop")
    Sample.objects.create(app=app, ts=1, state=3)
    Hour.objects.create(app=app, hour=1)
    Edge.objects.create(app=app, ts=1, from_state="up", to_state="down")
    return Api(User(username="kim", anonymous=False))


@pytest.mark.parametrize("table", TABLES)
def test_every_table_of_the_history_is_listed_and_searched(api, table):
    assert b"shop" in api.get(f"/admin/{table}/?q=shop", Accept="text/html").content


def test_the_tables_of_review_are_listed(api):
    assert api.get("/admin/review/reporow/", Accept="text/html").status_code == 200
