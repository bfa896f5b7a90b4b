"""Carry-over: which gone commit a commit of the range stands for (contract 5). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from review.reviews.carry.ladder import Ladder, Tie
from review.reviews.carry.lineage import Chains
from review.reviews.carry.traces import CarriedFrom, Match, Matches, Trace

__all__ = ["CarriedFrom", "Match", "Matches", "Trace", "match"]


def match(sources: Sequence[Trace], targets: Sequence[Trace]) -> Matches:
    """Find for every gone commit the commit of the range that stands for it.

    Give every old sha that has anything (review, PR record, stack place), those included whose
    review was taken over: who took over whom is decided here. One source goes to one commit, and
    the order of the input does not matter.
    """
    ranged = {trace.sha: trace for trace in targets}
    gone = {trace.sha: trace for trace in sources if trace.sha not in ranged}
    chains = Chains(gone | ranged)
    back = _returned(chains, gone, ranged)
    used = set(back.values())
    settled = {chains.heads[sha] for sha in gone} & ranged.keys()
    ladder = Ladder(
        [trace for sha, trace in gone.items() if chains.heads[sha] == sha and sha not in used],
        [trace for sha, trace in ranged.items() if sha not in back],
        {sha for sha, trace in ranged.items() if trace.carried},
    )
    ladder.climb()
    ladder.absorb(targets)
    matched = {
        sha: _match(sha, chains, ladder, gone, back.get(sha))
        for sha in sorted(back.keys() | ladder.found.keys() | settled)
    }
    left = ladder.open_sources()
    return Matches(
        by_commit=matched,
        orphans=tuple(sorted(trace.sha for trace in left)),
        warnings=tuple(_warnings(ladder.ties, {trace.sha for trace in left})),
    )


def _returned(chains: Chains, gone: dict[str, Trace], ranged: dict[str, Trace]) -> dict[str, str]:
    """Lineage: commits that were reset back to, each with the end of the chain that left it.

    Of several commits that one file took over, the one it stands for comes before the joined.
    """
    back: dict[str, str] = {}
    for head in sorted({chains.heads[sha] for sha in ranged} & gone.keys()):
        home = next(sha for sha in chains.older(head) if sha in ranged)
        back[home] = head
    return back


def _match(
    sha: str, chains: Chains, ladder: Ladder, gone: dict[str, Trace], head: str | None
) -> Match:
    """Everything one commit of the range stands for."""
    joined = ladder.found.get(sha, [])
    fresh = [head, *joined] if head else joined
    older = [old for end in (*fresh, sha) for old in chains.older(end) if old in gone]
    if not fresh:
        carried = chains.traces[sha].carried
        return Match(older[0], carried.by if carried else "", before=tuple(older[1:]))
    by, since = ("lineage", chains.since(sha)) if head else (ladder.by[sha], "")
    return Match(fresh[0], by, tuple(fresh[1:]), tuple(older), since)


def _warnings(ties: Iterable[Tie], left: set[str]) -> Iterable[str]:
    """One sentence for each tie that no lower rung resolved."""
    seen = set()
    for tie in ties:
        sources = tuple(sorted(sha for sha in tie.sources if sha in left))
        if not sources or sources in seen:
            continue
        seen.add(sources)
        noun = "reviews of" if len(sources) > 1 else "review of"
        fits = ", ".join(sorted(sha[:7] for sha in tie.targets))
        yield (
            f"The {noun} {', '.join(sha[:7] for sha in sources)} could belong to {fits}"
            f" (equal {tie.by}): carried over to none"
        )
