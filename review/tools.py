"""The nine operations as tools of /mcp (contract 13): names, arguments, descriptions.

REST calls the same functions of operations.py; the list is the same for every caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from config.kernel.errors import TooLarge
from config.kernel.mcp.operations import Argument, Operation, Registry
from review import operations
from review.operations import Local, Record
from review.stacks import details

MOST_TEXT = details.AT_ONCE
PROJECT = Argument("project", "string", "Slug of the project", required=True)
PLACE = (
    PROJECT,
    Argument("repo", "string", "Name of the repo", required=True),
    Argument("sha", "string", "Short or full sha of the commit", required=True),
)
THREAD = Argument("thread", "string", "Id of the thread", required=True)
field = partial(Argument, as_sent=True)  # the nouns refuse it as they do over REST
BODY = field("body", "text", "Markdown", required=True)
AUTHOR = field("author", "name", "Who signs it; agent when left out")


def _same(value: Record) -> Record:
    return value


def _commit(caller: Local, **arguments: Any) -> Record:
    """One commit or one file; TooLarge when it holds more text than fits into one tool result."""
    found = operations.get_commit(caller, **arguments)
    if isinstance(found, Iterator):
        raise TooLarge(
            f"The files hold more than {MOST_TEXT:,} characters; ask for fewer with a smaller "
            "number as `contents`, or for one file with `path`"
        )
    if sum(len(found.get(side) or "") for side in ("old", "new")) > MOST_TEXT:
        raise TooLarge(
            f"The file holds more than {MOST_TEXT:,} characters; read it from the repository"
        )
    return found


def _pr(caller: Local, *, project: str, repo: str, sha: str, **patch: Any) -> Record:
    return operations.set_pr(caller, project=project, repo=repo, sha=sha, patch=patch)


OPERATIONS = (
    Operation(
        name="list_projects", group="read", read_only=True, run=operations.list_projects,
        render=_same, description="List the projects under review with their counts.",
        project_argument=None,
    ),
    Operation(
        name="get_project", group="read", read_only=True, run=operations.get_project, render=_same,
        description="One project: repos, stacks and commits with status and progress.",
        arguments=(PROJECT,),
    ),
    Operation(
        name="get_commit", group="read", read_only=True, run=_commit, render=_same,
        description="One commit: message, files, review and PR record. `contents` says of which "
        "files the texts are shown; `path` gives that one file with its contents.",
        arguments=(
            *PLACE,
            field("contents", "json", "none, all, or of how many files", default="none"),
            Argument("path", "text"),
        ),
    ),
    Operation(
        name="get_review", group="read", read_only=True, run=operations.get_review, render=_same,
        description="The threads placed on one commit, and which files are marked viewed.",
        arguments=(*PLACE, Argument("unresolved_only", "boolean", default=False)),
    ),
    Operation(
        name="add_thread", group="write", run=operations.add_thread, render=_same,
        description="Start a thread: general, on a file, on a line (`path`, `side`, `line`) or on "
        "a range (`start_line` too). Side RIGHT is the new text, LEFT the old.",
        arguments=(
            *PLACE, BODY, field("path", "text"),
            field("side", "string", choices=("LEFT", "RIGHT")),
            field("line", "integer", "Last line of the range, from 1"),
            field("start_line", "integer"),
            field("start_side", "string", choices=("LEFT", "RIGHT")), AUTHOR,
        ),
    ),
    Operation(
        name="reply", group="write", run=operations.reply, render=_same,
        description="Add a comment to a thread.", arguments=(*PLACE, THREAD, BODY, AUTHOR),
    ),
    Operation(
        name="resolve_thread", group="write", run=operations.resolve_thread, render=_same,
        idempotent=True,
        description="Resolve a thread, or open it again with `resolved: false`.",
        arguments=(*PLACE, THREAD, field("resolved", "boolean", default=True)),
    ),
    Operation(
        name="set_viewed", group="write", run=operations.set_viewed, render=_same, idempotent=True,
        description="Mark a file of the commit as viewed, or take the mark off.",
        arguments=(
            *PLACE, field("path", "text", required=True),
            field("viewed", "boolean", required=True),
        ),
    ),
    Operation(
        name="set_pr", group="write", run=_pr, render=_same, destructive=True, idempotent=True,
        description="Change the PR record of the commit; null clears a field.",
        arguments=(
            *PLACE, field("title", "text", nullable=True),
            field("branch", "string", nullable=True), field("body", "text", nullable=True),
            field("github", "json", "{number, url, …}, a number or a URL", nullable=True),
            field("status", "string", choices=("draft", "ready"), nullable=True),
        ),
    ),
)  # fmt: skip

REGISTRY = Registry()
for declared in OPERATIONS:
    REGISTRY.add(declared)
