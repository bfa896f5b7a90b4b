"""What a gone commit without a match may have become, for a person to decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from review.threads.carry.ladder import PREFIX, Ladder
from review.threads.carry.similar import common, size
from review.threads.carry.traces import Candidate, Trace

MOST = 5
NEAR = 0.2  # least share of the changed lines of the smaller commit
ORDER = ("change-id", "patch-id", "patch-id-u0", "author-date", "branch", "subject", "similar")


def candidates(ladder: Ladder, targets: Iterable[Trace]) -> dict[str, tuple[Candidate, ...]]:
    """The candidates of each open source, the likeliest first. There are none for a commit that a
    branch still leads to, and a commit that stood beside the source is never one."""
    every = list(targets)
    sources = [one for one in ladder.open_sources() if not (one.used or one.bystander)]
    near = _near(sources, every)
    found = {}
    for source in sources:
        fits = {
            target.sha: by
            for target in every
            if not ladder.beside.have_met(source.sha, target.sha)
            and (by := next(_likeness(source, target, ladder, near), None))
        }
        ranked = sorted(
            fits, key=lambda sha: (ORDER.index(fits[sha]), -near.get((source.sha, sha), 0.0), sha)
        )
        if ranked:
            found[source.sha] = tuple(Candidate(sha, fits[sha]) for sha in ranked[:MOST])
    return found


def _near(sources: list[Trace], targets: list[Trace]) -> dict[tuple[str, str], float]:
    """The shared lines of each pair, as a share of the smaller commit."""
    left, right = ({one.sha: one.lines for one in some if one.lines} for some in (sources, targets))
    return {
        (source, target): count / min(size(left[source]), size(right[target]))
        for (source, target), count in common(left, right)
    }


def _likeness(
    source: Trace, target: Trace, ladder: Ladder, near: Mapping[tuple[str, str], float]
) -> Iterator[str]:
    for tie in ladder.ties:
        if source.sha in tie.sources and target.sha in tie.targets:
            yield tie.by
    if source.author and source.authored and _author_date(source) == _author_date(target):
        yield "author-date"
    if source.branch_target == target.sha:
        yield "branch"
    if source.subject and _subject(source) == _subject(target):
        yield "subject"
    if near.get((source.sha, target.sha), 0.0) >= NEAR:
        yield "similar"


def _author_date(trace: Trace) -> tuple[str, str]:
    return trace.author.casefold(), trace.authored


def _subject(trace: Trace) -> str:
    return PREFIX.sub("", trace.subject, count=1)
