"""Model servers: keys, failures, local ones, and what is never sent to which."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.stubs import anthropic
from tests.stubs.loopback import Handler, serving
from tests.stubs.openai import text, thinking, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.builtin.talk import KEY, Talk, end, notices, of, result
from workspace.engines import sandbox
from workspace.engines.builtin import ENGINE, servers
from workspace.engines.network import Network


@pytest.fixture
def claude(world) -> Iterator[Talk]:
    """A chat with an Anthropic model."""
    with anthropic.serve() as served:
        yield Talk(world, served, "anthropic:claude-sonnet-5-5")
        assert served.unscripted == []


@pytest.fixture
def hosted(world, stub) -> Talk:
    """A chat with an OpenAI model."""
    return Talk(world, stub, "openai:gpt-x")


@pytest.mark.slow
def test_an_anthropic_model_thinks_calls_and_is_told_of_errors(claude, world):
    stub = claude.stub
    stub.say(thinking("hm"), text("I look."), use("Read", {"file_path": "a.txt"}, call="toolu_a"))
    stub.say(text("There is none."), input_tokens=30, output_tokens=4)

    records = claude.run("Read a.txt", instructions="Be brief.")

    assert only(records, "thinking")["text"] == "hm"
    assert stub.asked[1].results == {"toolu_a": (True, "file not found: a.txt")}
    assert stub.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "Be brief." in stub.asked[0].system
    last = records[-1]
    assert (end(records), last["usage"]["totalTokens"], last["cost"]) == (("ok", None), 49, None)

    stub.say(text("Yes."))
    claude.run("Sure?")
    assert [role for role, _ in stub.asked[2].messages] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip


def test_an_openai_model_gets_its_key_and_a_local_one_gets_none(hosted, talk, stub):
    stub.say(text("ok"))
    stub.say(text("ok"))
    hosted.run()
    talk.run()
    assert stub.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(stub.asked[1].headers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "times", "reason"),
    [
        (401, 1, "auth_failed"),
        (403, 1, "auth_failed"),
        (429, 3, "rate_limited"),
        (400, 1, "api_error"),
    ],
)
def test_a_refusal_of_the_server_is_never_a_success(hosted, stub, status, times, reason):
    stub.fail(status, times, message=f"no, {KEY} is not welcome")
    records = hosted.run()
    assert (end(records), records[-1]["turns"]) == (("error", reason), 1)
    assert "no, *** is not welcome" in records[-1]["text"]
    assert reason in notices(records)
    assert KEY not in hosted.world.transcript.read_text()


@pytest.mark.slow
def test_an_overloaded_anthropic_is_a_rate_limit(claude):
    claude.stub.fail(529, times=3)
    assert end(claude.run()) == ("error", "rate_limited")


@pytest.mark.slow
def test_a_stream_that_breaks_off_is_a_failure_with_what_was_said(talk, stub):
    for _ in range(3):
        stub.say(text("Half of the answer"), piece=5, cut=2)
    records = talk.run()
    assert end(records) == ("error", "api_error")
    assert records[-1]["text"].startswith("The model's server broke off in the middle")
    said = only(records, "assistant")
    assert (said["text"], said["partial"]) == ("Half of th", True)


@pytest.mark.process
@pytest.mark.parametrize("name", ["claude", "hosted"])
def test_an_answer_that_ends_without_a_word_that_it_is_whole_is_none(request, name):
    talk = request.getfixturevalue(name)
    talk.stub.say(text("Half of the answer"), piece=5, cut=2, ends=True)
    records = talk.run()
    assert end(records) == ("error", "api_error")
    assert records[-1]["text"].startswith("The model's server broke off in the middle")
    assert only(records, "assistant")["text"] == "Half of th"


def test_a_gateway_that_never_says_why_it_stops_is_believed_when_it_says_that_it_has(hosted, stub):
    stub.reasons = False
    stub.say(use("Read", {"file_path": "a.txt"}, call="call_a"))
    stub.say(text("There is none."))

    records = hosted.run("Read a.txt")

    assert (end(records), len(stub.asked)) == (("ok", None), 2)
    assert only(records, "assistant")["text"] == "There is none."


@pytest.mark.parametrize("ending", ["data: [DONE]", "data:[DONE]"])
def test_the_word_that_a_stream_has_ended_is_found_in_pieces_and_nowhere_else(ending):
    inside = 'data: {"content": "data: [DONE]"}'

    assert [done for _, done in _arriving(f"{inside}\n\n{ending}\n\n")] == [False, True]
    assert [done for _, done in _arriving(f"{inside}\n\n")] == [False, False]


def _arriving(stream: str) -> list[tuple[str, bool]]:
    """What was known of a stream that comes byte by byte: at its head, and at its end."""
    import httpx2

    from workspace.engines.builtin.arrival import Arrival

    async def pieces() -> AsyncIterator[bytes]:
        for byte in stream.encode():
            yield bytes([byte])

    async def ask() -> list[tuple[str, bool]]:
        arrival = Arrival()
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=pieces()))
        hooks = {"response": [arrival.watch]}
        async with (
            httpx2.AsyncClient(transport=transport, event_hooks=hooks) as client,
            client.stream("GET", "http://gateway/") as response,
        ):
            known = [(arrival.kind, arrival.done)]
            await response.aread()
        return [*known, (arrival.kind, arrival.done)]

    return asyncio.run(ask())


def test_a_page_in_place_of_an_answer_is_named_as_one(hosted):
    with serving(_Page, None) as url:
        hosted.settings["openai"]["baseUrl"] = url
        records = hosted.run()

    assert end(records) == ("error", "api_error")
    assert "sent text/html, not the stream of an answer" in records[-1]["text"]


class _Page(Handler):
    """A gateway whose path is not the one of its API."""

    def do_POST(self) -> None:
        self.body()
        self.send_json(200, {}, {"Content-Type": "text/html; charset=utf-8"})


@pytest.mark.slow
def test_a_model_that_refuses_is_asked_once_and_is_not_said_to_have_broken_off(hosted, stub):
    stub.say({"type": "refusal", "refusal": "I cannot help with that."})
    records = hosted.run()
    assert end(records) == ("error", "api_error")
    assert records[-1]["text"] == "The model's provider withheld the answer."
    assert len(stub.asked) == 1


def test_a_stream_that_breaks_off_once_is_asked_for_again_and_told_once(talk, stub):
    stub.say(text("Half of the answer"), piece=5, cut=2)
    stub.say(text("All of the answer"))
    records = talk.run()
    assert (end(records), records[-1]["turns"]) == (("ok", None), 1)
    said = only(records, "assistant")
    assert (said["text"], said.get("partial")) == ("All of the answer", None)


@pytest.mark.slow
def test_a_server_that_is_not_there_is_a_failure(talk, stub):
    fields = talk.fields()
    fields["engine_cfg"] |= {"local_url": "http://127.0.0.1:9/v1"}
    records = talk.world.run("Hi", **fields)
    assert end(records) == ("error", "api_error")
    assert "cannot be reached" in records[-1]["text"]


@pytest.mark.slow
def test_a_server_that_does_not_answer_in_time_is_a_failure(talk, stub):
    talk.settings = {"requestSeconds": 0.2}
    for _ in range(3):
        stub.say(text("late"), hold=0)
    assert end(talk.run()) == ("error", "api_error")


NO_TIMES = ["soon", "", True, 0, -1, float("nan"), 10**400, 86401, [5], {}]


@pytest.mark.parametrize("given", NO_TIMES, ids=lambda given: str(given)[:9])
def test_a_time_that_is_none_makes_the_engine_unusable_and_is_named(given):
    found = ENGINE.probe(config(OPENAI_API_KEY=KEY) | {"settings": {"requestSeconds": given}})

    assert not found.available
    assert (found.reason or "").startswith(
        "not usable: engines.builtin.requestSeconds has to be a number of seconds above 0 and up "
        f'to 86400, not "{str(given)[:100]}"'
    )


@pytest.mark.parametrize(
    ("given", "seconds"), [(None, 120), ("30", 30), (0.5, 0.5), (86400, 86400)]
)
def test_a_time_in_seconds_is_what_the_server_gets(given, seconds):
    settings = {"settings": {"requestSeconds": given}}

    assert servers.request_seconds(settings) == seconds
    assert ENGINE.probe(config(OPENAI_API_KEY=KEY) | settings).available


def test_a_turn_with_a_time_that_is_none_is_refused_before_the_model_is_asked(talk, stub):
    talk.settings = {"requestSeconds": "soon"}
    records = talk.run()
    assert end(records) == ("error", "refused")
    assert "engines.builtin.requestSeconds" in records[-1]["text"]
    assert stub.asked == []


def test_a_model_whose_key_is_gone_needs_an_engine_and_gets_no_other(hosted, stub):
    hosted.keys = {"ANTHROPIC_API_KEY": KEY}
    records = hosted.run()
    assert end(records) == ("needs_engine", "needs_engine")
    assert "openai:gpt-x needs OPENAI_API_KEY" in records[-1]["text"]
    assert stub.asked == []


def test_no_command_sees_the_key_in_its_surroundings(hosted, stub):
    look = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'"
    stub.say(use("Bash", {"command": f"({look}) | grep -c {KEY[:12]}[0-9]"}))
    stub.say(text("ok"))
    records = hosted.run()
    assert result(records) == (True, "0\n[exit status 1]")


@pytest.mark.slow
def test_a_proxy_that_a_project_passes_on_is_not_asked(talk, stub, world, monkeypatch):
    environ = world.environ
    proxies = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    monkeypatch.setattr(world, "environ", lambda job: environ(job) | proxies)
    stub.say(text("ok"))
    assert end(talk.run()) == ("ok", None)


@pytest.mark.slow
def test_ollama_is_named_once_in_a_chat_as_one_that_forgets(talk, stub):
    stub.ollama = True
    stub.say(text("ok"))
    stub.say(text("ok"))
    assert notices(talk.run()).count("local_context") == 1
    assert notices(talk.run()).count("local_context") == 0


def config(url: str = "", **keys: str) -> dict[str, object]:
    return {"keys": keys, "settings": {}, "local_url": url}


def test_the_engine_is_there_with_a_key_or_a_local_server(stub, monkeypatch):
    monkeypatch.setattr(servers, "LOCAL_URL", "http://127.0.0.1:9/v1")
    absent = ENGINE.probe(config())
    assert (absent.available, "without a key" in str(absent.reason)) == (False, True)
    keyed = ENGINE.probe(config(OPENAI_API_KEY=KEY))
    assert (keyed.available, keyed.reason, keyed.models) == (True, None, ())
    assert str(keyed.version).startswith("2.")
    stub.models = ["qwen3:8b", "llama3"]
    assert ENGINE.probe(config(stub.url)).models == ("local:qwen3:8b", "local:llama3")
    assert ENGINE.probe(config("http://127.0.0.1:9/v1")).available
    monkeypatch.setattr(servers, "LOCAL_URL", stub.url)
    assert ENGINE.probe(config()).available


def test_without_its_packages_the_engine_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("workspace.engines.builtin.PACKAGES", ("no_such_package",))
    found = ENGINE.probe(config(OPENAI_API_KEY=KEY))
    assert (found.available, found.reason) == (False, "not installed (make engine-models)")


def test_a_message_that_names_no_model_gets_one_that_can_answer(stub):
    stub.models = ["llama3"]
    assert ENGINE.default_model(config(stub.url)) == "local:llama3"
    both = config(stub.url, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    assert str(ENGINE.default_model(both)).startswith("anthropic:claude-")
    assert str(ENGINE.default_model(config(OPENAI_API_KEY=KEY))).startswith("openai:")
    assert ENGINE.default_model(config() | {"settings": {"model": "openai:x"}}) == "openai:x"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("anthropic:claude-x", ("anthropic", "claude-x")),
        ("openai:gpt-x", ("openai", "gpt-x")),
        ("local:qwen3:8b", ("local", "qwen3:8b")),
        ("claude-x", ("anthropic", "claude-x")),
        ("o3", ("openai", "o3")),
        ("llama3:8b", ("openai", "llama3:8b")),
    ],
)
def test_a_models_name_says_which_server_it_is_on(word, found):
    assert servers.read(word, config(OPENAI_API_KEY=KEY)) == found


def test_a_bare_name_is_a_local_model_where_a_local_server_is_configured():
    given = config("http://127.0.0.1:9/v1", OPENAI_API_KEY=KEY)
    assert servers.read("llama3:8b", given) == ("local", "llama3:8b")


CONFINED = sandbox.probe("auto", hide=(), scratch="/tmp")


@pytest.mark.skipif(CONFINED.mode != "bwrap", reason="bubblewrap does not work here")
def test_a_confined_turn_talks_to_its_model_while_its_commands_have_no_network(talk, stub, world):
    host = stub.url.removeprefix("http://").removesuffix("/v1").replace(":", "/")
    stub.say(
        use("Bash", {"command": f"echo x > /dev/tcp/{host}"}),
        use("Bash", {"command": "echo x > .chats/x.jsonl"}),
        use("Bash", {"command": "echo x > ran"}),
    )
    stub.say(text("ok"))
    records = talk.run(network=Network("off"), sandbox=CONFINED)
    assert not {"WebFetch", "WebSearch"} & set(stub.asked[0].tools)
    out, chats, inside = of(records, "tool_result")
    assert "unreachable" in out["text"] or "refused" in out["text"]
    assert "Read-only file system" in chats["text"]
    assert not inside["is_error"]
    assert (world.project / "ran").exists()
    assert end(records) == ("ok", None)


def test_a_turn_with_the_network_off_is_refused_without_bubblewrap(talk, stub):
    records = talk.run(network=Network("off"))
    assert end(records) == ("error", "refused")
    assert "bubblewrap" in records[-1]["text"]
