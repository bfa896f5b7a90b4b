"""JSON-RPC over one HTTP POST: what a request must look like, and the bytes that answer it.

Checks headers, then the body, then the message, each with its own status and sentence. Knows
nothing of tools, callers or the SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Never

from config import jsonio
from config.web.answers import Header, Refusal
from config.web.guard import Headers

BODY_LIMIT = 4 * 1024 * 1024
JSON, EVENTS = "application/json", "text/event-stream"
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32601, -32602, -32603
TRANSPORT_ERROR = -32000

Id = int | str | None


class RequestRefused(Exception):
    """The request is refused; `answer` is what the client gets."""

    def __init__(self, answer: Refusal) -> None:
        super().__init__(answer.status)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Message:
    """One valid JSON-RPC object. A notification has no id, a client's response no method."""

    method: str
    params: Any
    id: Id

    @property
    def is_request(self) -> bool:
        return bool(self.method) and self.id is not None


def error(code: int, text: str, id: Id = None, data: Any = None) -> dict[str, Any]:  # noqa: A002
    told = {"code": code, "message": text} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "error": told, "id": id}


def refuse(
    status: int,
    code: int,
    text: str,
    id: Id = None,  # noqa: A002 - the wire's word
    *headers: Header,
    data: Any = None,
) -> Never:
    raise RequestRefused(
        Refusal(status, error(code, jsonio.clean(text), _printable(id), data), headers)
    )


def _printable(id: Id) -> Id:  # noqa: A002
    return jsonio.clean(id) if isinstance(id, str) else id


def check_headers(headers: Headers) -> None:
    """Check Accept, Content-Type and the declared length: 406, 415, 413."""
    if not _accepts_both(tuple(headers.all(b"accept"))):
        text = f"Not Acceptable: Client must accept both {JSON} and {EVENTS}"
        refuse(406, TRANSPORT_ERROR, text)
    if not _is_json(tuple(headers.all(b"content-type"))) or any(headers.all(b"content-encoding")):
        text = f"Unsupported Media Type: Content-Type must be {JSON}"
        refuse(415, TRANSPORT_ERROR, text)
    declared = headers.all(b"content-length")
    if declared and declared[0].isdigit() and int(declared[0]) > BODY_LIMIT:
        refuse_size()


def refuse_size() -> Never:
    text = f"Request body is larger than {BODY_LIMIT} bytes"
    refuse(413, TRANSPORT_ERROR, text, None, (b"connection", b"close"))


@lru_cache(64)  # a client sends the same values each time
def _accepts_both(values: tuple[str, ...]) -> bool:
    return _accepted_types(values) >= {JSON, EVENTS}


def _accepted_types(values: tuple[str, ...]) -> set[str]:
    """The media types listed with a weight above 0."""
    found = set()
    for entry in ",".join(values).split(","):
        kind, *parameters = (part.strip().lower() for part in entry.split(";"))
        weights = [part[2:].strip() for part in parameters if part.startswith("q=")]
        if not any(weight.replace(".", "").strip("0") == "" for weight in weights):
            found.add(kind)
    return found


@lru_cache(64)
def _is_json(values: tuple[str, ...]) -> bool:
    if len(values) != 1:
        return False
    kind, *parameters = (part.strip().lower() for part in values[0].split(";"))
    charsets = [part[8:].strip(' "') for part in parameters if part.startswith("charset=")]
    return kind == JSON and all(charset in {"utf-8", "utf8"} for charset in charsets)


def parse(body: bytes) -> Message:
    """The body as one JSON-RPC message; refused with 400 if it is not JSON or has another shape."""
    try:
        value = jsonio.loads(body)
    except jsonio.JsonError as reason:
        text = str(reason) if body.strip() else "the body is empty"
        refuse(400, PARSE_ERROR, f"Parse error: {text}")
    if not isinstance(value, dict):
        _invalid("the body must be one JSON object")
    id = value.get("id")  # noqa: A001
    if "id" in value and (isinstance(id, bool) or not isinstance(id, int | str)):
        _invalid("id must be a string or a whole number")
    if value.get("jsonrpc") != "2.0":
        _invalid('jsonrpc must be "2.0"', id)
    if "method" in value:
        if not isinstance(value["method"], str) or not value["method"]:
            _invalid("method must be a string", id)
        return Message(value["method"], value.get("params"), id)
    if not {"result", "error"} & value.keys():
        _invalid("method, result or error is missing", id)
    return Message("", None, id)


def _invalid(reason: str, id: Id = None) -> Never:  # noqa: A002
    refuse(400, INVALID_REQUEST, f"Invalid Request: {reason}", id)


_EVENT = b"event: message\ndata: %b\n\n"
_RESULT = _EVENT % b'{"result":%b,"jsonrpc":"2.0","id":%b}'


def event(body: bytes) -> bytes:
    return _EVENT % body


def result_event(result: bytes, id: Id) -> bytes:  # noqa: A002
    """The event with a result. Clients of older servers expect this order of keys. It is formatted
    in one step: a further copy of a long list needs memory pages that the system must clear."""
    return _RESULT % (result, jsonio.dumps(id))


def error_event(code: int, text: str, id: Id) -> bytes:  # noqa: A002
    return event(jsonio.dumps(error(code, text, id)))
