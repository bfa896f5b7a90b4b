"""The tools of /mcp: names, arguments, descriptions. Each calls the noun that REST calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from config.errors import TooLarge
from config.mcp.operations import Argument, Operation
from review import files
from review.mcp import waiting
from review.mcp.registry import Tools
from review.reviewer import AGENT, is_agent
from review.stacks import changes, conversations, details, listing
from review.stacks.contents import files as texts
from review.stacks.folding import fold
from review.stacks.worktree import looks, reviewed
from review.threads import records

MOST_TEXT = details.AT_ONCE
PROJECT = Argument("project", "string", "Slug of the project", required=True)
PLACE = (
    PROJECT,
    Argument("repo", "string", "Name of the repo", required=True),
    Argument(
        "sha",
        "string",
        "Short or full sha of the commit; WORKTREE for what is not committed",
        required=True,
    ),
)
THREAD = Argument("thread", "string", "Id of the thread", required=True)
field = partial(Argument, as_sent=True)  # refused by the nouns as over REST
BODY = field("body", "text", "Markdown", required=True)
tool = partial(Operation, render=lambda record: record)
AUTHOR = field("author", "name", "Who signs it, as agent:<name>; agent when left out")
REPO = Argument("repo", "string", "Name of the repo", required=True)


def _as_agent(noun: Callable[..., Any]) -> Callable[..., Any]:
    """The noun, signed by an agent whatever name is given: people do not write through MCP."""

    def run(_caller: object, *, author: Any = None, **arguments: Any) -> Any:
        if isinstance(author, str) and author.strip() and not is_agent(author.strip()):
            author = f"{AGENT}:{author.strip()}"
        return noun(author=author, me=AGENT, **arguments)

    return run


def _call(noun: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """The noun, for any caller: there is no credential."""
    return lambda _caller, **arguments: noun(**arguments, **fixed)


def _commit(
    *, contents: Any, sha: str, path: str | None = None, **place: Any
) -> details.Commit | looks.Changes | texts.Record:
    """One commit or what is not committed, or one file of it. Raises TooLarge if its text does not
    fit into one tool result."""
    is_commit = sha != files.WORKTREE
    if path is not None:
        found = (
            details.file(path=path, sha=sha, **place)
            if is_commit
            else looks.file(path=path, **place)
        )
        if _length([found]) > MOST_TEXT:
            raise TooLarge(
                f"The file holds more than {MOST_TEXT:,} characters; read it from the repository"
            )
        return found
    commit = (
        details.commit(contents=contents, sha=sha, **place)
        if is_commit
        else looks.changes(contents=contents, **place)
    )
    if isinstance(commit, Iterator) or _length(commit["files"]) > MOST_TEXT:
        raise TooLarge(
            f"The files hold more than {MOST_TEXT:,} characters; ask for fewer with a smaller "
            "number as `contents`, or for one file with `path`"
        )
    return commit


def _length(records: Iterable[texts.Record]) -> int:
    return sum(len(record["old"] or "") + len(record["new"] or "") for record in records)


def _review(*, unresolved_only: bool, **place: str) -> records.Review:
    return records.review(reviewed.at(**place), unresolved_only=unresolved_only)


def _threads(*, project: str, unresolved_only: bool) -> conversations.Conversations:
    return conversations.conversations(project, unresolved_only=unresolved_only)


def _undo(*, project: str, repo: str, id: str) -> fold.Folded:  # noqa: A002 - its name outside
    return fold.undo(project, repo, id)


def _fold(*, project: str, repo: str, stack: int) -> fold.Folded:
    return fold.fold(project, repo, stack)


def _pr(*, project: str, repo: str, sha: str, was: Any = None, **patch: Any) -> details.Pr:
    return changes.set_pr(project, repo, sha, patch, was)


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
        description="One commit: message, files, review and PR record; of WORKTREE the files that "
        "differ from HEAD. `contents` says of which files the texts are shown; `path` gives that "
        "one file with its contents.",
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
        name="list_threads", group="read", read_only=True, run=_call(_threads),
        description="Every thread of a project with the commit it stands on.",
        arguments=(PROJECT, Argument("unresolved_only", "boolean", default=True)),
    ),
    tool(
        name="wait_for_thread", group="read", read_only=True, run=_call(waiting.next_thread),
        pause=waiting.until_one,
        description="The first open thread whose last word is a person's, as soon as there is one; "
        "`thread` is null when none came in time. Answer it with reply and call again; `skip` "
        "names threads to leave out.",
        arguments=(
            PROJECT, Argument("repo", "string", "Only of this repo", default=""),
            Argument("skip", "list", "Ids of threads", default=()), waiting.SECONDS,
        ),
    ),
    tool(
        name="add_thread", group="write", run=_as_agent(changes.start_thread),
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
        name="reply", group="write", run=_as_agent(changes.reply),
        description="Add a comment to a thread.", arguments=(*PLACE, THREAD, BODY, AUTHOR),
    ),
    tool(
        name="resolve_thread", group="write", idempotent=True,
        run=_call(changes.resolve_thread, me=AGENT),
        description="Resolve a thread, or open it again with `resolved: false`.",
        arguments=(*PLACE, THREAD, field("resolved", "boolean", default=True)),
    ),
    tool(
        name="apply_suggestions", group="write", run=_call(changes.apply_suggestions),
        description="Make one fixup commit, on the branch of the commit, of the suggestion blocks "
        "of its threads. A checked-out file must be clean, and follows.",
        arguments=(
            *PLACE, field("suggestions", "json", "[{thread, comment?, block?}]", required=True),
        ),
    ),
    tool(
        name="fold", group="write", destructive=True, run=_call(_fold),
        description="Fold the fixup!, squash! and amend! commits of a stack into the commits they "
        "amend; nothing changes when they conflict.",
        arguments=(PROJECT, REPO, Argument("stack", "integer", "Its number", required=True)),
    ),
    tool(
        name="undo_fold", group="write", destructive=True, run=_call(_undo),
        description="Put the branches of a fold back to where they were.",
        arguments=(PROJECT, REPO, Argument("id", "string", "Of the fold", required=True)),
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
            field("was", "json", "{title: the text you read, …}: refused if it has changed"),
        ),
    ),
)  # fmt: skip

REGISTRY = Tools()
for declared in OPERATIONS:
    REGISTRY.add(declared)
