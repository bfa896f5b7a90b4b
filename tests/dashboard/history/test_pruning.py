"""What is too old goes, in chunks; what is young enough stays."""

from __future__ import annotations

import pytest

from dashboard.history import pruning
from dashboard.history.scope import here
from dashboard.history.windows import history
from dashboard.models import Edge, Hour, Sample, Slug
from tests.dashboard.history.world import NOON, probes, started

pytestmark = pytest.mark.django_db
DAY = 86_400


def test_each_table_keeps_what_was_promised_and_an_hour_more():
    app = Slug.objects.create(node=here(), slug="shop")
    for age in (DAY, DAY + 3599, DAY + 3601, 3 * DAY):
        Sample.objects.create(app=app, ts=(NOON - age) * 1000, state=3)
    for age in (90 * DAY, 90 * DAY + 3600, 90 * DAY + 7201):
        Hour.objects.create(app=app, hour=(NOON - age) // 3600)
        Edge.objects.create(app=app, ts=(NOON - age) * 1000, from_state="up", to_state="down")

    assert pruning.prune(NOON) == ([], 4)
    assert (Sample.objects.count(), Hour.objects.count(), Edge.objects.count()) == (2, 2, 2)


def test_the_retention_is_the_users():
    app = Slug.objects.create(node=here(), slug="shop")
    Sample.objects.create(app=app, ts=(NOON - 3 * 3600) * 1000, state=3)
    Hour.objects.create(app=app, hour=NOON // 3600 - 26)

    assert pruning.prune(NOON, raw_hours=1, days=1) == ([], 2)


def test_a_chunk_is_all_that_one_statement_deletes(monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(pruning, "CHUNK", 10)
    app = Slug.objects.create(node=here(), slug="shop")
    Sample.objects.bulk_create(Sample(app=app, ts=number, state=3) for number in range(95))
    Sample.objects.create(app=app, ts=NOON * 1000, state=3)
    with django_assert_max_num_queries(60) as queries:
        assert pruning.prune(NOON) == ([], 95)

    deletes = [query["sql"] for query in queries if query["sql"].startswith("DELETE")]
    assert len(deletes) == 10
    assert Sample.objects.count() == 1


def test_a_removed_app_goes_after_90_days_with_all_its_rows():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    probes(recorder, "blog", NOON, NOON + 60)
    recorder.edge("shop", NOON + 60, "up", "down", "refused")
    recorder.remove("shop", NOON + 90)
    recorder.flush(NOON + 90)

    recorder.prune(NOON + 89 * DAY, raw_hours=9999, days=9999)
    assert recorder.find_standing("shop") is not None

    recorder.prune(NOON + 91 * DAY, raw_hours=9999, days=9999)
    assert recorder.find_standing("shop") is None
    assert list(Slug.objects.values_list("slug", flat=True)) == ["blog"]
    assert set(Hour.objects.values_list("app__slug", flat=True)) == {"blog"}
    assert not Edge.objects.exists()


def test_a_slug_may_come_back_after_its_rows_went():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    recorder.remove("shop", NOON + 60)
    recorder.flush(NOON + 60)
    later = NOON + 100 * DAY
    recorder.prune(later)
    probes(recorder, "shop", later, later + 60.5)

    assert recorder.flush(later + 60)
    assert history("shop", "7d", now=later + 60)["seconds"]["up"] == 60


def test_emptied_tables_do_not_stop_the_recorder():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    recorder.flush(NOON + 60)
    Slug.objects.all().delete()
    probes(recorder, "shop", NOON + 60, NOON + 120)

    assert recorder.flush(NOON + 120)
    assert Sample.objects.filter(app__slug="shop").exists()
