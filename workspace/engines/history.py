"""An earlier conversation as text, for a model that does not know it: the second way of
docs/design/engines.md#resuming-a-conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workspace.engines.light_typing import Any

HEAD = "Earlier conversation, for context only; do not act on it again:"
CHARACTERS, TOOL_CHARACTERS = 120_000, 2000
INTERRUPTED = "interrupted"


def preamble(earlier: Iterable[Mapping[str, Any]]) -> str:
    """The newest lines that fit, oldest first; "" when nothing was said. `earlier` = TurnIO's."""
    lines: list[str] = []
    results: dict[str, str] = {}
    left, left_out = CHARACTERS, 0
    for record in earlier:
        if record["type"] == "tool_result":
            results[record["call"]] = str(record["text"])
        line = None if record.get("task") else _line(record, results)
        if line is None:
            continue
        left -= len(line) + 1
        if left >= 0:
            lines.append(line)
        elif lines:
            left_out += 1
        else:  # the newest one alone is longer than all that fits
            lines.append(line[:CHARACTERS])
    if not lines:
        return ""
    note = [f"[{left_out} earlier records left out]"] if left_out else []
    return "\n".join([HEAD, *note, *reversed(lines)])


def _line(record: Mapping[str, Any], results: Mapping[str, str]) -> str | None:
    match record["type"]:
        case "user" | "assistant" as role:
            return f"{role}: {record['text']}"
        case "tool_use":
            text = results.get(record["call"], INTERRUPTED)[:TOOL_CHARACTERS]
            return f"tool {record['tool']} {record.get('target') or ''}".rstrip() + f": {text}"
    return None
