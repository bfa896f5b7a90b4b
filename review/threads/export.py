"""The threads of a commit as Markdown, to be pasted to an agent or into an email."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.errors import NotFound
from config.jsonio import visible
from review.threads import records
from review.threads.records import Thread
from review.threads.schema import normal_side
from review.threads.target import Target


def markdown(
    target: Target,
    *,
    unresolved_only: bool = False,
    path: str | None = None,
    thread: str | None = None,
) -> str:
    """The place of each thread, the code it is about, and its comments; only of one file or one
    thread if asked. Raises NotFound for a thread that is not shown."""
    shown = records.review(target, unresolved_only=unresolved_only)["threads"]
    if thread is not None:
        shown = [one for one in shown if one["id"] == thread]
        if not shown:
            raise NotFound("No such thread")
    wanted = [one for one in shown if path is None or one["path"] == path]
    heading = f"# {one_line(target.commit.subject) or 'Commit'}\n\nCommit {target.commit.sha}"
    if target.uncommitted:
        heading = f"# Not committed\n\nOf repo {target.repo}"
    threads = [_thread(one) for one in wanted] or ["No threads."]
    return visible("\n\n".join([heading, *threads]) + "\n")


def _thread(thread: Thread) -> str:
    return "\n\n".join([f"## {place(thread)}", *_body(thread)])


def _body(thread: Thread) -> Iterator[str]:
    yield f"Thread `{thread['id']}`, {_state(thread)}"
    if thread["anchor_text"]:
        yield code_block(thread["anchor_text"])
    yield from quote_comments(thread)


def quote_comments(thread: Thread) -> Iterator[str]:
    """The comments of the thread, quoted, each with its author."""
    for comment in thread["comments"]:
        when = f", {comment['created_at']}" if comment["created_at"] else ""
        quoted = "\n".join(f"> {line}".rstrip() for line in comment["body"].split("\n"))
        yield f"**{one_line(comment['author_name'] or 'unknown')}**{when}:\n\n{quoted}"


def place(thread: Thread) -> str:
    """The place as `src/a.py:40-42`; a thread on the old text says so."""
    path, line, start = thread["path"], thread["line"], thread["start_line"]
    if path is None:
        return "General"
    lines = "" if line is None else f":{start}-{line}" if start not in (None, line) else f":{line}"
    return f"{one_line(path)}{lines}" + (" (old text)" if _is_old(thread["side"]) else "")


def _state(thread: Thread) -> str:
    resolved = "resolved" if thread["resolved"] else "open"
    return f"{resolved}, outdated" if thread["outdated"] else resolved


def _is_old(side: str | None) -> bool:
    return side is not None and normal_side(side) == "LEFT"


def code_block(code: str) -> str:
    """A code block whose fence is longer than any run of backticks in the code."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def one_line(text: str) -> str:
    """The text as one line, without unprintable characters."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())
