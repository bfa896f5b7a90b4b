"""G5 for the review part: whatever is sent, no 500, and every answer as the description says.

Requests made from the OpenAPI description, hostile bodies, addresses and queries, wild arguments
to every tool, over a project with threads, marks and a PR record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from config.kernel import jsonio
from review.tools import REGISTRY
from tests.promises.rings import ring, seeded
from tests.promises.test_g5_no_5xx import (
    CHECKED,
    JSON_VALUES,
    QUIETLY,
    RAW,
    TEXTS,
    TYPES,
    VALUES,
)
from tests.review.api.served import Project, Served
from tests.service import Service

pytestmark = [pytest.mark.promise("G5"), pytest.mark.service, pytest.mark.timeout(3600)]

DESCRIBED = ring(fast=30, slow=2500)  # per operation of the description
TOOL_CALLS = ring(fast=40, slow=2500)  # per tool
CORPUS_ROUNDS = ring(fast=2, slow=250)
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
    random = seeded()
    session = requests.Session()
    session.trust_env = False
    described = httpx.get(f"{world.service.review_url}/api/schema", trust_env=False).json()
    operations: list[Any] = list(schemathesis.openapi.from_dict(described).get_all_operations())

    for found in operations:
        fuzz_route(world, session, found.ok(), random.randrange(2**32))

    session.close()
    print(f"{len(operations) * DESCRIBED} described requests")


def fuzz_route(world: World, session: requests.Session, operation: Any, number: int) -> None:
    @seed(number)
    @settings(QUIETLY, max_examples=DESCRIBED)
    @given(
        case=operation.as_strategy(),
        address=st.fixed_dictionaries(world.addresses()),
        lead=st.integers(0, 9),
    )
    def ask(case: Any, address: dict[str, str], lead: int) -> None:
        if lead:
            case.path_parameters = {
                name: address.get(name, value) for name, value in case.path_parameters.items()
            }
        response = case.call(base_url=world.service.review_url, session=session, timeout=30)
        assert response.status_code < 500, (case.path_parameters, case.body, response.text)
        case.validate_response(response, checks=CHECKED)

    ask()


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
    random = seeded()
    sent = 0
    with httpx.Client(base_url=world.service.review_url, timeout=30, trust_env=False) as http:

        def ask(method: str, url: str, content: bytes, kind: str) -> None:
            nonlocal sent
            headers = {b"Content-Type": kind.encode("latin-1")} if kind else {}
            answer = http.request(method, url, content=content, headers=headers)
            sent += 1
            assert answer.status_code < 500, (method, url[:200], content[:200], kind, answer.text)

        for _ in range(CORPUS_ROUNDS):
            for method, url in writing_routes(world):
                for content in RAW:
                    ask(method, url, content, random.choice([*TYPES, "image/svg+xml"]))
                for _ in range(10):
                    body = {key: random.choice(VALUES) for key in random.sample(KEYS, 4)}
                    content = json.dumps(body).encode("utf-8", "surrogatepass")
                    ask(method, url, content, "application/json")
        for text in TEXTS[:-1]:
            part = httpx.QueryParams({"x": text.encode("utf-8", "surrogatepass")})
            for address in reading_routes(world, str(part)[2:].replace("+", "%20")):
                ask("GET", address, b"", "")
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
    random = seeded()

    with httpx.Client(base_url=world.service.review_url, timeout=30, trust_env=False) as http:
        for operation in REGISTRY:
            fuzz_tool(world, http, operation, random.randrange(2**32))

    print(f"{len(list(REGISTRY)) * TOOL_CALLS} tool calls")


def fuzz_tool(world: World, http: httpx.Client, operation: Any, number: int) -> None:
    aimed = {"project": st.just(world.pay.slug), "repo": st.just("api"), "body": st.just("x"),
             "sha": st.sampled_from(world.pay.shas), "thread": st.just(world.thread)}  # fmt: skip
    known = {
        argument.name: aimed.get(argument.name, JSON_VALUES) | JSON_VALUES
        for argument in operation.arguments
    }
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

    @seed(number)
    @settings(QUIETLY, max_examples=TOOL_CALLS)
    @given(wild=st.fixed_dictionaries({}, optional=known | {"bogus": JSON_VALUES}))
    def call(wild: dict[str, Any]) -> None:
        params = {"name": operation.name, "arguments": wild}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = http.post("/mcp", content=jsonio.dumps(message), headers=headers)
        assert answer.status_code == 200, answer.text
        reply = json.loads(answer.text.split("data: ", 1)[1])
        assert "error" not in reply, reply
        told = reply["result"]["structuredContent"]
        assert told.get("status") != 500, (wild, told)

    call()
