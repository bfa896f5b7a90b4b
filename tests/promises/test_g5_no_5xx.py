"""G5: whatever is sent, nothing breaks: no 500, every answer as the description says.

Three streams against the real server: requests made from the OpenAPI description, a corpus of
hostile bodies and addresses on every writing route, and wild arguments to every tool of /mcp.
"""

from __future__ import annotations

import fcntl
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from config.kernel import jsonio
from tests.promises.rings import ring, seeded
from tests.service import Service
from workspace.operations import REGISTRY

pytestmark = [pytest.mark.promise("G5"), pytest.mark.service, pytest.mark.timeout(3600)]

DESCRIBED = ring(fast=65, slow=2500)  # per operation of the description
TOOL_CALLS = ring(fast=60, slow=2500)  # per tool
CORPUS_ROUNDS = ring(fast=6, slow=250)
TOKEN = "svc_g5_" + "0123456789abcdef" * 3
RUNBOOK = '#!runbook\n```Glob\n{"pattern": "*"}\n```\n'
CHECKED = [status_code_conformance, content_type_conformance, response_schema_conformance]
QUIETLY = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass
class World:
    """A running service with something of everything in it."""

    service: Service
    chats: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def fill(self) -> None:
        http = self.service.http
        assert http.post("/api/projects", json={"name": "Alpha"}).status_code == 201
        (self.service.projects / "alpha" / "OVERVIEW.md").write_text("# Alpha")
        for n in range(3):
            body = {"prompt": RUNBOOK} if n else {}
            made = http.post("/api/projects/alpha/chats", json=body).json()
            self.chats.append(made["chat"]["sessionId"])
            self.turns.append(made["messageId"] or "msg_none")
        for name, enabled in (("nightly", True), ("manual", False)):
            record = {"trigger": {"type": "schedule", "interval": "30d"},
                      "run": {"prompt": RUNBOOK}, "enabled": enabled}  # fmt: skip
            put = http.put(f"/api/projects/alpha/triggers/{name}", json=record)
            assert put.status_code == 200, put.text
            run = http.post(f"/api/projects/alpha/triggers/{name}/run")
            assert run.status_code == 202, run.text
            self.runs.append(run.json()["runId"])

    def addresses(self) -> dict[str, st.SearchStrategy[str]]:
        """Path parameters that mostly lead somewhere."""
        real = {
            "slug": ["alpha", "alpha", "alpha", "nope", "beta"],
            "session_id": [*self.chats, str(uuid.uuid4())],
            "name": ["nightly", "manual", "fresh", "bad name!", "a.b_c-1"],
            "run_id": [*self.runs, "run_nope"],
            "message": [*self.turns, "msg_nope"],
            "call": ["c1"],
        }
        return {name: st.sampled_from(values) for name, values in real.items()}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    config = {
        "managementApi": {
            "publicUrl": "http://localhost",
            "instanceId": "g5",
            "clients": {"fuzz": {"auth": {"ref": "env:G5_TOKEN"}, "scope": {"allow": ["*"]}}},
        }
    }
    folder = tmp_path_factory.mktemp("g5")
    with Service(folder, env={"G5_TOKEN": TOKEN}, config=config, scheduler=False) as service:
        lock = service.data / "state" / "qcluster.lock"
        with lock.open("wb") as held:  # firings start chats, and their turns only ever wait
            fcntl.flock(held, fcntl.LOCK_SH)
            made = World(service)
            made.fill()
            yield made
        assert [line for line in service.log().splitlines() if '"level":"error"' in line] == []


def described(service: Service) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(service.http.get("/api/schema").json())


def test_requests_made_from_the_description_are_answered_as_it_says(world):
    random = seeded()
    session = requests.Session()
    session.trust_env = False
    operations: list[Any] = list(described(world.service).get_all_operations())

    for found in operations:
        fuzz_route(world, session, found.ok(), random.randrange(2**32))

    print(f"{len(operations) * DESCRIBED} described requests")


def fuzz_route(world: World, session: requests.Session, operation, number: int) -> None:
    @seed(number)
    @settings(QUIETLY, max_examples=DESCRIBED)
    @given(
        case=operation.as_strategy(),
        address=st.fixed_dictionaries(world.addresses()),
        lead=st.integers(0, 9),
    )
    def ask(case, address, lead):
        if lead:
            case.path_parameters = {
                name: address.get(name, value) for name, value in case.path_parameters.items()
            }
        if isinstance(case.body, dict):
            case.body.pop("repo", None)  # a clone asks another server
        response = case.call(base_url=world.service.url, session=session, timeout=30)
        assert response.status_code < 500 or response.json()["code"] == "trigger_failed"
        case.validate_response(response, checks=CHECKED)

    ask()


DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000
TEXTS = ["", " ", "\0", "\ud800", "\udfff\ud800", "a\0b", "\u202e\u0000\uffff", "x" * 256,
         "é" * 128, "../../etc/passwd", "-rf", "CON", "\r\nX: y", "{{7*7}}", "' OR 1=1--", "\x7f",
         "🦀" * 70, "x" * 200_000]  # fmt: skip
