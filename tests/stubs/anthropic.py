"""A scripted Anthropic Messages API on loopback: the model of tests that run a real engine.

    with anthropic.serve() as stub:
        stub.say(use("Read", {"file_path": "a.txt"}))       # answers in order …
        stub.say(text("done"), output_tokens=7)
        stub.when(lambda asked: asked.says("look around"), Reply([text("seen")]))  # … or by content
        …  # the engine, with stub.url as its base URL
        assert stub.asked[0].tools == ["Read"]

A request that no script answers is refused with 400 and kept in `stub.unscripted`.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.stubs.loopback import Handler, pieces, serving

Block = dict[str, Any]
_numbers = count(1)
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def thinking(words: str) -> Block:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def use(tool: str, args: dict[str, Any] | None = None, call: str = "") -> Block:
    """A tool_use block; several in one reply are parallel calls."""
    call = call or f"toolu_stub{next(_numbers):06}"
    return {"type": "tool_use", "id": call, "name": tool, "input": args or {}}


@dataclass
class Reply:
    """One answer. An error status sends that error; `hold` and `cut` break a stream on purpose.

    hold: wait for stub.release(), or for go.set() of this one, before this many deltas were sent
        (0: before the headers).
    cut: close the connection after this many deltas; `ends`: as if the answer were whole.
    piece: characters per delta.
    """

    blocks: list[Block] = field(default_factory=list)
    status: int = 200
    message: str = ""
    hold: int | None = None
    cut: int | None = None
    ends: bool = False
    piece: int = 64
    input_tokens: int = 10
    output_tokens: int = 5
    headers: dict[str, str] = field(default_factory=dict)
    go: threading.Event = field(default_factory=threading.Event)

    @property
    def stop_reason(self) -> str:
        return "tool_use" if any(b["type"] == "tool_use" for b in self.blocks) else "end_turn"


@dataclass
class Asked:
    """One request for a message, as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def key(self) -> str:
        """The credential, in whichever header the client sends it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("x-api-key", bearer)

    @property
    def tools(self) -> list[str]:
        """The names of the tools offered to the model."""
        return sorted(tool["name"] for tool in self.body.get("tools", []))

    @property
    def system(self) -> str:
        return _words(self.body.get("system", ""))

    @property
    def messages(self) -> list[tuple[str, str]]:
        """(role, everything readable in it) of each message."""
        return [(m["role"], _words(m["content"])) for m in self.body["messages"]]

    @property
    def results(self) -> dict[str, tuple[bool, str]]:
        """call -> (is_error, text) of every tool result in the conversation."""
        blocks = [
            block
            for message in self.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        return {
            block["tool_use_id"]: (bool(block.get("is_error")), _words(block.get("content") or ""))
            for block in blocks
        }

    def says(self, words: str) -> bool:
        """Whether the first message of the user holds these words: which agent is asking."""
        first = next((text for role, text in self.messages if role == "user"), "")
        return words in first


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [b.get("text") or b.get("thinking") or _words(b.get("content") or "") for b in content]
    return "\n".join(part for part in parts if part)


class Stub:
    """The script and the record of one server."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.unscripted: list[Asked] = []
        self.others: list[str] = []  # "METHOD path" of whatever is no request for a message
        self.url = ""
        self._queue: deque[Reply] = deque()
        self._rules: list[tuple[Callable[[Asked], bool], deque[Reply]]] = []
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._closed = threading.Event()

    def say(self, *blocks: Block, **settings: Any) -> None:
        """The next answer to whoever asks."""
        self._queue.append(Reply(list(blocks), **settings))

    def fail(self, status: int, times: int = 1, message: str = "scripted") -> None:
        """The next answers are this error."""
        self._queue.extend(Reply(status=status, message=message) for _ in range(times))

    def when(self, holds: Callable[[Asked], bool], *replies: Reply) -> None:
        """Answers, in order, for requests of which `holds` is true; before the common ones."""
        self._rules.append((holds, deque(replies)))

    def release(self) -> None:
        """Let held answers go on."""
        self._released.set()

    def reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            for holds, replies in self._rules:
                if replies and holds(asked):
                    return replies.popleft()
            if self._queue:
                return self._queue.popleft()
            self.unscripted.append(asked)
            return Reply(status=400, message="no answer is scripted")

    def wait(self, reply: Reply) -> bool:
        """Until release() or the reply's own `go` (True) or the end of the server (False)."""
        while not (self._released.wait(0.02) or reply.go.is_set()):
            if self._closed.is_set():
                return False
        return True

    def close(self) -> None:
        self._closed.set()


@contextmanager
def serve() -> Iterator[Stub]:
    """A running server; its URL is `stub.url`."""
    stub = Stub()
    with serving(_Handler, stub) as url, closing(stub):
        stub.url = url
        yield stub


class _Handler(Handler):
    stub: Stub

    def do_GET(self) -> None:
        self.stub.others.append(f"{self.command} {self.path}")
        self.send_json(404, _error(404, "no such route"))

    do_HEAD = do_GET

    def do_POST(self) -> None:
        data = self.body()
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self.stub.others.append(f"POST {self.path}")
            self.send_json(200, {"input_tokens": max(1, len(data) // 4)})
        elif path.endswith("/v1/messages"):
            asked = Asked(self.path, self.lower_headers(), json.loads(data))
            with suppress(ConnectionError):
                self._answer(asked, self.stub.reply_to(asked))
        else:
            self.do_GET()

    def _answer(self, asked: Asked, reply: Reply) -> None:
        if reply.hold == 0 and not self.stub.wait(reply):
            self.close_connection = True
        elif reply.status != 200:
            self.send_json(reply.status, _error(reply.status, reply.message), reply.headers)
        elif asked.body.get("stream"):
            self._stream(asked, reply)
        elif reply.cut is not None:
            self.cut()
        else:
            self.send_json(200, _message(asked, reply, reply.blocks), reply.headers)

    def _stream(self, asked: Asked, reply: Reply) -> None:
        self.begin_stream(reply.headers)
        deltas = 0
        for event in _events(asked, reply):
            if event["type"] == "content_block_delta":
                held = reply.hold is not None and deltas == reply.hold
                if (held and not self.stub.wait(reply)) or deltas == reply.cut:
                    self.break_off(reply.ends)
                    return
                deltas += 1
            self.send_event(f"event: {event['type']}\ndata: {json.dumps(event)}")
        self.end_stream()


def _error(status: int, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": ERRORS[status], "message": message}}


def _message(asked: Asked, reply: Reply, blocks: list[Block]) -> dict[str, Any]:
    return {
        "id": f"msg_stub{next(_numbers):06}",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", ""),
        "content": blocks,
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
    }


def _events(asked: Asked, reply: Reply) -> Iterator[dict[str, Any]]:
    """The events of one streamed message, each block in deltas of `reply.piece` characters."""
    yield {"type": "message_start", "message": _message(asked, reply, []) | {"stop_reason": None}}
    for index, block in enumerate(reply.blocks):
        yield {"type": "content_block_start", "index": index, "content_block": _opening(block)}
        for delta in _deltas(block, reply.piece):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    usage = {"output_tokens": reply.output_tokens}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


def _opening(block: Block) -> Block:
    empty: Block = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: empty.get(key, value) for key, value in block.items()}


def _deltas(block: Block, piece: int) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            for part in pieces(block["text"], piece):
                yield {"type": "text_delta", "text": part}
        case "thinking":
            for part in pieces(block["thinking"], piece):
                yield {"type": "thinking_delta", "thinking": part}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            for part in pieces(json.dumps(block["input"]), piece):
                yield {"type": "input_json_delta", "partial_json": part}
