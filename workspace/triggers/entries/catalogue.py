"""What a trigger may be granted and react to: the picker's lists."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRIGGER_TYPES = ("schedule", "event", "webhook")
NEVER_GRANTED = ("ScheduleWakeup", "CronCreate", "CronList", "CronDelete")
_MCP = re.compile(r"mcp__[A-Za-z0-9_.-]+\*?")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool a trigger's allow-list may name."""

    name: str
    group: str
    description: str


GRANTABLE = (
    Tool("Read", "read", "Read files of the project"),
    Tool("Glob", "read", "Find files by name"),
    Tool("Grep", "read", "Search file contents"),
    Tool("Edit", "write", "Change parts of files"),
    Tool("Write", "write", "Create and replace files"),
    Tool("NotebookEdit", "write", "Change cells of notebooks"),
    Tool("Bash", "write", "Run any shell command: the broadest grant"),
    Tool("WebFetch", "web", "Fetch a page from the web"),
    Tool("WebSearch", "web", "Search the web"),
    Tool("Task", "orchestration", "Hand parts of the work to subagents"),
    Tool("TodoWrite", "orchestration", "Keep a list of steps"),
    Tool("Skill", "orchestration", "Use an installed skill"),
    Tool("ToolSearch", "orchestration", "Find tools that are loaded on demand"),
    Tool("Monitor", "orchestration", "Watch a long command"),
    Tool("mcp__svc_manage__*", "service", "Operate this service: chats, projects, triggers"),
    Tool("mcp__svc_apps__*", "service", "Apps of the directory: find, wait, logs, start, stop"),
    Tool("mcp__svc_review__*", "service", "Read and answer the review of the project's repository"),
)


@dataclass(frozen=True, slots=True)
class EventKind:
    """An event: a sentence about it, what `run.match` names for it ("" for nothing), and an example
    of one entry that the turn receives, without its time."""

    name: str
    description: str
    match: str = ""
    example: Mapping[str, Any] = field(default_factory=dict)


_APP = {"app": "shop", "name": "Shop", "directory": "/home/ann/shop"}
EVENT_KINDS = (
    EventKind("onArchive", "After a chat is archived"),
    EventKind("afterTurn", "After a turn: adds instructions for the overview and changelog"),
    EventKind(
        "onThread",
        "A person wrote in a review thread of its repository",
        "files",
        {
            **{"project": "pay", "repo": "api", "commit": "3f0c9a1e…", "thread": "t-9fe1"},
            **{"act": "opened", "author": "ann", "file": "src/pay.py", "line": 12},
            "text": "What if the card was refused?",
        },
    ),
    EventKind(
        "onCommits",
        "A branch under review in its repository moved",
        "branches",
        {
            **{"project": "pay", "repo": "api", "branch": "feature"},
            **{"before": "3f0c9a1e…", "after": "b71d02c4…"},
        },
    ),
    EventKind(
        "onAppDown",
        "An app in its directory fell, or keeps crashing",
        "apps",
        {**_APP, "state": "down", "reason": "exited"},
    ),
    EventKind(
        "onAppUp",
        "An app in its directory came up, or back",
        "apps",
        {**_APP, "state": "up", "reason": "ok"},
    ),
    EventKind(
        "onRunFailed",
        "A run of another trigger of the project failed",
        "triggers",
        {"trigger": "nightly-check", "run": "run_01JD…", "error": "step_failed: Bash failed"},
    ),
)
EVENTS = tuple(kind.name for kind in EVENT_KINDS)
HAPPENINGS = tuple(kind.name for kind in EVENT_KINDS if kind.example)  # gathered for a while
_NAMES = {tool.name for tool in GRANTABLE} | set(NEVER_GRANTED)


def is_known(name: str) -> bool:
    """Whether it is a catalogue name, or `mcp__<server>[__<tool>]` with a `*` only at the end."""
    return name in _NAMES or (len(name) <= 200 and _MCP.fullmatch(name) is not None)


def nearest(name: str) -> str | None:
    """The catalogue name that was probably meant, ignoring case; None if none is close."""
    folded = {known.lower(): known for known in sorted(_NAMES)}
    close = difflib.get_close_matches(name.lower()[:100], list(folded), n=1)
    return folded[close[0]] if close else None
