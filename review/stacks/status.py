"""The status of a commit and its github record, from what is recorded and what landed (7.1-7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPTIONAL = ("branch", "base", "created", "stack", "stacked_on")


def effective(
    stored: str | None,
    *,
    status_over: str | None,
    github: Mapping[str, Any] | None,
    landed_sha: str | None,
) -> str:
    """`draft`, `ready`, `published` or `merged`: the first rule of contract 7 that holds.

    `status_over` is the landing that an explicit status has already overruled.
    """
    if landed_sha is not None and status_over != landed_sha:
        return "merged"
    if stored in ("draft", "ready"):
        return stored
    if github and (github.get("number") is not None or github.get("url")):
        return "published"
    return "draft"


def github(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """`{number, url, branch?, base?, created?, stack?, stacked_on?}`, absent ones left out."""
    if not record:
        return None
    shown = {"number": record.get("number"), "url": record.get("url") or ""}
    return shown | {key: record[key] for key in OPTIONAL if record.get(key) is not None}
