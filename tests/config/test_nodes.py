"""Nodes on one Redis: each tells the others, and what is there harms nobody."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.options import OptionError
from config.process import nodes, redis_client
from config.process.nodes import KEY, Nodes
from tests.redis import Redis, redis  # noqa: F401 - a fixture
from tests.service import until

A, B = "a" * 16, "b" * 16


@pytest.fixture
def here(settings, tmp_path: Path, redis: Redis, monkeypatch) -> Iterator[Path]:  # noqa: F811
    """A data directory on a Redis; beats follow each other at once."""
    settings.DATA_DIR = tmp_path
    (tmp_path / "state").mkdir()
    settings.SVC = replace(settings.SVC, redis_url=redis.url, node="here")
    settings.SVC_NODE_FACTS = {}
    monkeypatch.setattr(nodes, "BEAT_S", 0.02)
    monkeypatch.setattr(nodes, "SILENCE_S", 1.0)
    monkeypatch.setattr(nodes, "_nodes", None)
    yield tmp_path
    if nodes._nodes is not None:
        nodes._nodes.stop()


def say(node: str, **told: object) -> None:
    with redis_client.connect() as client:
        client.hset(KEY, node, json.dumps(told))


def said() -> dict[str, dict[str, Any]]:
    with redis_client.connect() as client:
        return {key.decode(): json.loads(value) for key, value in client.hgetall(KEY).items()}


def test_a_node_has_one_random_id_for_good(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "state").mkdir()

    mine = nodes.me()

    assert len(mine) == 16
    assert (tmp_path / "state" / "node").read_text() == mine
    assert (tmp_path / "state" / "node").stat().st_mode & 0o077 == 0
    nodes._identity.cache_clear()
    assert nodes.me() == mine
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["node"]


@pytest.mark.parametrize("text", ["", "two words", "../../x", "x" * 65, "UPPER" * 4])
def test_an_id_that_is_none_is_refused_with_what_to_do(settings, tmp_path, text):
    settings.DATA_DIR = tmp_path
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "node").write_text(text)

    with pytest.raises(OptionError, match="delete it, and a new one is made"):
        nodes.me()


def test_without_a_redis_there_are_no_others_and_nothing_is_missing(settings):
    assert nodes.others() == []
    assert nodes.can_hear()
    assert nodes.twin() == ""


def test_a_server_tells_of_itself_again_and_again(here):
    server = Nodes()
    server.start()
    until(lambda: said().get(nodes.me(), {}).get("beat", 0) >= 3, what="three beats")

    told = said()[nodes.me()]

    assert told["name"] == "here"
    assert nodes.others() == []  # the others, not this one


def test_a_process_without_a_server_listens_and_says_nothing(here):
    say(A, name="Blue", version="0.49.0")

    assert [node.name for node in nodes.others()] == ["Blue"]
    assert said().keys() == {A}


def test_values_that_are_malformed_or_huge_harm_nobody(here):
    say(B, name="Blue")
    with redis_client.connect() as client:
        client.hset(KEY, A, b"\xff{")
        client.hset(KEY, "c" * 16, json.dumps({"name": "x" * 5_000_000}))
        client.hset(KEY, "d" * 16, b"x" * 5_000_000)

    assert [node.name for node in nodes.others()] == ["Blue"]


def test_what_changes_is_told_and_a_beat_alone_is_not(here):
    server = Nodes()
    server.start()
    told: list[list[str]] = []
    end = nodes.follow(lambda: told.append([node.name for node in nodes.others()]))
    until(lambda: said().get(nodes.me(), {}).get("beat", 0) >= 5, what="five beats")
    assert told == []

    say(A, name="Blue", beat=1)
    until(lambda: told, what="news")
    end()

    assert told == [["Blue"]]


def test_while_the_redis_is_gone_the_list_stays_and_all_are_gone(here, redis: Redis):  # noqa: F811
    say(A, name="Blue")
    assert [node.alive for node in nodes.others()] == [True]

    redis.stop()
    until(lambda: not nodes.can_hear(), what="the Redis is missed")
    until(lambda: not nodes.others()[0].alive, what="silence")
    redis.start()
    say(A, name="Blue", beat=2)

    until(lambda: nodes.can_hear() and nodes.others()[0].alive, what="all is as before")


def test_a_redis_key_of_another_kind_is_an_outage_and_no_crash(here):
    with redis_client.connect() as client:
        client.set(KEY, "mine")

    assert nodes.others() == []
    assert not nodes.can_hear()


def test_two_servers_with_one_id_know_it_and_say_how_to_mend_it(here, caplog):
    server = Nodes()
    server.start()
    until(lambda: nodes.me() in said(), what="a beat")

    with caplog.at_level(logging.ERROR):
        until(lambda: _overwritten() and nodes.twin() == "copy", what="the twin is known")

    assert "delete <data>/state/node" in caplog.text
    until(lambda: nodes.twin() == "", what="the twin is gone")
    assert len([one for one in caplog.records if "uses the id" in one.message]) == 1


def _overwritten() -> bool:
    say(nodes.me(), name="copy", boot="another")
    return True


def test_a_restarted_server_is_not_its_own_twin(here, caplog):
    first = Nodes()
    first.start()
    until(lambda: nodes.me() in said(), what="a beat")
    boot = said()[nodes.me()]["boot"]
    first.stop()

    again = Nodes()
    again.start()
    until(lambda: said()[nodes.me()]["boot"] != boot, what="a beat of the next run")
    until(lambda: said()[nodes.me()]["beat"] > 5, what="more beats")

    assert nodes.twin() == ""
    assert "uses the id" not in caplog.text


def test_a_part_that_cannot_say_its_fact_silences_no_node(here, settings):
    settings.SVC_NODE_FACTS = {"apps": "no.such.module", "more": "tests.config.test_nodes.fails"}
    Nodes().start()

    until(lambda: nodes.me() in said(), what="a beat")
    assert said()[nodes.me()]["apps"] is None


def fails() -> None:
    raise RuntimeError
