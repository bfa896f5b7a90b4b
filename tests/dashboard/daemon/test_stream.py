"""The event stream as a client meets it."""

from __future__ import annotations

import json
from typing import Any

from dashboard import events
from tests.dashboard.served import Served, served  # noqa: F401 - fixture


def beginning(served: Served, count: int, **headers: str) -> list[dict[str, Any]]:  # noqa: F811
    """The first events of a stream, each with its name and its id."""
    found: list[dict[str, Any]] = []
    one: dict[str, Any] = {}
    with served.api.stream("GET", "/api/events", headers=headers) as answer:
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name in ("id", "event"):
                one[name] = value
            elif name == "data":
                one["data"] = json.loads(value)
            elif not line:
                found += [one] if "data" in one else []
                one = {}
            if len(found) == count:
                break
    return found


def test_hello_comes_first_without_an_id_and_names_the_run(served: Served) -> None:  # noqa: F811
    [hello] = beginning(served, 1)

    assert "id" not in hello
    assert hello["event"] == "hello"
    assert set(hello["data"]) == {"version", "boot", "rev", "retry"}
    assert hello["data"]["boot"] == served.state()["boot"]
    assert hello["data"]["retry"] == 2000


def test_a_client_of_another_run_is_told_to_fetch_everything_anew(served: Served) -> None:  # noqa: F811
    found = beginning(served, 6, **{"Last-Event-ID": "7"})

    assert [one["event"] for one in found] == ["hello", *["change"] * 5]
    assert [one["data"] for one in found[1:]] == [
        {"type": "apps", "reason": "resync"},
        {"type": "bookmarks"},
        {"type": "observed", "reason": "scan"},
        {"type": "config"},
        {"type": "reboot", "lost": []},
    ]


def test_a_client_that_was_cut_gets_what_it_missed_and_nothing_twice(served: Served) -> None:  # noqa: F811
    with served.events() as stream:
        served.declare("missed-1", "name: One\nport: 9\n")
        stream.has(type="app", slug="missed-1")
    [_, first, *_] = beginning(served, 3, **{"Last-Event-ID": str(before(served))})
    missed = beginning(served, 3, **{"Last-Event-ID": first["id"]})

    assert int(missed[1]["id"]) == int(first["id"]) + 1


def test_the_notice_a_client_is_told_at_a_resync_is_the_last_one() -> None:
    standing = events.StreamGreeting(boot="b", rev=3)

    standing.lost = ["o-1"]

    assert ("change", {"type": "reboot", "lost": ["o-1"]}) in standing.resync()


def test_only_get_is_possible_on_the_stream(served: Served) -> None:  # noqa: F811
    for method in ("POST", "HEAD", "DELETE"):
        answer = served.api.request(
            method, "/api/events", headers={"Content-Type": "application/json"}
        )

        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET"), method


def before(served: Served) -> int:  # noqa: F811
    """The id two before the newest, from which a stream can resume."""
    with served.api.stream("GET", "/api/events") as answer:
        for line in answer.iter_lines():
            if line.startswith("id: "):
                return int(line[4:]) - 2
    raise AssertionError("the stream told no id")
