"""A conversation made to fit its model: the older part as a summary, the newest as it was said.

Sizes are estimates in tokens, guided by what the server last reported. A call and its answer are
never separated. What the chat shows stays complete: only what the model is sent and remembers is
shortened. See docs/design/engines.md#compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from config.process.light_typing import Any, NamedTuple
from workspace.engines import history
from workspace.engines.builtin import memory

BYTES, PICTURE, EACH = 4, 1500, 4  # a token in bytes; tokens of a picture, of an empty message
FULL, KEPT, PIECE, SUMMARY = 0.8, 0.4, 0.5, 0.15  # shares of what the model can take
DOUBT = 0.75  # of our own estimate: a server that reports less counts something else
PIECES = 8  # requests that one summary may take
SHORT, LONG = 200, 1000  # tokens of a tool answer that is not cut; characters of one in a summary
LEFT_OUT = "\n[… the rest was left out, it is more than the model can take]"
TOLD = "Summary of the conversation so far:"
MISSING = (
    "[The older part of this conversation was left out: it is longer than the model can take.]"
)
WORKING = "The last message of the user, which is being worked on:"


class Folded(NamedTuple):
    """What replaces all messages, and how many of them went into its summary."""

    messages: list[ModelMessage]
    number: int = 0
    summary: bool = False


def size(messages: Sequence[ModelMessage], fixed: int = 0) -> int:
    """The tokens of a request with these messages; `fixed`: those of tools and instructions."""
    guess = fixed + sum(map(_tokens, messages))
    for place in reversed(range(len(messages))):
        message = messages[place]
        if isinstance(message, ModelResponse) and message.usage.input_tokens:
            used = message.usage.input_tokens + message.usage.output_tokens
            told = used + sum(map(_tokens, messages[place + 1 :]))
            return max(told, int(guess * DOUBT))
    return guess


def bytes_of(text: str) -> int:
    return len(text.encode(errors="replace"))


def _tokens(message: ModelMessage) -> int:
    return EACH + sum(_part(part) for part in message.parts)


def _part(part: Any) -> int:
    match part:
        case UserPromptPart(content=str() as text):
            return bytes_of(text) // BYTES
        case UserPromptPart(content=items) | ToolReturnPart(content=list() as items):
            texts = [item for item in items if isinstance(item, str)]
            pictures = len(items) - len(texts)
            return bytes_of("".join(texts)) // BYTES + PICTURE * pictures
        case ToolCallPart():
            return bytes_of(part.args_as_json_str()) // BYTES + EACH
        case ToolReturnPart():
            return bytes_of(part.model_response_str()) // BYTES + EACH
        case _:
            return bytes_of(str(getattr(part, "content", "") or "")) // BYTES


def edge(messages: Sequence[ModelMessage], room: int) -> int:
    """The index at which the newest part of at most `room` tokens begins: at the edge of a turn,
    else before an answer of the model within the turn, else as late as possible. 0 if there is
    none."""
    turn = inner = latest = held = 0
    for place in range(len(messages) - 1, 0, -1):
        held += _tokens(messages[place])
        if not _whole_from(messages[place]):
            continue
        latest = latest or place
        if held <= room:
            inner = place
            turn = place if isinstance(messages[place], ModelRequest) else turn
    return turn or inner or latest


def _whole_from(message: ModelMessage) -> bool:
    """Whether all before this message can be dropped without separating a call from its answer."""
    return not any(isinstance(part, ToolReturnPart) for part in message.parts)


def pieces(messages: Sequence[ModelMessage], room: int) -> list[str]:
    """The messages as text, in at most PIECES pieces of at most `room` tokens each. If there are
    more, the middle is left out."""
    found = [""]
    lines = (line for message in messages for line in _lines(message))
    for part in (part for line in lines for part in _split(line, room * BYTES)):
        if found[-1] and bytes_of(found[-1]) + bytes_of(part) > room * BYTES:
            found.append("")
        found[-1] += f"{part}\n"
    half = PIECES // 2
    return found if len(found) <= PIECES else [*found[:half], *found[-half:]]


def _split(line: str, most: int) -> list[str]:
    """The line in parts of at most `most` bytes."""
    data = line.encode(errors="replace")
    return [data[at : at + most].decode(errors="ignore") for at in range(0, len(data), most)]


def _lines(message: ModelMessage) -> list[str]:
    lines = []
    for part in message.parts:
        match part:
            case UserPromptPart(content=str() as text):
                lines.append(f"user: {text}")
            case UserPromptPart(content=items):
                lines += [f"user: {item}" for item in items if isinstance(item, str)]
            case ToolReturnPart():
                lines.append(f"tool {part.tool_name}: {part.model_response_str()[:LONG]}")
            case ToolCallPart():
                lines.append(f"assistant calls {part.tool_name} {part.args_as_json_str()[:LONG]}")
    if isinstance(message, ModelResponse) and (message.text or "").strip():
        lines.insert(0, f"assistant: {message.text}")
    return lines


def summary_prompt(piece: str, before: str, room: int) -> str:
    """The prompt for a summary of one piece, given the summary of the pieces before it."""
    told = f"{TOLD}\n{before}\n\nIt goes on:\n" if before else ""
    return (
        "Summarise this conversation for the one who goes on with it and will not see it. Keep "
        "names, numbers, paths, decisions, what the user wants, what was done and what is still "
        f"open; leave out courtesies. Use at most {max(50, int(room * SUMMARY * 0.7))} words and "
        f"nothing but the summary.\n\n{told}{piece}"
    )


def with_summary(
    messages: Sequence[ModelMessage], cut: int, summary: str, room: int, message: str
) -> Folded:
    """The summary followed by the kept messages, shortened if that is still too much."""
    head, tail = messages[:cut], without_usage(messages[cut:])
    words = [f"{TOLD}\n{_first(summary, int(room * SUMMARY))}" if summary else MISSING]
    if isinstance(tail[0], ModelResponse):
        here = any(_is(part, message) for one in head for part in one.parts)
        prompt = message if here else _first(_last_prompt(head), int(room * SUMMARY))
        words.append(f"{WORKING}\n{prompt}")  # the person's words, without what preceded them
    told = UserPromptPart("\n\n".join(words))
    if isinstance(tail[0], ModelRequest):
        opening = replace(tail.pop(0), metadata=memory.ANEW)
        opening = _with(opening, [told, *opening.parts])
    else:
        last = next(one for one in reversed(messages) if isinstance(one, ModelRequest))
        opening = ModelRequest([told], instructions=last.instructions, metadata=memory.ANEW)
    whole = shorten([opening, *tail], room, message)
    return Folded(whole, sum(map(_counts, head)), bool(summary))


def shorten(messages: list[ModelMessage], room: int, message: str) -> list[ModelMessage]:
    """The messages, with tool answers and the text of an earlier conversation cut as needed."""
    found = without_usage(messages)
    while size(found) > room * FULL:
        places = [
            (_part(part), place, number)
            for place, one in enumerate(found)
            for number, part in enumerate(one.parts)
            if _can_be_cut(part, message)
        ]
        large, place, number = max(places, default=(0, 0, 0))
        if large <= SHORT:
            break
        parts: list[Any] = [*found[place].parts]
        parts[number] = _cut(parts[number], max(SHORT // 2, large // 2), message)
        found[place] = _with(found[place], parts)
    return found


def without(messages: Sequence[ModelMessage], message: str) -> list[ModelMessage]:
    """The messages with only the beginning of a message that is larger than the model's context:
    with all of it the next turn could not be made to fit either."""
    found: list[ModelMessage] = []
    for one in messages:
        begun = UserPromptPart(_first(message, SHORT) + LEFT_OUT)
        parts: list[Any] = [begun if _is(part, message) else part for part in one.parts]
        found.append(_with(one, parts))
    return [replace(found[0], metadata=memory.ANEW), *found[1:]]


def _is(part: Any, message: str) -> bool:
    text = part.content if isinstance(part, UserPromptPart) else None
    text = text[0] if isinstance(text, list) else text
    return isinstance(text, str) and text.endswith(message)


def _with(message: Any, parts: list[Any]) -> Any:
    return replace(message, parts=parts)


def _can_be_cut(part: Any, message: str) -> bool:
    if isinstance(part, UserPromptPart):
        text = part.content
        told = isinstance(text, str) and text.startswith(history.HEAD)
        return told and len(text) > len(message) + len(history.HEAD) + 2 * SHORT * BYTES
    return isinstance(part, ToolReturnPart)


def _cut(part: Any, most: int, message: str) -> Any:
    if isinstance(part, ToolReturnPart):
        return replace(part, content=_first(part.model_response_str(), most) + LEFT_OUT)
    told = part.content.removesuffix(message)
    newest = told[-(len(told) // 2) :].partition("\n")[2]
    return replace(part, content=f"{history.HEAD}\n[earlier records left out]\n{newest}{message}")


def _first(text: str, tokens: int) -> str:
    return text.encode(errors="replace")[: tokens * BYTES].decode(errors="ignore")


def _last_prompt(messages: Sequence[ModelMessage]) -> str:
    for message in reversed(messages):
        lines = [line for line in _lines(message) if line.startswith("user: ")]
        if lines:
            return lines[-1].removeprefix("user: ")
    return ""


def _counts(message: ModelMessage) -> bool:
    """Whether the message counts as one for people: answers of tools do not."""
    return isinstance(message, ModelResponse) or not isinstance(message.parts[0], ToolReturnPart)


def without_usage(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages without the usage reported for them, which was of another conversation."""
    return [
        replace(one, usage=RequestUsage()) if isinstance(one, ModelResponse) else one
        for one in messages
    ]


async def summarise(messages: Sequence[ModelMessage], room: int, ask: Callable[[str], Any]) -> str:
    """The model's own summary, by one request for each piece; "" if the model gives none."""
    summary = ""
    for piece in pieces(messages, int(room * PIECE)):
        summary = (await ask(summary_prompt(piece, summary, room))).strip()
        if not summary:
            return ""
    return summary
