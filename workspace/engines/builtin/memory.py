"""The model's own messages across turns (engine.md 4.2, 4.6): kept as `engine` records, read back
along the chain, forks included.

Each message is kept as soon as it is whole, so a turn that is stopped loses none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from workspace.engines import history
from workspace.engines.base import Messages
from workspace.engines.light_typing import Any

STATE_LOST = "The model's own record of this conversation cannot be read; it was told in words."


def kept(message: ModelMessage) -> Messages:
    """The event that keeps a message."""
    return Messages(ModelMessagesTypeAdapter.dump_python([message], mode="json", exclude_none=True))


def prompt(text: str, instructions: str) -> ModelRequest:
    return ModelRequest([UserPromptPart(text)], instructions=instructions)


def append(messages: list[ModelMessage], message: ModelMessage) -> None:
    """Add a message; requests that follow each other are one: answers to calls stay together."""
    last = messages[-1] if messages else None
    if isinstance(last, ModelRequest) and isinstance(message, ModelRequest):
        messages[-1] = replace(message, parts=[*last.parts, *message.parts])
    else:
        messages.append(message)


def recall(earlier: Iterable[Mapping[str, Any]]) -> list[ModelMessage] | None:
    """The messages of this engine's earlier turns, oldest first; None when they are unreadable.

    `earlier` is TurnIO's, newest first. What a stop cut off is among them as far as it was shown.
    """
    found: list[ModelMessage] = []
    try:
        for record in reversed([record for record in earlier if _remembered(record)]):
            for message in _messages(record):
                append(found, message)
    except ValidationError:
        return None
    return mended(found)


def _remembered(record: Mapping[str, Any]) -> bool:
    if record["type"] == "engine":
        return record.get("engine") == "builtin" and "messages" in record
    partial = record["type"] == "assistant" and record.get("partial")
    return bool(partial) and not record.get("task") and bool(record["text"].strip())


def _messages(record: Mapping[str, Any]) -> list[ModelMessage]:
    if record["type"] == "assistant":
        return [ModelResponse([TextPart(record["text"])])]
    return ModelMessagesTypeAdapter.validate_python(record["messages"])


def mended(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Every call has an answer, as providers demand: one that was cut off was `interrupted`."""
    whole: list[ModelMessage] = []
    for place, message in enumerate(messages):
        append(whole, message)
        if isinstance(message, ModelResponse) and message.tool_calls:
            after = messages[place + 1] if place + 1 < len(messages) else None
            parts = _missing(message, after)
            if parts:
                append(whole, ModelRequest(parts))
    return whole


def _missing(response: ModelResponse, after: ModelMessage | None) -> list[ModelRequestPart]:
    answered = (
        {part.tool_call_id for part in after.parts if isinstance(part, ToolReturnPart)}
        if isinstance(after, ModelRequest)
        else set()
    )
    return [
        ToolReturnPart(
            call.tool_name, history.INTERRUPTED, call.tool_call_id, outcome="interrupted"
        )
        for call in response.tool_calls
        if call.tool_call_id not in answered
    ]
