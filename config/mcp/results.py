"""What a caller reads: a tool's entry in the list, the result of a call, the text of an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from config import jsonio
from config.errors import Denied, Invalid, SvcError
from config.mcp import arguments
from config.mcp.operations import Operation, Principal

Result = dict[str, Any]

_WANTED = {
    "name": "a string", "arguments": "an object", "protocolVersion": "a string",
    "capabilities": "an object", "clientInfo": "an object",
}  # fmt: skip
_TYPES = {"string_type": "a string", "dict_type": "an object", "model_type": "an object"}


def tool(operation: Operation, caller: Principal) -> Result:
    name = operation.name
    return {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "description": operation.description,
        "inputSchema": arguments.schema(operation, caller.defaults),
        "annotations": _hints(operation),
    }


def _hints(operation: Operation) -> dict[str, bool]:
    """The hints that differ from the protocol's defaults, and for a tool that writes, whether it
    destroys anything: clients assume the worst of one without that hint."""
    if operation.read_only:
        hints = {"readOnlyHint": True}
    else:
        hints = {"destructiveHint": operation.destructive}
        if operation.idempotent:
            hints["idempotentHint"] = True
    return hints if operation.open_world else hints | {"openWorldHint": False}


def tool_result(rendered: Result) -> Result:
    """The object for programs, and its JSON as text: many clients pass only the text to their
    model, and those of the first revision know nothing else."""
    text = jsonio.dumps(rendered).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": rendered}


def encode(result: Result) -> bytes:
    """The bytes of a result. Its text is the JSON of its object, which is not encoded twice."""
    if "structuredContent" in result:
        text = result["content"][0]["text"]
        result = result | {"structuredContent": orjson.Fragment(text)}
    return jsonio.dumps(result)


def tool_error(text: str) -> Result:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def in_band(refusal: Mapping[str, Any]) -> Result:
    """A refusal as the result of a tool: an object for programs, and the same as text."""
    return tool_result(dict(refusal)) | {"isError": True}


def outcome_of(refused: SvcError) -> str:
    match refused:
        case Denied():
            return "denied"
        case Invalid():
            return "invalid"
        case _:
            return "error"


def describe_error(reason: ValidationError) -> str:
    """What is wrong with the params of a request."""
    errors = reason.errors(include_url=False, include_input=False)
    first = min(errors, key=lambda error: error["loc"][-1] != "protocolVersion")
    path = [str(part) for part in first["loc"] if part != "params"]
    wanted = _WANTED.get(path[0] if len(path) == 1 else "", _TYPES.get(first["type"], "valid"))
    return f"Invalid params: {'.'.join(path) or 'params'} must be {wanted}"
