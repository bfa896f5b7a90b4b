"""Apply suggestions: one fixup commit for the commit that they are on, on top of its branch.

See docs/design/review.md#apply-and-fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from config.errors import Conflict, Invalid, NotFound, printable
from config.git.command import GitError
from review.git import objects
from review.git.refs import HEADS
from review.git.rewriting import autosquash, keeping, writing
from review.git.rewriting.autosquash import Named
from review.git.rewriting.keeping import Move
from review.stacks import repo as repos
from review.stacks.folding import ground as grounds
from review.stacks.folding import suggestions
from review.stacks.folding.checkout import Change, Checkout
from review.stacks.folding.ground import Ground
from review.stacks.folding.suggestions import Edit
from review.stacks.values import Repo, Stack
from review.threads import commit_review
from review.threads.placement import follow, placing
from review.threads.placement.placing import Placed
from review.threads.placement.text import Text
from review.threads.schema import Thread, normal_side
from review.threads.target import Target

MOST = 100  # suggestions of one commit
FILES = ("100644", "100755")


class Applied(TypedDict):
    """`sha` is the fixup commit, made on `branch`; `threads` those whose suggestion it applies."""

    sha: str
    subject: str
    branch: str
    files: list[str]
    threads: list[str]


@dataclass(frozen=True, slots=True)
class NamedSuggestion:
    """A suggestion that a caller names; by default one of the newest comment that has any."""

    thread: str
    comment: str | None = None
    block: int = 0


def parse_suggestions(value: Any) -> list[NamedSuggestion]:
    """Parse the `suggestions` of a request. Invalid names field, reason and fix."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST:
        raise Invalid(f'"suggestions" must be a list of 1 to {MOST} of {{thread, comment, block}}')
    found = [_parse(one, at) for at, one in enumerate(value)]
    for at, one in enumerate(found):
        if any(one.thread == other.thread for other in found[:at]):
            raise Invalid(f'"suggestions[{at}].thread" is named twice; apply one suggestion of it')
    return found


def _parse(value: Any, at: int) -> NamedSuggestion:
    row = value if isinstance(value, dict) else {}
    thread, comment, block = row.get("thread"), row.get("comment"), row.get("block")
    if not isinstance(thread, str) or not thread:
        raise Invalid(f'"suggestions[{at}].thread" is required: the id of a thread')
    if comment is not None and not isinstance(comment, str):
        raise Invalid(f'"suggestions[{at}].comment" must be the id of a comment')
    if block is None:
        return NamedSuggestion(thread, comment)
    if isinstance(block, bool) or not isinstance(block, int) or block < 0:
        raise Invalid(f'"suggestions[{at}].block" must be a whole number from 0')
    return NamedSuggestion(thread, comment, block)


def apply(project: str, repo: str, sha: str, wanted: Sequence[NamedSuggestion]) -> Applied:
    """Make one `fixup!` commit with all suggestions. NotFound; Conflict, with nothing changed."""
    with grounds.held(project, repo, lambda found: _stack_of(found, sha)) as ground:
        item = repos.find(ground.found, sha)
        if item.fixed:
            raise Conflict(
                f"Commit {item.commit.sha[:7]} has landed and takes no more fixups. "
                "Make the change in a commit of its own.",
                code="not_on_branch",
            )
        if not any(one.sha == item.commit.sha for one in ground.chain):
            raise Conflict(
                f"Commit {item.commit.sha[:7]} is not on branch {ground.branch}, or stands below a "
                "merge: no fixup would find it.",
                code="not_on_branch",
            )
        target = repos.target(ground.found, item)
        edits: dict[str, list[Edit]] = {}
        for one in wanted:
            path, edit = _edit(ground, target, one)
            edits.setdefault(path, []).append(edit)
        changes = [_change(ground, path, found) for path, found in sorted(edits.items())]
        subject = _subject(ground, item.commit.sha, item.commit.subject)
        made = _commit(ground, changes, subject)
        return {
            "sha": made,
            "subject": subject,
            "branch": ground.branch,
            "files": [change.path for change in changes],
            "threads": [one.thread for one in wanted],
        }


def _stack_of(found: Repo, sha: str) -> Stack | None:
    item = repos.find(found, sha)
    return next((stack for stack in found.stacks if stack.n == item.stack), None)


def _edit(ground: Ground, target: Target, wanted: NamedSuggestion) -> tuple[str, Edit]:
    """Path and edit on the branch as it is now. Conflict if the lines have changed since."""
    thread = commit_review.of(target).review.thread(wanted.thread)
    lines = _find_suggestion(thread, wanted)
    (here,) = placing.place(target, [thread])
    if here.path is None or here.line is None or normal_side(here.side) != "RIGHT":
        raise Conflict(f"Thread {thread.id} is on no lines of the new text: there is nothing to "
                       "replace.", code="no_lines")  # fmt: skip
    meant = _original_lines(target, thread)
    tip = repos.target(ground.found, repos.find(ground.found, ground.tip))
    (there,) = placing.place(tip, [_standing(target, thread, here)])
    if here.outdated or there.line is None or there.path is None:
        raise _others(thread, here.path)
    text = _text(tip, there.path)
    if there.outdated and suggestions.stands(text.lines, lines, there.line):
        raise _applied_error(thread)
    if there.outdated:
        raise _others(thread, here.path)
    first, last = there.start_line or there.line, there.line
    now = text.snippet(first, last).lines
    if suggestions.plain(now) == suggestions.plain(lines):
        raise _applied_error(thread)
    if now != meant:
        raise _others(thread, there.path)
    return there.path, Edit(first, last, lines, thread.id)


