"""The tools a server lists, as a model may see them; text that a stranger wrote is bounded here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from config.process.light_typing import Any, NamedTuple
from workspace.engines.mcp.server import Server

NAME_MOST = 64  # characters of mcp__<server>__<tool>, the limit of model providers
DESCRIPTION_MOST, SCHEMA_BYTES, TOOLS_MOST = 2000, 32_768, 100
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_CONTROL = re.compile(r"[^\S\n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Tool(NamedTuple):
    """A tool; `own` is its name on the server."""

    name: str
    own: str
    description: str
    schema: dict[str, Any]


def read(server: Server, listed: Iterable[tuple[str, str, Any]]) -> tuple[list[Tool], list[str]]:
    """The usable tools of (name, description, schema), and a sentence about those left out."""
    found: dict[str, Tool] = {}
    left: list[str] = []
    for own, description, schema in listed:
        name = f"{server.prefix}{_ODD.sub('_', own)}"[:NAME_MOST]
        reason = _unfit(own, schema)
        if name in found:
            reason = f"its name becomes {name}, as that of another tool does"
        elif len(found) >= TOOLS_MOST:
            reason = f"a server has at most {TOOLS_MOST}"
        if reason:
            left.append(f"{own[:60]!r} ({reason})")
            continue
        words = _CONTROL.sub(" ", description)[:DESCRIPTION_MOST]
        found[name] = Tool(name, own, words, schema)
    return list(found.values()), _left_out(server, left)


def _unfit(own: str, schema: Any) -> str:
    """Why a tool cannot be offered; "" if it can."""
    if not own.strip():
        return "it has no name"
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return "its arguments are not an object"
    if len(json.dumps(schema)) > SCHEMA_BYTES:
        return f"the schema of its arguments is over {SCHEMA_BYTES} bytes"
    return ""


def _left_out(server: Server, left: list[str]) -> list[str]:
    if not left:
        return []
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    return [f"Tools of the MCP server {server.name} were left out: {'; '.join(left[:3])}{more}."]
