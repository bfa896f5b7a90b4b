"""The event stream of the running service: greeting, order, resuming (case D48)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import httpx
import pytest

from tests.dashboard.served import Served

QUIET = {"screenshots": {"enabled": False}, "scan": {"enabled": False}}


@dataclass(frozen=True)
class Event:
    name: str
    id: int | None
    data: dict[str, Any]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Nothing but the tests of this module changes anything."""
    with Served(tmp_path_factory.mktemp("stream"), dashboard=QUIET) as running:
        yield running


@contextlib.contextmanager
def stream(url: str, last_id: int | None = None) -> Iterator[Iterator[Event]]:
    """What the stream says from now on; no word within ten seconds is an error."""
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    with (
        httpx.Client(timeout=10, trust_env=False) as client,
        client.stream("GET", f"{url}/api/events", headers=headers) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[Event]:
    said: dict[str, str] = {}
    for line in lines:
        field, _, value = line.partition(": ")
        if line:
            said[field] = value
            continue
        if "data" in said:  # a block without data is no event
            number = int(said["id"]) if "id" in said else None
            yield Event(said["event"], number, json.loads(said["data"]))
        said = {}


def change(served: Served, title: str) -> None:
    body = {"name": title, "links": []}
    served.api.put("/api/bookmarks/notes", json=body).raise_for_status()


@pytest.mark.parametrize("mount", ["", "/dashboard"])
def test_a_client_is_greeted_without_an_id_and_then_told_in_order(served: Served, mount: str):
    url = f"{served.url}{mount}" if mount else served.dashboard_url
    state = served.state()

    with stream(url) as events:
        hello = next(events)
        change(served, f"first by {mount}")
        first = next(events)
        change(served, f"second by {mount}")
        second = next(events)

    assert (hello.name, hello.id) == ("hello", None)
    assert hello.data.keys() == {"version", "boot", "rev", "retry"}
    assert (hello.data["boot"], hello.data["retry"]) == (state["boot"], 2000)
    for event in (first, second):
        assert (event.name, event.data) == ("change", {"type": "bookmarks", "group": "notes"})
    assert first.id is not None
    assert second.id == first.id + 1


def test_a_client_resumes_where_it_was_and_an_old_one_fetches_everything(served: Served):
    with stream(served.dashboard_url) as events:
        next(events)
        change(served, "seen")
        seen = next(events).id
        change(served, "missed")
        missed = next(events)

    with stream(served.dashboard_url, seen) as events:
        assert list(islice(events, 2))[1] == missed
    with stream(served.dashboard_url, 17) as events:
        told = [event.data for event in islice(events, 6)]

    assert told[1:] == [
        {"type": "apps", "reason": "resync"},
        {"type": "bookmarks"},
        {"type": "observed", "reason": "scan"},
        {"type": "config"},
        {"type": "reboot", "lost": []},
    ]
