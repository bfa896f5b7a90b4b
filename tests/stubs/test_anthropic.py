"""The scripted server, as the official client of the real one sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.stubs.anthropic import Reply, Stub, serve, text, thinking, use

ASK: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hello there"}],
}


@pytest.fixture
def library():
    return pytest.importorskip("anthropic", reason="the models extra is not installed")


@pytest.fixture
def client(library: Any) -> Iterator[Callable[[Stub], Any]]:
    """Makes clients, which are closed with the test."""
    with ExitStack() as made:
        yield lambda stub: made.enter_context(
            library.Anthropic(base_url=stub.url, api_key="sk-ant-stub", max_retries=0)
        )


def test_a_streamed_message_arrives_block_by_block(client):
    with serve() as stub:
        stub.say(thinking("let me see"), text("I look."), use("Read", {"file_path": "a"}), piece=4)
        with client(stub).messages.stream(**ASK) as stream:
            deltas = list(stream.text_stream)
            message = stream.get_final_message()

    assert deltas == ["I lo", "ok."]
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.content[2].input == {"file_path": "a"}
    assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 5)
    assert stub.asked[0].says("hello")
    assert stub.asked[0].key == "sk-ant-stub"


def test_rules_come_before_the_common_answers_and_what_has_none_is_refused(library, client):
    with serve() as stub:
        ask = client(stub).messages.create
        stub.when(lambda asked: asked.says("hello"), Reply([text("by rule")]))
        stub.say(text("in order"))
        answers = [ask(**ASK).content[0].text for _ in range(2)]
        with pytest.raises(library.BadRequestError):
            ask(**ASK)

    assert answers == ["by rule", "in order"]
    assert len(stub.unscripted) == 1


@pytest.mark.parametrize("status", [401, 403, 429, 500, 529])
def test_errors_are_those_of_the_real_server(library, client, status):
    with serve() as stub:
        stub.fail(status, message="as scripted")
        with pytest.raises(library.APIStatusError) as caught:
            client(stub).messages.create(**ASK)

    assert caught.value.status_code == status
    assert "as scripted" in str(caught.value)


def test_a_cut_stream_breaks_and_a_held_one_waits_for_its_release(client):
    with serve() as stub:
        stub.say(text("a" * 8), piece=4, cut=1)
        stub.say(text("b" * 8), piece=4, hold=1)
        seen = []
        with (
            pytest.raises(Exception, match=r"(?i)peer|closed|incomplete"),
            client(stub).messages.stream(**ASK) as stream,
        ):
            seen.extend(stream.text_stream)
        with client(stub).messages.stream(**ASK) as stream:
            held = iter(stream.text_stream)
            seen.append(next(held))
            stub.release()
            seen.extend(held)

    assert seen == ["aaaa", "bbbb", "bbbb"]
