"""What G5 sends to every part: requests made from a description, hostile bodies, wild arguments."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from config import jsonio

CHECKED = [status_code_conformance, content_type_conformance, response_schema_conformance]
QUIETLY = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
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
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(TEXTS[:-1]) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=5,
)  # fmt: skip
MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

BOGUS = {"bogus": JSON_VALUES}

Addresses = Mapping[str, st.SearchStrategy[str]]
Answer = dict[str, Any]


def described_requests(
    url: str,
    addresses: Addresses,
    *,
    examples: int,
    rng: random.Random,
    tame: Callable[[Any], None] = lambda case: None,
    excused: Callable[[requests.Response], bool] = lambda answer: False,
) -> int:
    """Requests made from the description at `url`, mostly to what exists; how many were sent.

    `tame` takes out of a case what must not be done; `excused` is told of an answer with a 5xx.
    """
    with requests.Session() as session:
        session.trust_env = False
        schema = schemathesis.openapi.from_dict(session.get(f"{url}/api/schema").json())
        operations: list[Any] = list(schema.get_all_operations())
        for found in operations:

            @seed(rng.randrange(2**32))
            @settings(QUIETLY, max_examples=examples)
            @given(
                case=found.ok().as_strategy(),
                address=st.fixed_dictionaries(dict(addresses)),
                lead=st.integers(0, 9),
            )
            def ask(case: Any, address: dict[str, str], lead: int) -> None:
                if lead:
                    case.path_parameters = {
                        name: address.get(name, value)
                        for name, value in case.path_parameters.items()
                    }
                tame(case)
                answer = case.call(base_url=url, session=session, timeout=30)
                asked = (case.method, case.path, case.path_parameters, case.body)
                assert answer.status_code < 500 or excused(answer), (asked, answer.content)
                case.validate_response(answer, checks=CHECKED)

            ask()
    return len(operations) * examples


def hostile_bodies(
    http: httpx.Client,
    routes: Iterable[tuple[str, str]],
    keys: list[str],
    *,
    rng: random.Random,
    types: list[str] = TYPES,
) -> int:
    """Every raw body and ten wild ones to each route; how many were sent."""
    sent = 0
    for method, url in routes:
        for content in RAW:
            hostile(http, method, url, content, rng.choice(types))
        for _ in range(10):
            body = {key: rng.choice(VALUES) for key in rng.sample(keys, 3)}
            content = json.dumps(body).encode("utf-8", "surrogatepass")
            hostile(http, method, url, content, "application/json")
        sent += len(RAW) + 10
    return sent


def hostile_addresses(http: httpx.Client, routes: Callable[[str], Iterable[str]]) -> int:
    """Every odd text, escaped, wherever `routes` puts it into an address; how many were sent."""
    sent = 0
    for text in TEXTS[:-1]:
        part = httpx.QueryParams({"x": text.encode("utf-8", "surrogatepass")})
        for address in routes(str(part)[2:].replace("+", "%20")):
            hostile(http, "GET", address, b"", "")
            sent += 1
    return sent


def hostile(http: httpx.Client, method: str, url: str, content: bytes, kind: str) -> None:
    """One request, which may be refused and must not break anything."""
    headers = {b"Content-Type": kind.encode("latin-1")} if kind else {}
    answer = http.request(method, url, content=content, headers=headers)
    told = (method, url[:200], content[:200], kind, answer.text[:500])
    assert answer.status_code < 500, told


def wild_calls(
    http: httpx.Client,
    operations: Iterable[Any],
    aimed: Mapping[str, st.SearchStrategy[Any]],
    *,
    calls: int,
    rng: random.Random,
    headers: Mapping[str, str] = MCP,
    harmless: Mapping[str, st.SearchStrategy[Any]] = MappingProxyType({}),
    check: Callable[[Answer], bool],
) -> int:
    """Calls of each tool with known and unknown arguments of any value; how many were made.

    `aimed` leads some of them to what exists, `harmless` is all that such an argument may be.
    `check` is told the result of each call.
    """
    made = 0
    for operation in operations:
        names = [argument.name for argument in operation.arguments]
        known = {name: aimed.get(name, JSON_VALUES) | JSON_VALUES for name in names}
        known |= {name: values for name, values in harmless.items() if name in known}

        call = partial(_called, http, operation.name, headers=headers)

        @seed(rng.randrange(2**32))
        @settings(QUIETLY, max_examples=calls)
        @given(call=st.just(call), wild=st.fixed_dictionaries({}, optional=known | BOGUS))
        def ask(call: Callable[..., Answer], wild: dict[str, Any]) -> None:
            result = call(wild)
            assert check(result), (call, wild, result)

        ask()
        made += calls
    return made


def _called(
    http: httpx.Client, name: str, arguments: dict[str, Any], headers: Mapping[str, str]
) -> Answer:
    """The result of a tool; nothing but a result is an answer."""
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = http.post("/mcp", content=jsonio.dumps(message), headers=dict(headers))
    assert answer.status_code == 200, answer.text
    reply: Answer = json.loads(answer.text.split("data: ", 1)[1])
    assert "error" not in reply, reply
    result: Answer = reply["result"]
    return result
