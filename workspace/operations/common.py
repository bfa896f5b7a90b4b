"""What the operations of every noun share: the two target arguments, and how results are cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.kernel.operations import Argument

PROJECT = Argument(
    "project",
    "string",
    "Project slug",
    required=True,
    absent="there is no current project over /mcp",
)
SESSION = Argument(
    "session_id",
    "string",
    "Chat id",
    required=True,
    absent="there is no current chat over /mcp",
)
MODEL = Argument("model", "string", "Model or engine for this and later turns")


def present(result: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """The result without those optional keys that have no value."""
    return {key: value for key, value in result.items() if value or key not in optional}
