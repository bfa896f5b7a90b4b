"""Download a chat: as Markdown to be read, or as the lines of its transcript.

Generated while it is sent, from the transcript as it is when the export begins. Nothing is stored,
and a chat of any length needs the memory of one record. Records that an engine keeps for itself are
never exported, nor are damaged lines.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from config import jsonio
from workspace.chats import files, index, transcript
from workspace.chats.lines import decode
from workspace.chats.messages import TranscriptLine, Viewer
from workspace.models import Chat
from workspace.projects.project import Project

Format = Literal["md", "jsonl"]
TYPES: dict[Format, str] = {"md": "text/markdown; charset=utf-8", "jsonl": "application/x-ndjson"}
PIECE_BYTES = 64 * 1024
NAME_MAX = 80


@dataclass(frozen=True, slots=True)
class Export:
    """A download: its file name, safe on every system, its type, and its bytes in pieces."""

    name: str
    type: str
    pieces: Iterator[bytes]


def export(*, project: Project, session_id: str, form: Format = "md") -> Export:
    """Export the chat up to its last complete line. Raises NotFound."""
    row = index.get(project, session_id)
    path = str(files.transcript_path(project, session_id))
    parts = _lines(path, row.offset) if form == "jsonl" else _markdown(row, path)
    return Export(f"{_file_name(row)}.{form}", TYPES[form], _pieces(parts))


def _file_name(row: Chat) -> str:
    """Letters and digits of the chat's name, and the first characters of its id."""
    kept = (char if unicodedata.category(char)[0] in "LNM" else "-" for char in row.name)
    name = re.sub(r"-+", "-", "".join(kept)).strip("-")[:NAME_MAX].strip("-")
    return f"{name}-{row.id[:8]}" if name and name != row.id[:8] else f"chat-{row.id[:8]}"


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, joined into pieces large enough to send."""
    waiting, size = [], 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _lines(path: str, end: int) -> Iterator[bytes]:
    """The lines unchanged, byte for byte."""
    file = transcript.open_file(path)
    if file is None:
        return
    with file:  # stays open while the response is sent
        while file.tell() < end and (line := file.readline(transcript.LINE_BYTES)):
            record = decode(line)
            if record is not None and record["type"] != "engine":
                yield line


def _markdown(row: Chat, path: str) -> Iterator[bytes]:
    yield _head(row).encode(errors="replace")
    viewer, speaker = Viewer(path), ""
    for offset, record in transcript.read(path, 0, row.offset):
        shown = viewer.view(offset, record)
        if shown is None:
            continue
        who = _speaker(shown)
        text = _block(shown)
        if who and (who != speaker or who != "Agent"):
            speaker = who
            text = f"## {who}\n\n_{shown.get('timestamp') or 'at an unknown time'}_\n\n{text}"
        if text:
            yield f"{text}\n\n".encode(errors="replace")


def _head(row: Chat) -> str:
    record = row.record
    facts = {
        "Project": f"`{row.project}`",
        "Chat": f"`{row.id}`",
        "Created": record.get("created"),
        "Began as": row.origin,
        "Trigger": _code(row.trigger),
        "Client": _code(row.client),
        "Forked from": _code((record.get("forkedFrom") or {}).get("sessionId")),
        "Model": _code(record.get("model") or record.get("engine")),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    return f"# {_line(row.name)}\n\n" + "\n".join(lines) + "\n\n"


def _code(text: Any) -> str:
    return f"`{_line(str(text)).replace('`', ' ')}`" if text else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _speaker(shown: TranscriptLine) -> str:
    """Who says this; empty for lines without a speaker."""
    match shown.get("role"):
        case "user":
            return _sender(shown["sender"])
        case "assistant" | "tool":
            return "Agent"
        case _:
            return "Agent" if shown.get("type") == "thinking" else ""


def _sender(sender: dict[str, Any]) -> str:
    named = {
        "user": ("id", "{}"),
        "client": ("id", "Client {} over /mcp"),
        "chat": ("name", "Chat {}"),
        "trigger": ("name", "Trigger {}"),
    }
    key, form = named.get(str(sender.get("kind")), ("", "The service"))
    return _line(form.format(sender.get(key) or "unnamed"))


def _cut(shown: TranscriptLine) -> str:
    cut = shown.get("cut")
    told = "Only the beginning of {bytes} bytes; the whole text is in .chats/{file}."
    return "\n\n" + _quote(told.format(**cut)) if cut else ""


def _block(shown: TranscriptLine) -> str:
    if shown.get("role") == "tool":
        return _call(shown)
    if shown.get("role") == "notice":
        return _quote(f"**{shown.get('level') or 'info'}**: {shown['content']}")
    if "role" in shown:
        return str(shown["content"]).strip("\n") + _cut(shown)
    if shown["type"] == "thinking":
        thought = _quote(shown["content"].strip("\n"))
        return f"<details><summary>Thinking</summary>\n\n{thought}\n\n</details>"
    if shown["type"] == "permission":
        return _quote(f"**permission** for {shown['tool']}: {shown['state']} by {shown['by']}")
    if shown["state"] in ("started", "completed"):
        return ""
    return _quote(f"**turn {shown['state']}**: {shown['reason'] or 'no reason was given'}")


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _call(shown: TranscriptLine) -> str:
    """A tool's use, collapsed: one summary line, with input and output when expanded."""
    call = shown["toolCall"]
    took = f" ({call['durationMs']} ms)" if call["durationMs"] is not None else ""
    output = call["output"] + (
        "\n[cut; the whole output is kept beside the chat]" * call["truncated"]
    )
    given = jsonio.dumps(call["input"], indent=True).decode()
    return (
        f"<details><summary>{html.escape(_line(shown['content']))}{took}</summary>\n\n"
        f"{_code_block(given, 'json')}\n\n{_code_block(output)}\n\n</details>"
    )


def _code_block(text: str, language: str = "") -> str:
    """A code block whose fence no line of the text can close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
