"""A person says what a gone commit became, which takes over its review and its PR record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypedDict

from config.errors import Conflict, Invalid, NotFound
from config.jsonio import clean
from review import events
from review.stacks import repo as repos
from review.stacks import states
from review.stacks.prs import pr_files
from review.stacks.states import ReviewState
from review.stacks.values import Repo
from review.threads.carry import carryover
from review.threads.carry.carryover import Match
from review.threads.target import Target
from review.threads.writing import writes


class TakenOver(TypedDict):
    review: bool
    pr: bool


def take(project: str, repo: str, sha: str, old: Any) -> TakenOver:
    """Take over the review and PR record of `old` that this commit lacks; return what was taken.

    NotFound if `old` has neither, Conflict if it is listed itself.
    """
    found, item = repos.look_up(project, repo, sha)
    state = _state(found, old)
    target = repos.target(found, item)
    review = state.review is not None and not _has(target, state.sha)
    if review:
        writes.write(replace(target, match=_match(target.match, state.sha)), lambda _page: True)
    pr = state.pr is not None and item.pr_source is None
    if pr and state.pr:
        pr_files.take(target, state.pr, state.sha)
    place = (target.slug, target.repo, target.commit.sha)
    for taken, tell in ((review, events.review), (pr, events.pr)):
        if taken:
            tell(*place)
    return {"review": review, "pr": pr}


def _state(found: Repo, old: Any) -> ReviewState:
    if not isinstance(old, str) or not repos.HEX.fullmatch(old.lower()):
        raise Invalid('"from" must be the sha of the commit whose review is taken over')
    names = states.stems(found.project.slug, found.entry.name)
    known = states.read(found.project.slug, found.entry.name, dict(zip(names, names, strict=True)))
    hits = [state for sha, state in known.by_sha.items() if sha.startswith(old.lower())]
    if len(hits) != 1:
        raise NotFound(f"No review or PR record of commit {clean(old[:40])}")
    if hits[0].sha in found.by_sha:
        raise Conflict(f"Commit {hits[0].sha[:7]} is in the range: its review stays there")
    return hits[0]


def _has(target: Target, old: str) -> bool:
    """Whether the commit's own file has already taken over the review of `old`."""
    carried = target.trace.carried
    return carried is not None and old in (carried.sha, *carried.also)


def _match(before: Match | None, old: str) -> Match:
    """The commit's match with `old` in the first place."""
    shas = before.shas if before else ()
    others = tuple(sha for sha in shas if sha != old)
    return Match(old, carryover.PERSON, also=others, firm=(old,))