def _find_suggestion(thread: Thread, wanted: NamedSuggestion) -> tuple[str, ...]:
    """The lines of the suggestion. NotFound if there is none."""
    comments = [thread.comment(wanted.comment)] if wanted.comment else thread.comments[::-1]
    for comment in comments:
        found = suggestions.blocks(comment.body)
        if wanted.block < len(found):
            return found[wanted.block]
    raise NotFound(
        f"Thread {thread.id} holds no such suggestion: write one as a ```suggestion block"
    )


def _standing(target: Target, thread: Thread, here: Placed) -> Thread:
    """The thread as if it had been written at its current place."""
    place = (here.path, here.side, here.line, here.start_line, here.start_side)
    return replace(
        thread, path=here.path, side=here.side, line=here.line, start_line=here.start_line,
        start_side=here.start_side, anchor=placing.anchor(target, *place),
    )  # fmt: skip


def _original_lines(target: Target, thread: Thread) -> list[str] | None:
    """The lines that the suggestion was made for; None if they can no longer be found."""
    assert thread.path is not None
    assert thread.line is not None
    start, anchor = thread.start_line or thread.line, thread.anchor
    oid = anchor.blob or follow.written_on(
        target.repository, anchor.commit or target.commit.sha, thread.path, "RIGHT"
    )
    data = objects.blob(target.repository, oid) if oid else None
    if data is not None:
        return Text(data).snippet(start, thread.line).lines
    told = anchor.text.split("\n") if anchor.text is not None else []
    return told if len(told) == thread.line - start + 1 else None


def _text(tip: Target, path: str) -> Text:
    entry = objects.entry(tip.repository, tip.commit.sha, path)
    data = objects.blob(tip.repository, entry.oid) if entry and entry.mode in FILES else None
    if data is None:
        raise Conflict(f"{printable(path)} is not a file on the branch that could be changed.")
    return Text(data)


def _applied_error(thread: Thread) -> Conflict:
    return Conflict(f"The suggestion of thread {thread.id} is applied already.", code="applied")


def _others(thread: Thread, path: str) -> Conflict:
    return Conflict(
        f"The lines of {printable(path)} that thread {thread.id} is about have changed since "
        "the suggestion was made; change them by hand, or suggest again.",
        code="outdated",
    )


def _change(ground: Ground, path: str, edits: Sequence[Edit]) -> Change:
    entry = objects.entry(ground.repository, ground.tip, path)
    assert entry is not None, "its text was read"
    before = objects.blob(ground.repository, entry.oid) or b""
    after = suggestions.apply(before, edits, printable(path))
    oid = writing.blob(ground.repository, after)
    return Change(path, entry.mode, entry.oid, oid, before, after)


def _subject(ground: Ground, sha: str, subject: str) -> str:
    """`fixup! <subject>`, or with the sha if the subject would mean another commit."""
    chain = [*ground.chain]
    roots = {fold.sha: fold.target for fold in autosquash.folds(chain)}
    named = f"fixup! {subject}"
    new = autosquash.folds([*chain, Named("new", named)])
    told = next((fold.target for fold in new if fold.sha == "new"), None)
    return named if told == roots.get(sha, sha) else f"fixup! {sha}"


def _commit(ground: Ground, changes: Sequence[Change], subject: str) -> str:
    """Make the commit and move the branch, and update the work tree that has it checked out."""
    repository = ground.repository
    tree = writing.tree(repository, ground.tip, {one.path: one.new for one in changes})
    who = grounds.committer(repository)
    made = writing.commit(repository, tree, ground.tip, who, subject)
    move = Move(ground.ref, ground.tip, made)
    out = [one for one in ground.trees if one.ref == ground.ref]
    if len(out) > 1:
        raise Conflict(f"Branch {ground.branch} is checked out in {out[0].path} and in "
                       f"{out[1].path}; check it out once.", code="checked_out")  # fmt: skip
    if out and not out[0].there:
        raise Conflict(f"Branch {ground.branch} is checked out in {out[0].named}: its files could "
                       "not follow.", code="checked_out")  # fmt: skip
    try:
        if out:
            Checkout(repository, out[0], changes).follow(move, "apply: a suggestion")
        else:
            keeping.move(repository, [move], "apply: a suggestion")
    except GitError as error:
        if error.kind != "failed":
            raise
        name = move.ref.removeprefix(HEADS)
        raise Conflict(f"Branch {name} could not be moved: {error.text}", code="changed") from None
    return made
