"""Changes to a commit's review: threads, viewed marks, the PR record.

Each function writes, notifies the clients, and returns the updated record. The nouns check the
arguments. `me` is the default author, and only what `me` wrote may be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NotRequired, TypedDict

from config import signals
from config.errors import SvcError
from config.git import walled
from review import events
from review.stacks import details, wire
from review.stacks import repo as repos
from review.stacks.folding import apply
from review.stacks.prs import pr_files
from review.stacks.worktree import reviewed
from review.threads import asking, commenting, drafts, records, verdicts
from review.threads import viewed as marks
from review.threads.target import Target


class NewComment(records.Comment):
    thread_id: str


class Deleted(TypedDict):
    ok: bool
    deleted: str
    thread: records.Thread | None


class DeletedDraft(TypedDict):
    ok: bool
    deleted: str


class Judged(TypedDict):
    verdicts: list[verdicts.Given]


class Submitted(Judged):
    threads: list[records.Thread]


class Viewed(TypedDict):
    """The result of marking files; `path` and `paths` are as they were sent."""

    path: str | None
    paths: NotRequired[list[str]]
    viewed: bool
    progress: wire.Progress


def start_thread(
    project: str,
    repo: str,
    sha: str,
    *,
    me: str,
    body: Any = None,
    author: Any = None,
    look: Any = None,
    **lines: Any,
) -> records.Thread:
    """Start a thread with its first comment. `lines` are the path, side and lines that it is about;
    for what is not committed, they are those of `look`."""
    before = reviewed.at(project, repo, sha)
    reviewed.check_look(before, look, [lines.get("path")])
    signed = me if author is None else author
    tid = commenting.create(before, body=body, author=signed, **lines)
    events.review(project, repo, before.stem)
    made = records.thread(reviewed.having(project, repo, sha, tid), tid)
    _tell(before, made, "opened", signed, made["comments"][0]["body"])
    return made


def reply(
    project: str, repo: str, sha: str, thread: str, *, me: str, body: Any = None, author: Any = None
) -> NewComment:
    before = reviewed.having(project, repo, sha, thread)
    signed = me if author is None else author
    cid = commenting.reply(before, thread, body=body, author=signed)
    events.review(project, repo, before.stem)
    after = reviewed.having(project, repo, sha, thread)
    found = records.comment(after, thread, cid)
    _tell(before, records.thread(after, thread), "replied", signed, found["body"])
    return {**found, "thread_id": thread}


def resolve_thread(
    project: str, repo: str, sha: str, thread: str, *, me: str, resolved: Any = True
) -> records.Thread:
    """Resolve the thread, or reopen it."""
    before = reviewed.having(project, repo, sha, thread)
    changed = commenting.resolve(before, thread, resolved, by=me)
    if changed:
        events.review(project, repo, before.stem)
    made = records.thread(reviewed.having(project, repo, sha, thread), thread)
    if changed:
        _tell(before, made, "resolved" if resolved else "reopened", me)
    return made


def propose_resolved(project: str, repo: str, sha: str, thread: str, *, me: str) -> None:
    """Propose that the thread is done; a person decides. Once per question to an agent."""
    target = reviewed.having(project, repo, sha, thread)
    if asking.propose(target, thread, by=me):
        events.review(project, repo, target.stem)
        made = records.thread(reviewed.having(project, repo, sha, thread), thread)
        _tell(target, made, "proposed", me)


def edit_comment(
    project: str,
    repo: str,
    sha: str,
    thread: str,
    comment: str,
    *,
    me: str,
    body: Any,
    was: Any = None,
) -> records.Comment:
    before = reviewed.having(project, repo, sha, thread)
    if commenting.edit(before, thread, comment, body, me=me, was=was):
        events.review(project, repo, before.stem)
    return records.comment(reviewed.having(project, repo, sha, thread), thread, comment)


def delete_comment(
    project: str, repo: str, sha: str, thread: str, comment: str, *, me: str
) -> Deleted:
    """Delete a comment; `thread` is the rest of its thread, None after the last comment."""
    before = reviewed.having(project, repo, sha, thread)
    gone = commenting.delete(before, thread, comment, me=me)
    events.review(project, repo, before.stem)
    left = None if gone else records.thread(reviewed.having(project, repo, sha, thread), thread)
    return {"ok": True, "deleted": comment, "thread": left}


def draft(
    project: str,
    repo: str,
    sha: str,
    *,
    me: str,
    body: Any = None,
    author: Any = None,
    reply_to: str | None = None,
    **lines: Any,
) -> records.Thread:
    """Write a comment without sending it: a thread about `lines`, or a reply to a thread."""
    target = repos.target_at(project, repo, sha)
    signed = me if author is None else author
    made = drafts.add(target, body=body, author=signed, reply_to=reply_to, **lines)
    events.review(project, repo, target.commit.sha)
    return _draft(repos.target_at(project, repo, sha), made, signed)


def edit_draft(
    project: str, repo: str, sha: str, draft: str, *, me: str, body: Any, was: Any = None
) -> records.Thread:
    target = repos.target_at(project, repo, sha)
    drafts.edit(target, draft, body, me, was)
    events.review(project, repo, target.commit.sha)
    return _draft(target, draft, me)


def delete_draft(project: str, repo: str, sha: str, draft: str, *, me: str) -> DeletedDraft:
    """Delete a draft, also one in the orphaned review of a commit that is gone."""
    found = repos.look_up_repo(project, repo)
    gone = next((one for one in found.orphans if one.sha == sha and one.drafted), None)
    if gone is not None:
        mine = drafts.one_of_gone(project, repo, gone.drafted, draft, me)
        drafts.remove(project, repo, [mine])
        events.project(project, "reviews")
    else:
        target = repos.target(found, repos.find(found, sha))
        drafts.remove(project, repo, [drafts.one(target, draft, me)])
        events.review(project, repo, target.commit.sha)
    return {"ok": True, "deleted": draft}


def submit(
    project: str,
    repo: str,
    sha: str,
    *,
    me: str,
    verdict: Any = None,
    body: Any = None,
    author: Any = None,
) -> Submitted:
    """Send all drafts of the author with a verdict; `threads` are those with a sent comment."""
    target = repos.target_at(project, repo, sha)
    signed = me if author is None else author
    sent = verdicts.submit(target, verdict=verdict, body=body, author=signed)
    events.review(project, repo, target.commit.sha)
    after = repos.target_at(project, repo, sha)
    threads = {one.reply_to or one.id: one for one in sent}
    written = {name: records.thread(after, name) for name in threads}
    for one in sent:
        (comment,) = one.thread.comments
        act: signals.Act = "replied" if one.reply_to else "opened"
        _tell(after, written[one.reply_to or one.id], act, signed, comment.body)
    return {"verdicts": verdicts.of(after), "threads": list(written.values())}


def withdraw(project: str, repo: str, sha: str, *, me: str) -> Judged:
    """Withdraw the verdict of `me`."""
    target = repos.target_at(project, repo, sha)
    if verdicts.withdraw(target, me):
        events.review(project, repo, target.commit.sha)
    return {"verdicts": verdicts.of(repos.target_at(project, repo, sha))}


def _draft(target: Target, name: str, author: str) -> records.Thread:
    (found,) = records.drafts(target, [drafts.one(target, name, author)])
    return found


def apply_suggestions(
    project: str, repo: str, sha: str, *, suggestions: Any = None, me: str | None = None
) -> apply.Applied:
    """Make a fixup commit of these suggestions. If `me` names the person who takes them, their
    threads are resolved as far as the files can be written."""
    made = apply.apply(project, repo, sha, apply.parse_suggestions(suggestions))
    for thread in made["threads"] if me else ():
        with suppress(SvcError):
            resolve_thread(project, repo, sha, thread, me=me or "")
    return made


def mark_viewed(
    project: str,
    repo: str,
    sha: str,
    *,
    path: Any = None,
    paths: Any = None,
    viewed: Any = None,
    look: Any = None,
) -> Viewed:
    """Mark a file, or all of `paths`, as viewed or as not viewed; for what is not committed, as of
    this `look`."""
    before = reviewed.at(project, repo, sha)
    reviewed.check_look(before, look, paths if isinstance(paths, list) else [path])
    if paths is None:
        changed = marks.set_viewed(before, path, viewed)
    else:
        changed = marks.set_all_viewed(before, paths, viewed)
    if changed:
        events.review(project, repo, before.stem)
    progress = details.progress(reviewed.at(project, repo, sha))
    done: Viewed = {"path": path, "viewed": viewed, "progress": progress}
    return done if paths is None else {**done, "paths": paths}


def set_pr(
    project: str, repo: str, sha: str, patch: Mapping[str, Any], was: Any = None
) -> details.Pr:
    """Set the fields of `patch`; None clears a field. Conflict if one is not as it `was`."""
    found, item = repos.look_up(project, repo, sha)
    changed = pr_files.set_pr(
        repos.target(found, item),
        patch,
        landed_sha=item.landed.sha if item.landed else None,
        pr=item.pr,
        source_sha=item.pr_source,
        was=was,
    )
    if changed:
        events.pr(project, repo, item.commit.sha)
    return details.pr(project, repo, sha)


def _tell(
    target: Target, thread: records.Thread, act: signals.Act, author: str, text: str = ""
) -> None:
    """Notify the other parts of a change that has been written."""
    written = signals.ThreadWritten(
        repository=target.repository.path,
        project=target.slug,
        repo=target.repo,
        sha=target.stem,
        thread=thread["id"],
        act=act,
        author=author,
        text=text,
        file=thread["path"] or "",
        line=thread["line"],
    )
    with walled.behind(None):  # receivers are not limited by the writer's wall
        signals.tell(signals.thread_written, written)
