"""G5 for the dashboard: whatever is sent, no 500, and every answer as the description says.

Services are off and nothing of what is sent names a host: no command runs, nobody else is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from dashboard.mcp.catalogue import REGISTRY
from tests.dashboard.served import Served
from tests.promises.fuzzing import (
    RAW,
    described_requests,
    hostile_addresses,
    hostile_bodies,
    wild_calls,
)
from tests.promises.rings import ring, seeded
from tests.service import free_port, until

pytestmark = [pytest.mark.promise("G5"), pytest.mark.timeout(3600)]

DESCRIBED = ring(fast=2, slow=2500)  # per operation of the description
TOOL_CALLS = ring(fast=4, slow=2500)  # per tool
CORPUS_ROUNDS = ring(fast=1, slow=250)
KEYS = ["name", "port", "tags", "links", "group", "expected", "health", "service", "slug", "by",
        "reason", "text", "match", "order", "paused", "notes", "x-mine", "x" * 256]  # fmt: skip
ADDRESSED = ("url", "host", "health", "icon", "docs", "thumb", "links")


@dataclass
class World:
    """A running service with a declared app, a group of bookmarks and a listener."""

    served: Served
    listener: str

    def addresses(self) -> dict[str, st.SearchStrategy[str]]:
        """Path parameters that mostly lead somewhere."""
        real = {
            "slug": ["shop", "shop", "fresh", "nope", "A"],
            "group": ["docs", "docs", "fresh", "a.b"],
            "id": [self.listener, self.listener, "o-000000000000", "x"],
            "action": ["start", "stop", "restart", "kill"],
        }
        return {name: st.sampled_from(values) for name, values in real.items()}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    port = free_port()
    config = {
        "services": {"enabled": False},
        "screenshots": {"enabled": False},
        "scan": {"ports": str(port)},
    }
    with Served(tmp_path_factory.mktemp("g5-dashboard"), dashboard=config) as served:
        served.declare("shop", f"name: Shop\nport: {free_port()}\nservice: {{command: 'true'}}\n")
        group = {"links": [{"name": "Mail", "url": "mailto:a@example.test"}]}
        assert served.api.put("/api/bookmarks/docs", json=group).status_code == 201
        dev = served.dev_server("site", port)
        until(lambda: served.observed(dev.port), seconds=20)
        yield World(served, served.observed(dev.port)["id"])
        log = served.log().splitlines()
        assert [line for line in log if '"level":"error"' in line] == []


def test_requests_made_from_the_description_are_answered_as_it_says(world: World):
    def tame(case: Any) -> None:
        if isinstance(case.body, dict):
            for name in ADDRESSED:
                case.body.pop(name, None)

    sent = described_requests(
        world.served.dashboard_url,
        world.addresses(),
        examples=DESCRIBED,
        rng=seeded(),
        tame=tame,
    )

    print(f"{sent} described requests")


def writing_routes(world: World) -> list[tuple[str, str]]:
    observed = f"/api/observed/{world.listener}"
    return [
        ("PUT", "/api/apps/shop"), ("PATCH", "/api/apps/shop"), ("PUT", "/api/apps/fuzz?form=yaml"),
        ("DELETE", "/api/apps/fuzz"), ("POST", "/api/apps/shop/service/start"),
        ("PUT", "/api/bookmarks/docs"), ("PATCH", "/api/bookmarks/docs"),
        ("PUT", "/api/bookmarks/fuzz?form=yaml"), ("DELETE", "/api/bookmarks/fuzz"),
        ("POST", f"{observed}/claim"), ("POST", f"{observed}/ignore"), ("POST", "/api/scan"),
        ("POST", "/api/thumbs/refresh"), ("POST", "/api/lost/x/restart"),
        ("POST", "/api/lost/x/service"), ("POST", "/api/lost/dismiss"), ("POST", "/mcp"),
    ]  # fmt: skip


def reading_routes(text: str) -> list[str]:
    return [
        f"/api/apps/{text}", f"/api/apps/{text}/history", f"/api/apps/{text}/thumb",
        f"/api/apps/shop/history?window={text}", f"/api/apps/shop/logs?lines={text}&after={text}",
        f"/api/apps?state={text}&tag={text}&source={text}", f"/api/apps/shop?form={text}",
        f"/api/bookmarks/{text}", f"/api/bookmarks/docs/icon?url={text}",
    ]  # fmt: skip


def test_hostile_bodies_and_addresses_break_nothing(world: World):
    rng, sent = seeded(), 0

    for _ in range(CORPUS_ROUNDS):
        sent += hostile_bodies(world.served.api, writing_routes(world), KEYS, rng=rng)
    sent += hostile_addresses(world.served.api, reading_routes)

    print(f"{sent} hostile requests")


def test_hostile_files_break_no_answer(world: World):
    """What a hand may leave in place of any file of the dashboard."""
    rng, api = seeded(), world.served.api
    home = world.served.data / "dashboard"
    places = [home / name for name in ("apps/odd.yaml", "bookmarks/odd.yaml", "ignore.yaml")]
    texts = [*RAW, b"port: x\nservice: []", b"rules: [{port: []}, 5]", b"links: [5, {url: [x]}]",
             b"tags: {a: b}\nname: [x]\nhealth: {interval: -1}", b"? [a]\n: b", b"x: &a [*a]",
             os.urandom(3000)]  # fmt: skip
    urls = ["/api/state", "/api/apps", "/api/apps/odd", "/api/bookmarks", "/api/bookmarks/odd",
            "/api/observed", "/api/apps/odd?form=yaml", "/llms-full.txt"]  # fmt: skip
    for text in texts:
        file = rng.choice(places)
        file.write_bytes(text)
        for url in urls:
            answer = api.get(url)
            assert answer.status_code < 500, (file.name, text[:200], url, answer.text)
        patched = api.patch("/api/apps/odd", json={"name": "x"})
        assert patched.status_code < 500, (text[:200], patched.text)
    for file in places:
        file.unlink(missing_ok=True)


def test_wild_arguments_to_every_tool_are_answered_in_band(world: World):
    aimed = {
        "slug": st.just("shop"),
        "id": st.just(world.listener),
        "group": st.just("docs"),
        "timeoutSeconds": st.just(0),
    }

    made = wild_calls(
        world.served.api,
        REGISTRY,
        aimed,
        calls=TOOL_CALLS,
        rng=seeded(),
        harmless={"timeoutSeconds": st.sampled_from([0, 0.1, -1, "x", None])},
        check=lambda result: result.get("structuredContent", {}).get("code") != "internal",
    )

    print(f"{made} tool calls")
