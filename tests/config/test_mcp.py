"""The MCP transport: order of checks, exact answers, one event per request."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import __version__
from config.errors import Conflict, SvcError
from config.mcp import endpoint as mcp
from config.mcp import jsonrpc, keepalive
from config.mcp.operations import Argument, Operation, Registry
from config.mcp.results import tool_error
from config.web.http import threads
from tests.config.mcp_world import HEADERS, REGISTRY, Caller, Closed, Endpoint, ask, call, request

LIMIT = jsonrpc.BODY_LIMIT


def without(name: str) -> dict[str, str]:
    return {key: value for key, value in HEADERS.items() if key != name}


async def test_the_gate_answers_before_method_headers_and_body():
    for method in ("POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS"):
        answer = await ask(b"x" * 10, endpoint=Closed, method=method, headers={})

        assert (answer.status, answer.json, answer.read) == (401, {"error": "unauthorized"}, 0)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
async def test_any_method_but_post_is_405_with_allow(method: str):
    answer = await ask(method=method, headers={})

    assert answer.status == 405
    assert answer.headers["allow"] == "POST"
    assert answer.json["error"] == {"code": -32000, "message": "Method not allowed: send POST"}
    assert answer.json["id"] is None
    assert answer.calls == []


async def test_an_endpoint_without_operations_is_503_after_the_method_check():
    class Unwired(Endpoint):
        registry = None

    assert (await ask(endpoint=Unwired, method="GET")).status == 405
    answer = await ask(endpoint=Unwired, headers={})
    assert (answer.status, answer.json) == (
        503,
        {"error": "unavailable", "code": "ops_unavailable"},
    )


@pytest.mark.parametrize(
    ("accept", "good"),
    [
        ("text/event-stream,application/json", True),
        ("Application/JSON; q=0.1 , TEXT/event-stream;q=1", True),
        ("application/json, text/event-stream, */*", True),
        ("*/*", False),
        ("application/json", False),
        ("text/event-stream", False),
        ("application/json;q=0, text/event-stream", False),
        ("application/json;q=0.000, text/event-stream", False),
        ("application/*, text/event-stream", False),
        ("", False),
    ],
)
async def test_accept_must_name_both_types(accept: str, good: bool):
    answer = await ask(request("ping"), headers={**HEADERS, "accept": accept})

    assert answer.status == (200 if good else 406)
    if not good:
        text = "Not Acceptable: Client must accept both application/json and text/event-stream"
        assert answer.json["error"] == {"code": -32000, "message": text}
        assert answer.read == 0


async def test_two_accept_headers_count_as_one():
    pairs = [
        ("accept", "application/json"),
        ("accept", "text/event-stream"),
        ("content-type", "application/json"),
    ]

    assert (await ask(request("ping"), headers=pairs)).status == 200


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({"content-type": "application/json; charset=UTF-8"}, True),
        ({"content-type": 'Application/Json;charset="utf-8"'}, True),
        ({"content-type": "application/json; charset=latin1"}, False),
        ({"content-type": "text/plain"}, False),
        ({"content-type": ""}, False),
        ({"content-encoding": "gzip"}, False),
    ],
)
async def test_only_plain_json_is_taken(changes: dict[str, str], good: bool):
    answer = await ask(request("ping"), headers=HEADERS | changes)

    assert answer.status == (200 if good else 415)
    if not good:
        assert answer.read == 0
        assert answer.json["error"]["code"] == -32000


async def test_a_missing_content_type_is_415():
    assert (await ask(request("ping"), headers=without("content-type"))).status == 415


async def test_a_declared_size_over_the_limit_is_refused_unread():
    answer = await ask(b"{}", headers={**HEADERS, "content-length": str(LIMIT + 1)})

    assert (answer.status, answer.read) == (413, 0)
    assert answer.headers["connection"] == "close"
    assert answer.json["error"]["message"] == "Request body is larger than 4194304 bytes"


async def test_a_chunked_body_is_refused_as_soon_as_it_is_too_large():
    answer = await ask([b" " * (LIMIT // 2)] * 10)

    assert (answer.status, answer.read) == (413, 3)


async def test_a_client_that_leaves_before_its_body_is_whole_gets_nothing():
    answer = await ask([])

    assert (answer.status, answer.calls) == (0, [])


@pytest.mark.parametrize(
    "body",
    [b"", b"  ", b"{", b'{"a":NaN}', b"[Infinity]", b'{"\xff":1}', b"[" * 200 + b"]" * 200],
)
async def test_what_is_no_json_is_a_parse_error(body: bytes):
    answer = await ask(body)

    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32700, None)
    assert answer.json["error"]["message"].startswith("Parse error: ")
    assert [call.outcome for call in answer.calls] == ["invalid"]


@pytest.mark.parametrize(
    ("body", "echoed"),
    [
        ("[]", None),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None),
        ("null", None),
        ("3", None),
        ("{}", None),
        ('{"jsonrpc":"2.0","id":7}', 7),
        ('{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":1,"method":5}', 1),
    ],
)
async def test_json_that_is_no_request_is_invalid_and_runs_nothing(body: str, echoed: object):
    answer = await ask(body.encode())

    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert answer.json["error"]["message"].startswith("Invalid Request: ")
    assert answer.json["id"] == echoed
    assert list(answer.json) == ["jsonrpc", "error", "id"]


async def test_the_handshake_names_svc_and_its_version_in_the_contracts_bytes():
    hello = {
        "protocolVersion": "1999-01-01",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    answer = await ask(request("initialize", hello, id="a"))

    expected = (
        'event: message\ndata: {"result":{"protocolVersion":"2025-11-25",'
        '"capabilities":{"tools":{}},'
        f'"serverInfo":{{"name":"svc","version":"{__version__}"}}}},"jsonrpc":"2.0","id":"a"}}\n\n'
    )
    assert answer.body.decode() == expected
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"


@pytest.mark.parametrize("sent", [0, -1, 2**53, "0", "", "ü"])
async def test_an_id_comes_back_as_it_came(sent: object):
    answer = await ask(request("ping", id=sent))

    assert answer.data == {"result": {}, "jsonrpc": "2.0", "id": sent}
    assert type(answer.data["id"]) is type(sent)


async def test_an_id_that_cannot_be_written_does_not_break_the_answer():
    answer = await ask(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}')

    assert answer.data["id"] == "\ufffd"


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "say"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    ],
)
async def test_notifications_and_responses_are_taken_and_do_nothing(body: dict[str, object]):
    answer = await ask(body)

    assert (answer.status, answer.body, answer.calls) == (202, b"", [])


@pytest.mark.parametrize("method", ["prompts/list", "resources/read", "tools/Call", "x" * 5000])
async def test_other_methods_are_not_found(method: str):
    answer = await ask(request(method, {"anything": 1}))

    assert answer.data["error"] == {"code": -32601, "message": f"Method not found: {method}"}
    assert [(c.operation, c.outcome) for c in answer.calls] == [("", "invalid")]


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("tools/call", None, "name must be a string"),
        ("tools/call", [], "params must be an object"),
        ("tools/list", 3, "params must be an object"),
        ("tools/call", {"name": 3}, "name must be a string"),
        ("tools/call", {"name": "say", "arguments": []}, "arguments must be an object"),
        ("initialize", None, "protocolVersion must be a string"),
        ("initialize", {"protocolVersion": "2025-06-18"}, "capabilities must be an object"),
        (
            "initialize",
            {"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
            "protocolVersion must be a string",
        ),
    ],
)
async def test_mistyped_params_are_invalid_params(method: str, params: object, text: str):
    answer = await ask(request(method, params))

    assert answer.status == 200
    assert answer.data["error"] == {"code": -32602, "message": f"Invalid params: {text}"}
    assert answer.data["id"] == 1


async def test_a_tool_call_answers_text_and_structure_alike():
    answer = await ask(call("say", project="a", text="hé"))

    result = answer.data["result"]
    assert list(result) == ["content", "structuredContent"]
    assert result["structuredContent"] == {"project": "a", "text": "hé"}
    assert result["content"] == [{"type": "text", "text": '{"project":"a","text":"hé"}'}]
    assert [(c.operation, c.outcome) for c in answer.calls] == [("say", "ok")]


@pytest.mark.parametrize("arguments", [None, {}])
async def test_absent_and_null_arguments_are_none(arguments: object):
    answer = await ask(request("tools/call", {"name": "look", "arguments": arguments}))

    assert answer.data["result"]["structuredContent"] == {}


@pytest.mark.parametrize(
    ("arguments", "text", "outcome"),
    [
        ({"project": "a", "text": "missing"}, "Error: Project not found: nope", "error"),
        ({"project": "a", "text": "busy"}, "Error: It is busy", "error"),
        ({"project": "a", "text": "wrong"}, "Error: `text` is wrong.", "invalid"),
        ({"project": "secret"}, "not permitted: project secret", "denied"),
        ({}, "Error: `project` is required (there is no current project).", "invalid"),
        (
            {"project": "a", "txt": "x"},
            "Error: unknown argument `txt` for say (did you mean `text`?).",
            "invalid",
        ),
    ],
)
async def test_a_failing_tool_is_a_tool_error(arguments: dict[str, str], text: str, outcome: str):
    answer = await ask(call("say", **arguments))

    assert answer.status == 200
    assert answer.data["result"] == {"content": [{"type": "text", "text": text}], "isError": True}
    assert [c.outcome for c in answer.calls] == [outcome]


async def test_a_defect_tells_nothing_of_itself(caplog: pytest.LogCaptureFixture):
    answer = await ask(call("say", project="a", text="crash"))

    assert answer.data["result"]["content"][0]["text"] == "Error: internal error"
    assert "a secret detail" in caplog.text


async def test_an_endpoint_has_its_own_name_and_its_own_words_for_failures():
    class Own(Endpoint):
        name = "svc-own"

        def failure(self, error: SvcError) -> dict[str, object]:
            return tool_error(f"{error.status} {error.code}")

    hello = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "t", "version": ""}}
    greeted = await ask(request("initialize", hello), endpoint=Own)
    told = [
        (await ask(call("say", project=project, text=text), endpoint=Own)).data["result"]
        for project, text in (("a", "missing"), ("secret", "x"), ("a", "crash"))
    ]

    assert greeted.data["result"]["serverInfo"]["name"] == "svc-own"
    expected = ("404 not_found", "403 denied", "500 internal")
    assert told == [tool_error(text) for text in expected]


async def test_hidden_and_unknown_tools_are_told_apart_by_nobody():
    class Narrow(Endpoint):
        caller = Caller(frozenset({"look"}))

    for name in ("say", "look", "nothing"):  # look needs say
        answer = await ask(call(name, project="a"), endpoint=Narrow)

        assert answer.data["result"] == tool_error(f"Unknown tool: {name}")
        assert [c.outcome for c in answer.calls] == ["unknown_tool"]


async def test_the_list_shows_what_is_granted_and_ignores_a_cursor():
    class Own(Endpoint):
        caller = Caller(defaults={"project": "a"})

    for _ in range(2):  # made, then kept
        theirs = await ask(request("tools/list", {"cursor": "x"}))
        own = await ask(request("tools/list"), endpoint=Own)

        say, look = theirs.data["result"]["tools"]
        assert list(say) == ["name", "title", "description", "inputSchema", "annotations"]
        assert (say["title"], say["annotations"]["destructiveHint"]) == ("Say", False)
        assert say["inputSchema"]["required"] == ["project"]
        assert look["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
        assert "required" not in own.data["result"]["tools"][0]["inputSchema"]
        assert "nextCursor" not in theirs.data["result"]


async def test_headers_leave_before_the_tool_has_finished_and_waiting_is_shown(
    monkeypatch: pytest.MonkeyPatch,
):
    release, sent = threading.Event(), asyncio.Event()
    monkeypatch.setattr(keepalive, "WAIT_S", 0.01)
    monkeypatch.setattr(REGISTRY, "run", lambda *a, **k: {"late": release.wait(5)})
    body = json.dumps(call("say", project="a")).encode()
    messages = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        messages.append(message)
        if message.get("body") == b": wait\n\n":
            sent.set()

    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {"type": "http", "method": "POST", "headers": headers}
    task = asyncio.ensure_future(Endpoint()(scope, receive, send))  # type: ignore[arg-type]
    await asyncio.wait_for(sent.wait(), 5)
    assert [m.get("status") for m in messages[:1]] == [200]
    assert messages[1] == {"type": "http.response.body", "body": b"", "more_body": True}
    release.set()
    await asyncio.wait_for(task, 5)

    assert b'"late":true' in messages[-1]["body"]  # type: ignore[operator]
    assert messages[-1]["more_body"] is False


async def test_each_answer_says_that_it_takes_a_while_whichever_began_first():
    waited, heard = [asyncio.Event(), asyncio.Event()], asyncio.Queue[bytes]()

    async def answer(name: bytes, until: asyncio.Event) -> None:
        async def send(body: bytes, **_more: bool) -> None:
            heard.put_nowait(name + body)

        async with keepalive.KeepAlive(send):
            await until.wait()

    first = asyncio.create_task(answer(b"first", waited[0]))
    assert await asyncio.wait_for(heard.get(), 5) == b"first"
    second = asyncio.create_task(answer(b"second", waited[1]))  # the next comment is far away
    assert await asyncio.wait_for(heard.get(), 5) == b"second"
    for event in waited:
        event.set()
    await asyncio.wait_for(asyncio.gather(first, second), 5)
    assert heard.empty()


async def test_an_answer_that_is_there_at_once_leaves_with_its_headers(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(keepalive, "BEGIN_S", 60)
    messages = []

    async def receive() -> dict[str, object]:
        body = json.dumps(call("say", project="a")).encode()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        messages.append(message)

    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    scope = {"type": "http", "method": "POST", "headers": headers}
    await Endpoint()(scope, receive, send)  # type: ignore[arg-type]

    assert [m["type"] for m in messages] == ["http.response.start", "http.response.body"]
    assert messages[1]["more_body"] is False


async def test_calls_that_wait_hold_no_thread_and_are_answered_like_others():
    release, waiting, registry = asyncio.Event(), asyncio.Queue[str](), Registry()

    async def wait(caller: Caller, *, word: str) -> dict[str, object]:
        waiting.put_nowait(threading.current_thread().name)
        await release.wait()
        if word == "no":
            raise Conflict("It did not come")
        return {"word": word}

    registry.add(
        Operation(
            name="wait", group="read", description="Wait", run=wait, render=lambda value: value,
            arguments=(Argument("word", "string", required=True),), read_only=True, waits=True,
        )
    )  # fmt: skip

    class Waits(Endpoint):
        pass

    Waits.registry = registry
    words = ["no", *map(str, range(threads.SIZE + threads.BRIEF))]
    tasks = [asyncio.ensure_future(ask(call("wait", word=one), endpoint=Waits)) for one in words]
    names = {await asyncio.wait_for(waiting.get(), 5) for _ in words}
    release.set()
    refused, first, *_ = [await asyncio.wait_for(task, 5) for task in tasks]

    assert names == {threading.current_thread().name}
    assert first.data["result"]["structuredContent"] == {"word": "0"}
    assert [(c.operation, c.outcome) for c in first.calls] == [("wait", "ok")]
    assert refused.data["result"]["content"][0]["text"] == "Error: It did not come"
    assert [c.outcome for c in refused.calls] == ["error"]
    missing = await ask(call("wait"), endpoint=Waits)
    assert missing.data["result"]["content"][0]["text"] == "Error: `word` is required."


async def test_a_call_with_nothing_to_wait_for_is_done_at_once():
    registry = Registry()
    registry.add(
        Operation(
            name="wait", group="read", description="Wait", run=lambda *_, **given: given,
            render=lambda value: value, pause=lambda *_, **__: None, read_only=True,
            arguments=(Argument("word", "string"),),
        )
    )  # fmt: skip

    class Waits(Endpoint):
        pass

    Waits.registry = registry
    answer = await ask(call("wait", word="x"), endpoint=Waits)

    assert answer.data["result"]["structuredContent"] == {"word": "x"}
    assert [(c.operation, c.outcome) for c in answer.calls] == [("wait", "ok")]


async def test_a_client_that_leaves_ends_its_wait_and_nothing_is_done_for_it():
    registry, ended, ran = Registry(), asyncio.Event(), []

    async def pause(caller: Caller, *, word: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    registry.add(
        Operation(
            name="wait", group="read", description="Wait", run=lambda *_, **__: ran.append(1),
            render=lambda value: value, pause=pause, read_only=True,
            arguments=(Argument("word", "string", required=True),),
        )
    )  # fmt: skip

    class Waits(Endpoint):
        pass

    Waits.registry = registry
    answer = await asyncio.wait_for(ask(call("wait", word="x"), endpoint=Waits, leaves=True), 5)
    await asyncio.wait_for(ended.wait(), 5)

    assert answer.body == b""
    assert ran == []
    assert [(c.operation, c.outcome) for c in answer.calls] == [("wait", "error")]
    wrong = await ask(call("wait"), endpoint=Waits)
    assert wrong.data["result"]["content"][0]["text"] == "Error: `word` is required."


async def test_a_call_is_written_down_even_when_its_client_has_left(
    monkeypatch: pytest.MonkeyPatch,
):
    begun, release, written = threading.Event(), threading.Event(), threading.Event()

    class Watched(Endpoint):
        def record(self, call: mcp.Call) -> None:
            super().record(call)
            written.set()

    def slow(*_: object, **__: object) -> dict[str, object]:
        begun.set()
        release.wait(5)
        return {}

    monkeypatch.setattr(REGISTRY, "run", slow)
    task = asyncio.ensure_future(ask(call("say", project="a"), endpoint=Watched))
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    release.set()

    assert await asyncio.to_thread(written.wait, 5)


@given(st.binary(max_size=200))
def test_no_body_whatever_is_a_server_error(body: bytes):
    answer = asyncio.run(ask(body))

    assert answer.status in (200, 202, 400)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(JSON, JSON, st.sampled_from(["tools/call", "tools/list", "initialize", "ping"]))
def test_no_params_whatever_are_a_server_error(params: object, arguments: object, method: str):
    whole = request(method, params)
    if method == "tools/call":
        whole["params"] = {"name": "say", "arguments": arguments}
    answer = asyncio.run(ask(json.dumps(whole).encode()))

    assert answer.status in (200, 400)
    assert b"internal error" not in answer.body.lower()
