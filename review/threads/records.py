"""What answers show of a review: its placed threads, its marks, its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NotRequired, TypedDict

from review import markdown, reviewer
from review.files import times
from review.files.fields import beside
from review.threads import asked, asking, commit_review, schema, verdicts, viewed
from review.threads.carry import traces
from review.threads.drafts import Draft
from review.threads.placement import placing as placement
from review.threads.placement.placing import Placed, Placement
from review.threads.target import Target

Render = Callable[[str], str]


class Comment(TypedDict):
    """`suggestions`: how many of its blocks can be applied, if it has any."""

    id: str
    author: str | None
    author_name: str | None
    body: str
    body_html: NotRequired[str]
    created_at: str | None
    updated_at: str | None
    own: bool
    suggestions: NotRequired[int]


class Asked(TypedDict):
    at: str | None
    by: str | None
    project: str | None
    chat: str | None
    sha: str | None


class Proposed(TypedDict):
    by: str | None
    at: str | None


class Thread(TypedDict):
    id: str
    path: str | None
    side: str | None
    line: int | None
    start_line: int | None
    start_side: str | None
    outdated: bool
    placement: Placement
    original_path: str | None
    original_line: int | None
    original_start_line: int | None
    original_commit: str | None
    anchor_text: str | None
    resolved: bool
    resolved_by: str | None
    resolved_by_name: NotRequired[str]
    resolved_at: str | None
    state: asked.State
    author: str | None
    created_at: str | None
    comments: list[Comment]
    from_sha: NotRequired[str]
    draft: NotRequired[bool]
    reply_to: NotRequired[str]
    asked: NotRequired[Asked]
    proposed: NotRequired[Proposed]


class Fingerprint(TypedDict):
    sha: str | None
    subject: str | None
    author: str | None
    authored: str | None
    change_id: str | None
    patch_id: str | None
    patch_id_u0: str | None


class CarriedFrom(TypedDict):
    sha: str
    by: str
    at: str | None
    also: list[str]
    without: list[str]


class Review(TypedDict):
    version: int
    commit: Fingerprint | None
    carried_from: CarriedFrom | None
    file: str | None
    target_file: str
    matched_from: str | None
    matched_by: str | None
    carried_over: bool
    parse_error: str | None
    warnings: list[str]
    viewed: list[str]
    viewed_stale: list[str]
    verdicts: list[verdicts.Given]
    threads: list[Thread]


class Drafts(TypedDict):
    """`parse_error`: why some of them cannot be read."""

    drafts: list[Thread]
    parse_error: str | None


def review(
    target: Target,
    *,
    html: bool = False,
    rendered: int = 0,
    mount: str = "",
    unresolved_only: bool = False,
    limit: int | None = None,
) -> Review:
    """The review of a commit with its first `limit` threads. With `html`, all comments have
    `body_html`, safe to show on pages under `mount`; else only those of the first `rendered`
    threads, from the top of the commit."""
    render = partial(markdown.html, mount=mount)
    found = commit_review.of(target)
    threads = [
        thread for thread in found.review.conversations if not (unresolved_only and thread.resolved)
    ][:limit]
    placed = placement.place(target, threads)
    shown = range(len(threads)) if html else _from_top(target, placed, rendered)
    marked, stale = viewed.valid(target, found)
    record: Review = {
        "version": found.review.version,
        "commit": _fingerprint(found.review.commit),
        "carried_from": _carried_from(found.review.carried_from),
        "file": str(found.file) if found.file else None,
        "target_file": str(found.target_file),
        "matched_from": found.matched_from,
        "matched_by": found.matched_by,
        "carried_over": found.carried_over,
        "parse_error": found.parse_error,
        "warnings": list(found.warnings),
        "viewed": marked,
        "viewed_stale": stale,
        "verdicts": verdicts.of(target, found),
        "threads": [
            _thread(one, where, render if n in shown else None)
            for n, (one, where) in enumerate(zip(threads, placed, strict=True))
        ],
    }
    return beside(found.review.extra, record)


def _from_top(target: Target, placed: Sequence[Placed], most: int) -> frozenset[int]:
    """The indexes of the first threads in the order of pages: threads on no file of the commit come
    first."""
    if not most:
        return frozenset()
    files = {file.path: n for n, file in enumerate(target.shown_commit.files)}

    def place(n: int) -> tuple[int, int]:
        return files.get(placed[n].path or "", -1), placed[n].line or 0

    return frozenset(sorted(range(len(placed)), key=place)[:most])


def stranded_threads(
    threads: Sequence[schema.Thread], *, html: bool = False, mount: str = ""
) -> list[Thread]:
    """The threads of a commit that is gone: their original places, without a placement."""
    render = partial(markdown.html, mount=mount) if html else None
    return [_thread(one, placement.nowhere(one), render) for one in threads]


def thread(target: Target, tid: str) -> Thread:
    """One thread as `review` shows it. Raises NotFound if it is not shown."""
    found = commit_review.of(target).review.thread(tid)
    (where,) = placement.place(target, [found])
    return _thread(found, where)


def drafts(
    target: Target, found: Sequence[Draft], *, html: bool = False, mount: str = ""
) -> list[Thread]:
    """Drafts as threads: `reply_to` names the thread that a reply is for."""
    render = partial(markdown.html, mount=mount) if html else None
    placed = placement.place(target, [one.thread for one in found])
    made = [_thread(one.thread, where, render) for one, where in zip(found, placed, strict=True)]
    return [record | {"draft": True} for record in made]


def comment(target: Target, tid: str, cid: str) -> Comment:
    """One comment of a thread. Raises NotFound if either is not shown."""
    found = commit_review.of(target).review.thread(tid).comment(cid)
    return _comment(found, reviewer.me())


def counts(target: Target) -> tuple[int, int, int, int]:
    """The numbers of threads, resolved ones, unresolved ones, and files viewed. Places nothing."""
    found = commit_review.of(target)
    threads = found.review.conversations
    resolved = sum(thread.resolved for thread in threads)
    return len(threads), resolved, len(threads) - resolved, len(viewed.valid(target, found)[0])


def _thread(thread: schema.Thread, where: Placed, render: Render | None = None) -> Thread:
    me = reviewer.me()
    record: Thread = {
        "id": thread.id,
        "path": where.path,
        "side": where.side,
        "line": where.line,
        "start_line": where.start_line,
        "start_side": where.start_side,
        "outdated": where.outdated,
        "placement": where.placement,
        "original_path": where.original_path,
        "original_line": where.original_line,
        "original_start_line": where.original_start_line,
        "original_commit": thread.anchor.commit,
        "anchor_text": where.text,
        "resolved": thread.resolved,
        "resolved_by": thread.resolved_by,
        "resolved_at": times.seconds(thread.resolved_at),
        "state": asking.state(thread),
        "author": thread.opened_by,
        "created_at": times.seconds(thread.created_at),
        "comments": [_comment(one, me, render) for one in thread.comments],
    }
    if thread.resolved_by is not None:
        record["resolved_by_name"] = me.name if thread.resolved_by == me.id else thread.resolved_by
    if thread.from_sha:
        record["from_sha"] = thread.from_sha
    if thread.asked:
        record["asked"] = _asked_record(thread.asked)
    if thread.proposed:
        record["proposed"] = {
            "by": thread.proposed.by,
            "at": times.seconds(thread.proposed.at),
        }
    return beside(thread.extra, record)


def _asked_record(value: asked.Asked) -> Asked:
    return {
        "at": times.seconds(value.at),
        "by": value.by,
        "project": value.project,
        "chat": value.chat,
        "sha": value.sha,
    }


def _comment(
    comment: schema.Comment, me: reviewer.Reviewer, render: Render | None = None
) -> Comment:
    own = comment.author == me.id
    record: Comment = {
        "id": comment.id,
        "author": comment.author,
        "author_name": me.name if own else comment.author,
        "body": comment.body,
        "created_at": times.seconds(comment.created_at),
        "updated_at": times.seconds(comment.updated_at),
        "own": own,
    }
    if render:
        record["body_html"] = render(comment.body)
    if found := _suggestions(comment.body):
        record["suggestions"] = found
    return beside(comment.extra, record)


def _suggestions(body: str) -> int:
    """The number that *Apply* finds: a block quoted in a longer fence or a list does not count."""
    if markdown.SUGGESTION not in body:  # parsing Markdown costs more than the rest of a record
        return 0
    return len(markdown.blocks(body, markdown.SUGGESTION))


def _fingerprint(value: schema.Fingerprint | None) -> Fingerprint | None:
    if value is None:
        return None
    return {
        "sha": value.sha,
        "subject": value.subject,
        "author": value.author,
        "authored": value.authored,
        "change_id": value.change_id,
        "patch_id": value.patch_id,
        "patch_id_u0": value.patch_id_u0,
    }


def _carried_from(value: traces.CarriedFrom | None) -> CarriedFrom | None:
    if value is None:
        return None
    return {
        "sha": value.sha,
        "by": value.by,
        "at": value.at,
        "also": list(value.also),
        "without": list(value.without),
    }
