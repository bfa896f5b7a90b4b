"""What nodes told of themselves, and how long each was silent: clocks are driven, nothing waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config.process.node_registry import FORGET_S, Node, NodeRegistry

A, B = "a" * 16, "b" * 16
REDIS = 1_000_000  # its clock; ours are elsewhere


def value(**told: Any) -> bytes:
    return json.dumps({"name": "one", "version": "0.49.0", "at": REDIS, "beat": 1} | told).encode()


class World:
    """A roll, and our own clocks beside the one of the Redis."""

    def __init__(self) -> None:
        self.roll = NodeRegistry(silence=15)
        self.now, self.redis = 50.0, REDIS

    def hear(self, **values: bytes) -> None:
        self.roll.hear(values, now=self.now, wall=self.now + 7000, redis=self.redis)

    def after(self, seconds: float) -> None:
        self.now += seconds
        self.redis += int(seconds)

    def nodes(self) -> list[Node]:
        return self.roll.nodes(self.now)


@pytest.fixture
def world() -> World:
    return World()


def test_a_node_tells_who_it_is(world):
    told = value(name="Blue", url="https://blue.example", home="h1", apps={"up": 3, "down": 1})
    world.hear(**{A: told})

    assert world.nodes() == [
        Node(A, "Blue", "https://blue.example", "0.49.0", "h1", {"up": 3, "down": 1}, 7050.0, True)
    ]


def test_a_node_that_says_nothing_new_for_15_s_is_gone_since_it_was_last_heard(world):
    world.hear(**{A: value()})
    world.after(14)
    world.hear(**{A: value()})
    assert world.nodes()[0].alive

    world.after(1)
    world.hear(**{A: value()})

    assert not world.nodes()[0].alive
    assert world.nodes()[0].seen == 7050.0


def test_a_node_whose_value_changes_is_alive_whatever_its_clock_says(world):
    world.hear(**{A: value(at=REDIS - 10**6)})
    assert not world.nodes()[0].alive

    world.after(5)
    world.hear(**{A: value(at=REDIS - 10**6, beat=2)})

    assert world.nodes()[0].alive
    assert world.nodes()[0].seen == 7055.0


def test_who_looks_for_the_first_time_knows_by_the_redis_how_old_a_word_is(world):
    world.hear(**{A: value(at=REDIS - 3600), B: value(at=REDIS - 3)})

    gone, alive = world.nodes()

    assert (gone.alive, gone.seen) == (False, 7050.0 - 3600)
    assert alive.alive


def test_the_redis_may_forget_or_be_away_and_the_list_stays(world):
    world.hear(**{A: value()})

    world.after(60)
    world.hear()

    assert [(node.id, node.alive) for node in world.nodes()] == [(A, False)]


def test_after_a_week_of_silence_a_node_is_forgotten(world):
    world.hear(**{A: value()})
    world.after(FORGET_S)
    world.hear(**{A: value(), B: value(at=world.redis)})
    assert world.roll.forget(world.now) == []

    world.after(1)

    assert world.roll.forget(world.now) == [A]
    assert [node.id for node in world.nodes()] == [B]


DEEP = b'{"a":' * 800 + b"1" + b"}" * 800


@pytest.mark.parametrize("told", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 4000, DEEP])
def test_a_value_nobody_can_read_hides_no_other(world, told):
    world.hear(**{A: told, B: value()})

    assert [node.id for node in world.nodes()] == [B]


def test_a_field_that_is_no_id_is_no_node(world):
    world.hear(**{"../x": value(), "": value(), "A" * 16: value()})

    assert world.nodes() == []


def test_what_a_newer_version_says_in_other_words_is_left_out(world):
    told = value(
        name=["x"],
        version={"major": 1},
        url="javascript:alert(1)",
        dashboard="https://[::1",
        home=4,
        apps={"up": "many", "down": -1, "stopped": 2, "busy": True, "unknown": 10**9},
        at="noon",
        more={"deep": [1]},
    )
    world.hear(**{A: told})

    assert world.nodes() == [Node(A, A[:8], "", "", "", {"stopped": 2}, 7050.0, True)]


def test_a_name_is_one_short_line(world):
    world.hear(**{A: value(name="\u202eevil\n" + "x" * 300)})

    (node,) = world.nodes()

    assert node.name.isprintable()
    assert len(node.name) <= 80


def test_a_redis_whose_clock_went_back_makes_nobody_younger_than_now(world):
    world.hear(**{A: value(at=REDIS + 10**6)})

    world.after(16)

    assert not world.nodes()[0].alive
