"""Dashboards of several nodes on one database: each has its own history, whatever its apps are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from config.process import nodes
from dashboard.history import scope
from dashboard.history.windows import history
from dashboard.models import Edge, Hour, Sample, Slug
from tests.dashboard.history.world import NOON, probes, started

pytestmark = pytest.mark.django_db
A, B = "a" * 16, "b" * 16
DAY = 86_400
On = Callable[[str], None]


@pytest.fixture
def on(monkeypatch) -> On:
    """Be the dashboard of this node from now on."""

    def become(node: str) -> None:
        monkeypatch.setattr(scope, "here", lambda: node)

    return become


def told(state: str, *, removed: bool = False) -> Any:
    """Two hours of the shop of this node, on disk."""
    recorder = started(NOON)
    recorder.edge("shop", NOON, "unknown", state, "ok")
    probes(recorder, "shop", NOON, NOON + 7200, state=state)
    if removed:
        recorder.remove("shop", NOON + 7200)
    assert recorder.flush(NOON + 7200)
    return recorder


def kept() -> tuple[int, ...]:
    """How many rows this node has."""
    apps = scope.mine()
    return tuple(table.objects.filter(app__in=apps).count() for table in (Sample, Hour, Edge))


@pytest.mark.parametrize("window", ["24h", "7d", "90d"])
def test_two_nodes_with_an_app_of_one_name_keep_two_histories(on: On, window):
    on(A)
    told("up")
    on(B)
    told("down")

    on(A)
    assert history("shop", window, now=NOON + 7200)["uptime"] == 1.0
    assert {move["to"] for move in history("shop", window, now=NOON + 7200)["transitions"]} == {
        "up"
    }
    on(B)
    assert history("shop", window, now=NOON + 7200)["uptime"] == 0.0


def test_what_a_node_knows_after_a_restart_is_its_own(on: On):
    on(A)
    told("up")
    on(B)
    told("down")

    on(A)
    again = started(NOON + DAY)

    standing = again.find_standing("shop")
    assert standing is not None
    assert standing.state == "up"
    assert again.summary("shop", NOON + DAY).uptime["7d"] == 1.0
    on("c" * 16)
    assert started(NOON + DAY).find_standing("shop") is None


def test_pruning_on_one_node_takes_nothing_of_another(on: On):
    on(A)
    told("up", removed=True)
    before = kept()
    on(B)
    recorder = told("up", removed=True)

    assert recorder.prune(NOON + 200 * DAY) > 0

    assert kept() == (0, 0, 0)
    assert not scope.mine().exists()
    on(A)
    assert kept() == before
    assert scope.mine().count() == 1


def test_rows_of_nobody_are_taken_by_the_first_node_that_starts(on: On):
    on("")
    told("up")
    rows = kept()

    on(A)
    started(NOON + DAY)
    on(B)
    started(NOON + DAY)

    on(A)
    assert kept() == rows
    on(B)
    assert kept() == (0, 0, 0)


def test_a_node_that_has_a_history_of_that_name_keeps_its_own(on: On):
    on(A)
    told("up")
    on("")
    told("down")

    on(A)
    recorder = started(NOON + DAY)

    assert recorder.summary("shop", NOON + DAY).uptime["7d"] == 1.0
    assert Slug.objects.count() == 2


def test_back_in_sqlite_a_node_finds_its_own_and_leaves_the_others_alone(on: On):
    on(nodes.me())
    told("up")
    on(B)
    told("down")

    on("")
    recorder = started(NOON + DAY)

    assert recorder.summary("shop", NOON + DAY).uptime["7d"] == 1.0
    assert sorted(Slug.objects.values_list("node", flat=True)) == ["", B]
