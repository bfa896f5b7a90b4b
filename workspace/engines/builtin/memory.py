"""The model's own messages across turns: kept as `engine` records, read back along the
chain, forks included.

Each message is kept as soon as it is whole, so a turn that is stopped loses none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pydantic import ValidationError
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from config.process.light_typing import Any
from workspace.engines import history
from workspace.engines.base import Messages

STATE_LOST = "The model's own record of this conversation cannot be read; it was given as text."
ANEW = {"anew": True}  # marks a message before which nothing that was kept is remembered
RECORD = 900_000  # characters of one record; a longer one would be cut and lost


def as_event(message: ModelMessage) -> Messages:
    """The event that keeps a message, without its instructions: they are up to 64 KiB, and each
    turn brings its own."""
    return _dump([message])


def as_events(messages: list[ModelMessage]) -> list[Messages]:
    """The events that keep these messages in place of all that were kept before: a single event if
    one record can hold them."""
    if len(ModelMessagesTypeAdapter.dump_json(messages)) > RECORD:
        return [as_event(message) for message in messages]
    return [_dump(messages)]


def _dump(messages: list[ModelMessage]) -> Messages:
    bare = [
        replace(one, instructions=None) if isinstance(one, ModelRequest) else one
        for one in messages
    ]
    return Messages(ModelMessagesTypeAdapter.dump_python(bare, mode="json", exclude_none=True))


def prompt(
    text: str | list[str | ImageUrl], instructions: str, *, anew: bool = False
) -> ModelRequest:
    """The request with the user's text; `anew` marks it with ANEW."""
    metadata = ANEW if anew else None
    return ModelRequest([UserPromptPart(text)], instructions=instructions, metadata=metadata)


def append(messages: list[ModelMessage], message: ModelMessage) -> None:
    """Add a message. Consecutive requests become one, so that answers to calls stay together."""
    last = messages[-1] if messages else None
    if isinstance(last, ModelRequest) and isinstance(message, ModelRequest):
        messages[-1] = replace(message, parts=[*last.parts, *message.parts])
    else:
        messages.append(message)


def recall(earlier: Iterable[Mapping[str, Any]]) -> list[ModelMessage] | None:
    """The messages of this engine's earlier turns, oldest first; None if they are unreadable.

    `earlier` is TurnIO's, newest first. Text that a stop cut off is included as far as it was
    shown.
    """
    found: list[ModelMessage] = []
    records = list(_own_records(earlier))
    ours = {record["turn"] for record in records if record["type"] == "engine"}
    try:
        for record in reversed(records):
            for message in _messages(record) if record["turn"] in ours else []:
                append(found, message)
    except ValidationError:
        return None
    return with_answers(found)


def _own_records(earlier: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Our messages and texts cut off by a stop, back to the last message marked ANEW."""
    for record in earlier:
        kind = record["type"]
        if kind == "engine" and record.get("engine") == "builtin" and "messages" in record:
            yield record
            if _begins_anew(record["messages"]):
                return
        elif kind == "assistant" and record.get("partial") and not record.get("task"):
            yield record


def _begins_anew(messages: Any) -> bool:
    if not isinstance(messages, list) or not isinstance(messages[0], dict):
        return False
    return bool((messages[0].get("metadata") or {}).get("anew"))


def _messages(record: Mapping[str, Any]) -> list[ModelMessage]:
    if record["type"] == "assistant":
        said = record["text"]
        return [ModelResponse([TextPart(said)])] if said.strip() else []
    return ModelMessagesTypeAdapter.validate_python(record["messages"])


def with_answers(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The messages with an answer to each call, as providers demand: `interrupted` if missing."""
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
