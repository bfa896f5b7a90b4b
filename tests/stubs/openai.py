"""A scripted OpenAI chat completions API on loopback, as a local model server speaks it too.

Scripts are those of tests/stubs/anthropic.py: `stub.say(use("Read", {…}), text("done"))`.
`models` are what GET …/models lists; `ollama` makes the server one that truncates silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from typing import Any

from tests.stubs import anthropic
from tests.stubs.anthropic import Block, Reply, text, thinking, use
from tests.stubs.loopback import Handler, pieces, serving

__all__ = ["Asked", "Reply", "Stub", "serve", "text", "thinking", "use"]
_numbers = count(1)


class Asked(anthropic.Asked):
    """One request for a completion, as it arrived."""

    @property
    def tools(self) -> list[str]:
        return sorted(tool["function"]["name"] for tool in self.body.get("tools", []))

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """Tool -> the JSON schema of its arguments."""
        functions = [tool["function"] for tool in self.body.get("tools", [])]
        return {function["name"]: function["parameters"] for function in functions}

    @property
    def system(self) -> str:
        roles = ("system", "developer")
        return "\n".join(words for role, words in self._all() if role in roles)

    @property
    def messages(self) -> list[tuple[str, str]]:
        return [(role, words) for role, words in self._all() if role in ("user", "assistant")]

    @property
    def results(self) -> dict[str, tuple[bool, str]]:
        """call -> (is_error, text): this protocol marks an error in the text alone."""
        answers = [message for message in self.body["messages"] if message["role"] == "tool"]
        return {
            message["tool_call_id"]: ('"error"' in message["content"][:12], message["content"])
            for message in answers
        }

    def _all(self) -> list[tuple[str, str]]:
        return [(m["role"], _words(m.get("content"))) for m in self.body["messages"]]


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


class Stub(anthropic.Stub):
    """The script and the record of one server."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[str] = []
        self.ollama = False
        self.usage = True  # False: a server that never reports what it used
        self.finish: str | None = None  # instead of the reason that follows from the reply
        self.reasons = True  # False: a gateway that never says why an answer stops


@contextmanager
def serve() -> Iterator[Stub]:
    """A running server; `stub.url` is its base URL, with /v1."""
    stub = Stub()
    with serving(_Handler, stub) as url, closing(stub):
        stub.url = f"{url}/v1"
        yield stub


class _Handler(Handler):
    stub: Stub

    def do_GET(self) -> None:
        self.stub.others.append(f"GET {self.path}")
        if self.path == "/v1/models":
            rows = [{"id": name, "object": "model"} for name in self.stub.models]
            self.send_json(200, {"object": "list", "data": rows})
        elif self.path == "/api/version" and self.stub.ollama:
            self.send_json(200, {"version": "0.12.0"})
        else:
            self.send_json(404, _error("no such route"))

    def do_POST(self) -> None:
        data = self.body()
        if self.path != "/v1/chat/completions":
            self.stub.others.append(f"POST {self.path}")
            self.send_json(404, _error("no such route"))
            return
        asked = Asked(self.path, self.lower_headers(), json.loads(data))
        with suppress(ConnectionError):
            self._answer(asked, self.stub.reply_to(asked))

    def _answer(self, asked: Asked, reply: Reply) -> None:
        if reply.hold == 0 and not self.stub.wait(reply):
            self.close_connection = True
        elif reply.status != 200:
            self.send_json(reply.status, _error(reply.message), reply.headers)
        else:
            self._stream(asked, reply)

    def _stream(self, asked: Asked, reply: Reply) -> None:
        self.begin_stream(reply.headers)
        for number, chunk in enumerate(_chunks(asked, reply, self.stub)):
            held = reply.hold is not None and number == reply.hold
            if (held and not self.stub.wait(reply)) or number == reply.cut:
                self.break_off(reply.ends)
                return
            self.send_event(f"data: {json.dumps(chunk)}")
        self.send_event("data: [DONE]")
        self.end_stream()


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "scripted", "param": None, "code": None}}


def _chunks(asked: Asked, reply: Reply, stub: Stub) -> Iterator[dict[str, Any]]:
    """The chunks of one streamed completion; the one with the usage comes last."""
    envelope = {
        "id": f"chatcmpl-{next(_numbers)}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": asked.body["model"],
    }
    for delta in _deltas(reply.blocks, reply.piece):
        yield envelope | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    finish = "tool_calls" if reply.stop_reason == "tool_use" else "stop"
    last = {"index": 0, "delta": {}, "finish_reason": stub.finish or finish}
    if stub.reasons:
        yield envelope | {"choices": [last]}
    if stub.usage and asked.body.get("stream_options", {}).get("include_usage"):
        used = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
        total = reply.input_tokens + reply.output_tokens
        yield envelope | {"choices": [], "usage": used | {"total_tokens": total}}


def _deltas(blocks: list[Block], piece: int) -> Iterator[dict[str, Any]]:
    calls = count()
    for block in blocks:
        match block["type"]:
            case "text":
                for part in pieces(block["text"], piece):
                    yield {"role": "assistant", "content": part}
            case "refusal":
                yield {"role": "assistant", "refusal": block["refusal"]}
            case "thinking":
                for part in pieces(block["thinking"], piece):
                    yield {"role": "assistant", "reasoning_content": part}
            case "tool_use":
                index = next(calls)
                function = {"name": block["name"], "arguments": ""}
                opening = {"id": block["id"], "type": "function", "function": function}
                yield {"tool_calls": [{"index": index, **opening}]}
                for part in pieces(_arguments(block["input"]), piece):
                    yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _arguments(given: Any) -> str:
    """The text of a call's arguments; a text stands for itself, well formed or not."""
    return given if isinstance(given, str) else json.dumps(given)