VALUES: list[object] = [
    None,
    True,
    0,
    -1,
    10**30,
    1e308,
    -0.0,
    [],
    {},
    [[[]]],
    {"": {"": None}},
    *TEXTS,
]
RAW = [b"", b"null", b"[]", b"{", b"\xff", b"\xef\xbb\xbf{}", b"NaN", b'{"a":1e999}', DEEP,
       b"[" * 100_000, b'{"prompt":"\\ud800"}', b'{"name":"\xed\xa0\x80"}', b"{}" * 1000,
       '{"name":"é"}'.encode("utf-16"), b'{"prompt":' + b"9" * 5000 + b"}"]  # fmt: skip
TYPES = ["application/json", "application/json; charset=utf-16", "application/json;charset=x",
         "text/html", "", "APPLICATION/JSON", "application/json, text/plain", "\xff"]  # fmt: skip
KEYS = ["prompt", "name", "model", "slug", "summary", "group", "status", "archived",
        "allow", "trigger", "run", "enabled", "preloadContext", "links", "x" * 256]  # fmt: skip


def writing_routes(world: World) -> list[tuple[str, str]]:
    chat = f"/api/projects/alpha/chats/{world.chats[0]}"
    return [
        ("POST", "/api/projects"), ("PATCH", "/api/projects/alpha"),
        ("POST", "/api/projects/alpha/chats"), ("PATCH", chat), ("POST", f"{chat}/messages"),
        ("POST", f"{chat}/archive"), ("POST", f"{chat}/fork"), ("POST", f"{chat}/stop"),
        ("POST", f"{chat}/permissions/c1"), ("PUT", "/api/projects/alpha/triggers/fuzz"),
        ("DELETE", "/api/projects/alpha/triggers/fuzz"), ("POST", "/api/demo"),
    ]  # fmt: skip


def test_hostile_bodies_and_addresses_break_nothing(world):
    random = seeded()
    http = world.service.http
    sent = 0

    def ask(method: str, url: str, content: bytes, kind: str) -> None:
        nonlocal sent
        headers = {"Content-Type": kind.encode("latin-1")} if kind else {}
        answer = http.request(method, url, content=content, headers=headers)
        sent += 1
        assert answer.status_code < 500, (method, url[:200], content[:200], kind, answer.text)
        assert answer.status_code == 400 or answer.json() is not None

    for _ in range(CORPUS_ROUNDS):
        for method, url in writing_routes(world):
            for content in RAW:
                ask(method, url, content, random.choice(TYPES))
            for _ in range(10):
                body = {key: random.choice(VALUES) for key in random.sample(KEYS, 3)}
                content = json.dumps(body).encode("utf-8", "surrogatepass")
                ask(method, url, content, "application/json")
    for text in TEXTS[:-1]:
        part = httpx.QueryParams({"x": text.encode("utf-8", "surrogatepass")})
        escaped = str(part)[2:].replace("+", "%20")
        for address in (f"/api/projects/{escaped}", f"/api/projects/alpha/chats/{escaped}",
                        f"/api/projects/alpha/triggers/{escaped}", f"/api/runs/{escaped}",
                        f"/api/audit?client={escaped}&before={escaped}",
                        f"/api/runs?project={escaped}&before={escaped}",
                        f"/api/projects/alpha/chats?q={escaped}&before={escaped}"):  # fmt: skip
            ask("GET", address, b"", "")
    print(f"{sent} hostile requests")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(TEXTS[:-1]) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=5,
)  # fmt: skip


def arguments(world: World, operation) -> st.SearchStrategy[dict[str, object]]:
    """Mostly known arguments; mostly aimed at what exists; any value at all."""
    aimed = {"project": st.just("alpha"), "session_id": st.sampled_from(world.chats),
             "prompt": st.just(RUNBOOK), "interval": st.just("30d")}  # fmt: skip
    known = {
        argument.name: (aimed.get(argument.name, JSON_VALUES) | JSON_VALUES)
        if argument.name != "repo"
        else st.just("")
        for argument in operation.arguments
    }
    return st.fixed_dictionaries({}, optional=known | {"bogus": JSON_VALUES})


def test_wild_arguments_to_every_tool_are_answered_in_band(world):
    random = seeded()

    for operation in REGISTRY:
        fuzz_tool(world, operation, random.randrange(2**32))

    print(f"{len(list(REGISTRY)) * TOOL_CALLS} tool calls")


def fuzz_tool(world: World, operation, number: int) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
               "Accept": "application/json, text/event-stream"}  # fmt: skip

    @seed(number)
    @settings(QUIETLY, max_examples=TOOL_CALLS)
    @given(wild=arguments(world, operation))
    def call(wild):
        params = {"name": operation.name, "arguments": wild}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = world.service.http.post("/mcp", content=jsonio.dumps(message), headers=headers)
        assert answer.status_code == 200, answer.text
        reply = json.loads(answer.text.split("data: ", 1)[1])
        assert "error" not in reply, reply
        assert reply["result"]["content"][0]["text"] != "Error: internal error"

    call()
