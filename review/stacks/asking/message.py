"""The message to an agent about threads: where each is, its current lines, what was said.

The person who asks sees the message first and may change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from config.jsonio import clean, visible
from review.git import objects
from review.stacks.asking.chosen import OnCommit
from review.threads import export, records
from review.threads.schema import normal_side

LINES = 60  # lines quoted of one thread
SHORT = 7
WANTED = """\
## What is wanted

Go through the threads one by one. Where something is to change, change it in the commit that the \
thread stands on (a `fixup!` commit for that commit is fine), and no more than the thread asks \
for. Where nothing is to change, say why. Answer every thread with the tool \
`mcp__svc_review__reply` (its id is named above), in a sentence or two that say what you did, and \
where you think that it is done, say so with `mcp__svc_review__propose_resolved`."""

LEFT = """\
The threads under "Not committed" are about changes in the work tree that are in no commit yet: \
change the files there, and do not commit them."""


def message(found: Sequence[OnCommit]) -> str:
    """The message about these threads, as Markdown."""
    parts = [_opening(found)]
    for one in found:
        parts.append(_heading(one))
        parts += _threads(one)
    wanted = [WANTED, *([LEFT] if any(one.target.uncommitted for one in found) else [])]
    return visible("\n\n".join([*parts, *wanted]) + "\n")


def _heading(one: OnCommit) -> str:
    if one.target.uncommitted:
        return f"## {one.title}"
    return f"## Commit {one.target.stem[:SHORT]} {export.one_line(one.title)}".rstrip()


def _opening(found: Sequence[OnCommit]) -> str:
    count = sum(len(one.threads) for one in found)
    what = "this review thread" if count == 1 else f"these {count} review threads"
    names = dict.fromkeys(f"`{one.repo.entry.name}` ({one.repo.entry.path})" for one in found)
    return f"Please work on {what} in {', '.join(names)}."


def _threads(one: OnCommit) -> Iterator[str]:
    for thread in one.threads:
        shown = records.thread(one.target, thread.id)
        yield "\n\n".join([f"### `{thread.id}` · {export.place(shown)}", *_about(one, shown)])


def _about(one: OnCommit, shown: records.Thread) -> Iterator[str]:
    now = _now(one, shown)
    if shown["outdated"] and shown["anchor_text"]:
        yield "The lines it was written on have changed since. They were:"
        yield export.code_block(shown["anchor_text"])
        if now:
            yield "There is now:"
    if now:
        yield export.code_block(now)
    yield from export.quote_comments(shown)


def _now(one: OnCommit, shown: records.Thread) -> str:
    """The thread's current lines in the commit, each with its number; "" if it is on no lines."""
    path, line = shown["path"], shown["line"]
    if path is None or line is None:
        return ""
    commit = one.target.shown_commit
    left = shown["side"] is not None and normal_side(shown["side"]) == "LEFT"
    sha = commit.parent if left else commit.sha
    entry = objects.entry(one.target.repository, sha, path) if sha else None
    data = objects.blob(one.target.repository, entry.oid) if entry else None
    if data is None or objects.is_binary(data):
        return ""
    start = shown["start_line"] or line
    first = max(1, min(start, line), line - LINES + 1)
    lines = clean(objects.text(data)[0]).split("\n")[first - 1 : line]
    return "\n".join(f"{n:>4}  {text}" for n, text in enumerate(lines, first))
