"""The status of a commit and its github record, from what is recorded and what landed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, get_args

Stored = Literal["draft", "ready"]
Status = Literal[Stored, "published", "merged"]
GithubKey = Literal["branch", "base", "created", "stack", "stacked_on"]
STORED: tuple[Stored, ...] = get_args(Stored)
OPTIONAL: tuple[GithubKey, ...] = get_args(GithubKey)


class Github(TypedDict):
    number: int | None
    url: str
    branch: NotRequired[str]
    base: NotRequired[str]
    created: NotRequired[str]
    stack: NotRequired[Any]
    stacked_on: NotRequired[int]


def stored_status(text: str | None) -> Stored | None:
    """The status, if it is one that a file may contain; else None."""
    return next((one for one in STORED if one == text), None)


def effective(
    stored: str | None,
    *,
    status_over: str | None,
    github: Mapping[str, Any] | None,
    landed_sha: str | None,
) -> Status:
    """`draft`, `ready`, `published` or `merged`: the first rule that holds.

    `status_over` is the sha of the landing that an explicit status has already overruled; it may be
    short, as in the record of that landing.
    """
    over = bool(status_over and landed_sha and landed_sha.startswith(status_over))
    if landed_sha is not None and not over:
        return "merged"
    if explicit := stored_status(stored):
        return explicit
    if github and (github.get("number") is not None or github.get("url")):
        return "published"
    return "draft"


def github(record: Mapping[str, Any] | None) -> Github | None:
    """What is known of the pull request, without absent fields; None if nothing is."""
    if not record:
        return None
    shown: Github = {"number": record.get("number"), "url": record.get("url") or ""}
    for key in OPTIONAL:
        if record.get(key) is not None:
            shown[key] = record[key]
    return shown
