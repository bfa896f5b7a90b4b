"""Where the database keeps the hours: those of one app together, so that 90 days are few pages."""

from __future__ import annotations

import pytest

from dashboard.models import Hour
from tests.dashboard.history.world import NOON, probes, started

pytestmark = pytest.mark.django_db
APPS = ("shop", "blog", "mail")


def told_for_three_hours() -> None:
    """Three apps, flushed hour by hour as the daemon does."""
    recorder = started()
    for start in range(NOON, NOON + 3 * 3600, 3600):
        for slug in APPS:
            probes(recorder, slug, start, start + 3600, every=600)
        recorder.flush(start + 3600)


def test_the_hours_of_an_app_lie_side_by_side_in_their_order():
    told_for_three_hours()

    by_place = list(Hour.objects.order_by("pk").values_list("app", "hour"))
    assert len(by_place) == 9
    assert by_place == sorted(by_place)


def test_an_hour_that_lies_elsewhere_is_still_written_whole():
    told_for_three_hours()
    row = Hour.objects.filter(app__slug="shop").latest("hour")
    Hour.objects.filter(pk=row.pk).update(id=5, n=0)

    recorder = started(NOON + 3 * 3600 - 300)
    probes(recorder, "shop", NOON + 3 * 3600 - 300, NOON + 3 * 3600, every=60)
    recorder.flush(NOON + 3 * 3600)

    assert Hour.objects.get(app__slug="shop", hour=row.hour).n == 5
    assert Hour.objects.count() == 9
