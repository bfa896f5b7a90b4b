"""Submitting a review: all drafts of a person at once, together with a verdict.

One write of the review file: the drafts become threads and replies that keep their ids, so that a
repeated submission adds nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from config.errors import Conflict, Invalid, NotFound
from config.git.command import GitError
from review import reviewer
from review.files import times
from review.git import objects, patches
from review.git.commits import Changed, Commit
from review.git.diffs import diff
from review.git.log import history
from review.threads import commenting, commit_review, document, drafts, ids, judged
from review.threads.commit_review import CommitReview
from review.threads.document import Tree
from review.threads.drafts import Draft
from review.threads.judged import Verdict
from review.threads.target import Target
from review.threads.writing import limits, writes
from review.threads.writing.page import Page


class Given(TypedDict):
    """`sha`: the version it was given on; `changed`: whether the commit's change differs now."""

    author: str
    author_name: str
    verdict: str
    at: str | None
    sha: str | None
    changed: bool
    own: bool


def of(target: Target, shown: CommitReview | None = None) -> list[Given]:
    """Every verdict on the commit."""
    found = (shown or commit_review.of(target)).review.verdicts
    me = reviewer.me()
    return [
        {
            "author": one.author,
            "author_name": me.name if one.author == me.id else one.author,
            "verdict": one.word,
            "at": times.seconds(one.at),
            "sha": one.sha,
            "changed": is_changed(target, one),
            "own": one.author == me.id,
        }
        for one in found
    ]


def submit(target: Target, *, verdict: Any, body: Any, author: Any) -> list[Draft]:
    """Send all drafts of the author, and `body` as a thread about the commit, with the verdict.

    Return what was sent. `comment` leaves an earlier approval or request as it is. Invalid if there
    is nothing to send, Conflict if a thread that a draft answers is gone: then nothing is sent.
    """
    if verdict not in judged.WORDS:
        raise Invalid('"verdict" must be approve, changes or comment')
    signed = limits.author(author)
    sent = drafts.of(target, signed)
    if body is not None and (not isinstance(body, str) or body.strip()):
        sent = [*sent, _about_commit(target, body, signed)]
    if not sent and verdict == "comment":
        raise Invalid("There is nothing to submit: write a draft, or give a verdict")
    made = _make(target, verdict, signed)
    writes.write(target, _Submission(sent, made))
    drafts.remove(target.slug, target.repo, sent)
    return sent


def withdraw(target: Target, author: str) -> bool:
    """Withdraw one's verdict; False if there is none."""

    def operation(page: Page) -> bool:
        given = _stored_verdicts(page)
        if author not in given:
            return False
        del given[author]
        page.set("verdicts", given)
        return True

    return writes.write(target, operation)


class _Submission:
    """Adds what is not there yet, however often it is called."""

    def __init__(self, sent: Sequence[Draft], verdict: Verdict) -> None:
        self.sent = sent
        self.verdict = verdict

    def __call__(self, page: Page) -> bool:
        limits.room_for_a_thread(len(page.review.threads) + len(self.sent) - 1)
        for draft in self.sent:
            (comment,) = draft.thread.comments
            if comment.id in page.names:
                continue
            comment = replace(comment, created_at=times.now_exact(), updated_at=None)
            if draft.reply_to is None:
                page.add(replace(draft.thread, comments=(comment,), created_at=comment.created_at))
                continue
            try:
                page.reply(page.review.thread(draft.reply_to), comment)
            except NotFound:
                raise _thread_gone(draft) from None
        given = _stored_verdicts(page)
        before = {one.author: one for one in page.review.verdicts}.get(self.verdict.author)
        if self.verdict.word == "comment" and before is not None:
            return bool(self.sent)
        given[self.verdict.author] = document.verdict(self.verdict)
        page.set("verdicts", given)
        return True


def _stored_verdicts(page: Page) -> Tree:
    """The verdicts in the file; empty if they are not a mapping, as in a hand-made file."""
    found = page.tree.get("verdicts")
    return dict(found) if isinstance(found, Mapping) else {}


def _thread_gone(draft: Draft) -> Conflict:
    text = draft.thread.comments[0].body[:60]
    return Conflict(
        f'The thread that your draft "{text}" answers is gone: delete the draft, then submit again',
        code="changed",
    )


def _about_commit(target: Target, body: Any, author: str) -> Draft:
    comment = replace(commenting.new_comment(body, author), id=ids.mint("c", ()))
    nowhere = dict.fromkeys(("path", "side", "line", "start_line", "start_side"))
    made = commenting.new_thread(target, comment, **nowhere)
    return Draft(target.commit.sha, replace(made, id=ids.mint("t", ())))


def _make(target: Target, word: str, author: str) -> Verdict:
    sha = target.commit.sha
    judged_diff = diff.change_digest(target.repository, target.shown_commit)
    return Verdict(author, word, times.now_exact(), sha, _patch_id(target, sha), judged_diff)


def is_changed(target: Target, verdict: Verdict) -> bool:
    """Whether the shown change of the commit, which may be the landed one, differs from the change
    that was judged."""
    now = target.shown_commit
    if verdict.sha is None or verdict.sha == now.sha:
        return False
    before = _commit(target, verdict.sha)
    if before and _contents(before) == _contents(now):
        return False  # true of most commits after a rebase: no diff is needed
    was = verdict.diff or (diff.change_digest(target.repository, before) if before else None)
    if was is None:  # the commit is gone, and an earlier release wrote the verdict
        return verdict.patch_id != _patch_id(target, now.sha)
    return was != diff.change_digest(target.repository, now)


def _commit(target: Target, sha: str) -> Commit | None:
    """The commit as the list of commits read it; None if it is gone from git."""
    try:
        there = objects.exists(target.repository, sha)
        return history.commits_by_sha(target.repository, [sha]).get(sha) if there else None
    except GitError as error:
        if error.kind == "timeout":
            raise
        return None


def _contents(commit: Commit) -> list[Changed]:
    """The changed files with their blobs before and after, without line counts."""
    return [file._replace(additions=None, deletions=None) for file in commit.files]


def _patch_id(target: Target, sha: str) -> str | None:
    found = patches.of(target.repository, [sha]).get(sha)
    return found.patch_id_u0 if found else None
