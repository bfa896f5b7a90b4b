"""G5 for the review part: whatever is sent, no 500, and every answer as the description says.

Requests made from the OpenAPI description, hostile bodies, addresses and queries, wild arguments
to every tool, over a project with threads, marks and a PR record.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from hypothesis import strategies as st

from review.mcp.catalogue import REGISTRY
from tests.promises.fuzzing import (
    RAW,
    TYPES,
    described_requests,
    hostile_addresses,
    hostile_bodies,
    wild_calls,
)
from tests.promises.rings import ring, seeded
from tests.review.api.served import Project, Served
from tests.service import Service

pytestmark = [pytest.mark.promise("G5"), pytest.mark.timeout(3600)]

DESCRIBED = ring(fast=2, slow=2500)  # per operation of the description
TOOL_CALLS = ring(fast=4, slow=2500)  # per tool
CORPUS_ROUNDS = ring(fast=1, slow=250)
KEYS = ["body", "author", "path", "side", "line", "start_line", "start_side", "resolved", "viewed",
        "title", "branch", "github", "status", "description", "range", "name", "text"]  # fmt: skip


@dataclass
class World:
    """A running service, one project with state of every kind."""

    service: Service
    pay: Project
    thread: str
    comment: str

    def addresses(self) -> dict[str, st.SearchStrategy[str]]:
        """Path parameters that mostly lead somewhere."""
        shas = [self.pay.shas[0], self.pay.shas[1][:7], self.pay.shas[2]]
        real = {
            "project": [self.pay.slug] * 3 + ["nope", "example-search"],
            "repo": ["api", "api", "api", "nope", ".."],
            "sha": [*shas, "abc", "g" * 40, "f" * 40],
            "thread": [self.thread, self.thread, "t-none"],
            "comment": [self.comment, "c-none"],
            "n": ["1", "2", "0", "x", "9" * 30],
            "name": ["0" * 64 + ".png", "x"],
        }
        return {name: st.sampled_from(values) for name, values in real.items()}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("g5-review")
    with Service(folder, scheduler=False) as service:
        served = Served(service)
        pay = served.project(folder)
        made = served.api.post(pay.c(0, "/threads"), {"body": "x", "path": "src/pay.py", "line": 5})
        served.api.put(pay.c(0, "/pr"), {"title": "T"})
        served.api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": True})
        served.close()
        yield World(service, pay, made.json()["id"], made.json()["comments"][0]["id"])
        assert [line for line in service.log().splitlines() if '"level":"error"' in line] == []


def test_requests_made_from_the_description_are_answered_as_it_says(world: World):
    sent = described_requests(
        world.service.review_url, world.addresses(), examples=DESCRIBED, rng=seeded()
    )

    print(f"{sent} described requests")


def writing_routes(world: World) -> list[tuple[str, str]]:
    p, c = world.pay.p, world.pay.c()
    thread = f"{c}/threads/{world.thread}"
    return [
        ("POST", "/api/examples"), ("POST", f"{p}/repos"), ("PUT", f"{p}/description"),
        ("PUT", f"{p}/repos/api/stacks/1/description"), ("POST", f"{p}/preview"),
        ("PUT", f"{c}/pr"), ("PUT", f"{c}/viewed"), ("POST", f"{c}/threads"), ("PATCH", thread),
        ("POST", f"{thread}/comments"), ("PATCH", f"{thread}/comments/{world.comment}"),
        ("POST", f"{p}/assets"), ("POST", "/mcp"),
    ]  # fmt: skip


def reading_routes(world: World, text: str) -> list[str]:
    p, c = world.pay.p, world.pay.c()
    return [
        f"/api/projects/{text}", f"{p}/repos/{text}/commits/abcd", f"{p}/assets/{text}",
        f"{p}/repos/api/commits/{text}", f"{c}?contents={text}", f"{c}/file?path={text}",
        f"{c}/interdiff?from={text}", f"{c}/review?html={text}", f"{c}/stack.svg?scope={text}",
        f"{p}/stack.png?scale={text}", f"{p}/stack.svg?download={text}&title={text}",
    ]  # fmt: skip


def test_hostile_bodies_and_addresses_break_nothing(world: World):
    rng, sent = seeded(), 0
    types = [*TYPES, "image/svg+xml"]

    with httpx.Client(base_url=world.service.review_url, timeout=30, trust_env=False) as http:
        for _ in range(CORPUS_ROUNDS):
            sent += hostile_bodies(http, writing_routes(world), KEYS, rng=rng, types=types)
        sent += hostile_addresses(http, lambda text: reading_routes(world, text))

    print(f"{sent} hostile requests")


def test_hostile_files_break_no_answer(world: World):
    """What a hand may leave in place of review, PR and project files."""
    random = seeded()
    files = [world.pay.review(1), world.pay.review(1, "prs")]
    texts = [*RAW, b"threads: 5", b"threads: [5, {comments: x}]", b"viewed: {a: [b]}",
             b"title: [x]",
             b"github: {number: [1]}", b"threads: [{line: 99999999999999999999, path: src/new.py, "
             b"comments: [{body: x}]}]", b"version: x\ncommit: []\ncarried_from: {sha: zz}",
             b"? [a]\n: b", b"\0", os.urandom(3000)]  # fmt: skip
    urls = [world.pay.p, "/api/projects", *(world.pay.c(1, below) for below in
            ("", "/review?html=1", "/pr", "/threads.md", "/interdiff", "/stack.svg"))]  # fmt: skip
    with httpx.Client(base_url=world.service.review_url, timeout=30, trust_env=False) as http:
        for text in texts:
            file = random.choice(files)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
            for url in urls:
                answer = http.get(url)
                assert answer.status_code < 500, (file.parent.parent.name, text, url, answer.text)
            posted = http.post(world.pay.c(1, "/threads"), json={"body": "x"})
            assert posted.status_code in (201, 409), (text, posted.text)
        for file in files:
            file.unlink(missing_ok=True)


def test_wild_arguments_to_every_tool_are_answered_in_band(world: World):
    aimed = {"project": st.just(world.pay.slug), "repo": st.just("api"), "body": st.just("x"),
             "sha": st.sampled_from(world.pay.shas), "thread": st.just(world.thread)}  # fmt: skip

    with httpx.Client(base_url=world.service.review_url, timeout=30, trust_env=False) as http:
        made = wild_calls(
            http,
            REGISTRY,
            aimed,
            calls=TOOL_CALLS,
            rng=seeded(),
            check=lambda result: result["structuredContent"].get("status") != 500,
        )

    print(f"{made} tool calls")
