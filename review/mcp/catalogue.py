"""The tools of /mcp: names, arguments, descriptions. Each calls the noun that REST calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from config.errors import TooLarge
from config.mcp.operations import Argument, Operation, Principal, Registry
from review.refusals import failures_as_500
from review.stacks import changes, details, listing
from review.stacks import repo as repos
from review.threads import records

AGENT = "agent"  # signs what is sent unsigned
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
tool = partial(Operation, render=lambda record: record)
AUTHOR = field("author", "name", "Who signs it; agent when left out")


def _call(noun: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """The noun, for any caller: there is no credential."""
    return lambda _caller, **arguments: noun(**arguments, **fixed)


def _commit(
    *, contents: Any, path: str | None = None, **place: str
) -> details.Commit | details.File:
    """One commit or one file; TooLarge when it holds more text than fits into one tool result."""
    if path is not None:
        file = details.file(path=path, **place)
        if len(file["old"] or "") + len(file["new"] or "") > MOST_TEXT:
            raise TooLarge(
                f"The file holds more than {MOST_TEXT:,} characters; read it from the repository"
            )
        return file
    commit = details.commit(contents=contents, **place)
    if isinstance(commit, Iterator):
        raise TooLarge(
            f"The files hold more than {MOST_TEXT:,} characters; ask for fewer with a smaller "
            "number as `contents`, or for one file with `path`"
        )
    return commit


def _review(*, unresolved_only: bool, **place: str) -> records.Review:
    return records.review(repos.target_at(**place), unresolved_only=unresolved_only)


def _pr(*, project: str, repo: str, sha: str, **patch: Any) -> details.Pr:
    return changes.set_pr(project, repo, sha, patch)


class Tools(Registry):
    """The operations of this surface; what git or the disk refuses is worded as over REST."""

    @failures_as_500()
    def run(self, name: str, principal: Principal, /, **arguments: Any) -> Any:
        return super().run(name, principal, **arguments)


OPERATIONS = (
    tool(
        name="list_projects", group="read", read_only=True, run=_call(listing.project_list),
        description="List the projects under review with their counts.",
        project_argument=None,
    ),
    tool(
        name="get_project", group="read", read_only=True, run=_call(details.project),
        description="One project: repos, stacks and commits with status and progress.",
        arguments=(PROJECT,),
    ),
    tool(
        name="get_commit", group="read", read_only=True, run=_call(_commit),
        description="One commit: message, files, review and PR record. `contents` says of which "
        "files the texts are shown; `path` gives that one file with its contents.",
        arguments=(
            *PLACE,
            field("contents", "json", "none, all, or of how many files", default="none"),
            Argument("path", "text"),
        ),
    ),
    tool(
        name="get_review", group="read", read_only=True, run=_call(_review),
        description="The threads placed on one commit, and which files are marked viewed.",
        arguments=(*PLACE, Argument("unresolved_only", "boolean", default=False)),
    ),
    tool(
        name="add_thread", group="write", run=_call(changes.start_thread, me=AGENT),
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
    tool(
        name="reply", group="write", run=_call(changes.reply, me=AGENT),
        description="Add a comment to a thread.", arguments=(*PLACE, THREAD, BODY, AUTHOR),
    ),
    tool(
        name="resolve_thread", group="write", idempotent=True,
        run=_call(changes.resolve_thread, me=AGENT),
        description="Resolve a thread, or open it again with `resolved: false`.",
        arguments=(*PLACE, THREAD, field("resolved", "boolean", default=True)),
    ),
    tool(
        name="set_viewed", group="write", idempotent=True,
        run=_call(changes.mark_viewed),
        description="Mark a file of the commit as viewed, or take the mark off.",
        arguments=(
            *PLACE, field("path", "text", required=True),
            field("viewed", "boolean", required=True),
        ),
    ),
    tool(
        name="set_pr", group="write", destructive=True, idempotent=True,
        run=_call(_pr),
        description="Change the PR record of the commit; null clears a field.",
        arguments=(
            *PLACE, field("title", "text", nullable=True),
            field("branch", "string", nullable=True), field("body", "text", nullable=True),
            field("github", "json", "{number, url, …}, a number or a URL", nullable=True),
            field("status", "string", choices=("draft", "ready"), nullable=True),
        ),
    ),
)  # fmt: skip

REGISTRY = Tools()
for declared in OPERATIONS:
    REGISTRY.add(declared)
