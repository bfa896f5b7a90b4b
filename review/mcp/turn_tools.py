"""The review tools of a running turn, `mcp__svc_review__*`: within the repository of its chat.

See docs/design/engines.md#tools-of-the-parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from config.mcp.operations import Argument, Operation
from config.mcp.turn_tools import TurnCaller, late
from review.mcp.registry import Tools
from review.stacks.asking.states import STATES

tool = partial(Operation, render=lambda record: record, project_argument=None)
PROJECT = Argument("project", "string", "Slug of the review project, where several list the repo")
THREAD = Argument("thread", "string", "Id of the thread", required=True)
COMMIT = Argument("commit", "string", "Short or full sha")


def _noun(name: str) -> Callable[..., Any]:
    return late(f"review.stacks.asking.turns.{name}")


def _at(name: str, *optional: str) -> Callable[..., Any]:
    """The noun, limited to what a turn in this directory may reach; omitted arguments are None."""
    noun = _noun(name)
    empty = dict.fromkeys((*optional, "project"))
    return lambda caller, **given: noun(caller.directory, **{**empty, **given})


def _as_agent(name: str) -> Callable[..., Any]:
    """As `_at` for a noun that writes, signed with the name of the turn's engine."""
    noun = _noun(name)

    def run(caller: TurnCaller, **given: Any) -> Any:
        author = f"agent:{caller.engine}"
        return noun(caller.directory, author=author, **{"project": None, **given})

    return run


OPERATIONS = (
    tool(
        name="list_threads", group="read", read_only=True, run=_at("list_threads", "commit"),
        description="List the review threads of this chat's repository, or of one commit.",
        arguments=(
            COMMIT,
            Argument(
                "state", "string", "unresolved when left out", default="unresolved",
                choices=STATES,
            ),
            PROJECT,
        ),
    ),
    tool(
        name="read_thread", group="read", read_only=True, run=_at("read_thread"),
        description="Read a thread: its lines, all comments, and what changed there since an agent "
        "was asked about it.",
        arguments=(THREAD, PROJECT),
    ),
    tool(
        name="read_diff", group="read", read_only=True, run=_at("read_diff", "path"),
        description="Read the message and the diff of a commit under review, or of one file of it.",
        arguments=(
            Argument("commit", "string", "Short or full sha", required=True),
            Argument("path", "text", "Only this file"),
            PROJECT,
        ),
    ),
    tool(
        name="list_stacks", group="read", read_only=True, run=_at("list_stacks"),
        description="List the stacks under review in this chat's repository, with their commits.",
        arguments=(PROJECT,),
    ),
    tool(
        name="reply", group="note", run=_as_agent("reply"),
        description="Answer a review thread, in Markdown.",
        arguments=(THREAD, Argument("body", "text", "Markdown", required=True), PROJECT),
    ),
    tool(
        name="propose_resolved", group="note", idempotent=True,
        run=_as_agent("propose_resolved"),
        description="Say that a review thread is done. A person resolves it, unless the project "
        "lets agents do that.",
        arguments=(THREAD, PROJECT),
    ),
)  # fmt: skip

REGISTRY = Tools()
for declared in OPERATIONS:
    REGISTRY.add(declared)
