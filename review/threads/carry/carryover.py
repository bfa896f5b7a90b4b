"""Carry-over: which gone commit each commit of the range stands for. Pure.

The rungs are in docs/review-carry-over.md, the reasons in docs/design/review.md#carry-over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from review.threads.carry.beside import Beside
from review.threads.carry.candidates import candidates
from review.threads.carry.ladder import SAME, Ladder, Tie
from review.threads.carry.lineage import Chains
from review.threads.carry.shares import shares
from review.threads.carry.similar import akin, count_shared, holds, overlap, size, without
from review.threads.carry.traces import (
    CERTAIN,
    FIRM,
    PERSON,
    Candidate,
    CarriedFrom,
    Match,
    Matches,
    Part,
    Shares,
    Trace,
)

__all__ = [
    "CERTAIN", "FIRM", "PERSON", "Beside", "Candidate", "CarriedFrom", "Match", "Matches",
    "Shares", "Trace", "match",
]  # fmt: skip
UNCHANGED = 0.9  # a fold that overlaps its successor less has lost parts not seen in it


def match(
    sources: Sequence[Trace],
    targets: Sequence[Trace],
    beside: Beside | None = None,
    *,
    landed: Sequence[Trace] = (),
    only_certain: bool = False,
) -> Matches:
    """Find for every gone commit the commit of the range that stands for it.

    `landed` commits stay listed outside the range. They stand for what files say they were made
    from, or were reset to, and for nothing that a rung finds.

    `sources` must include every old sha with a review, PR record or stack place, also those whose
    review was taken over: who took over whom is decided here. A source goes to at most one commit,
    and the order of the input does not matter. `only_certain` leaves the weaker rungs out.
    """
    ranged = {trace.sha: trace for trace in (*targets, *landed)}
    gone = {trace.sha: trace for trace in sources if trace.sha not in ranged}
    search = partial(
        _Search, gone, ranged, beside or Beside(),
        landed=frozenset(trace.sha for trace in landed), only_certain=only_certain,
    )  # fmt: skip
    found = search()
    freed = found.find_freed()
    return (search(freed) if freed else found).matches()


@dataclass(slots=True, init=False)
class _Search:
    """One climb of the ladder. `ranged` has the landed commits too, `inside` has not. `freed`:
    commits that are matched although a file took them over."""

    gone: Mapping[str, Trace]
    ranged: Mapping[str, Trace]
    inside: Sequence[Trace]
    beside: Beside
    parts: Mapping[str, Part]
    chains: Chains
    back: Mapping[str, str]
    joined: Mapping[str, list[str]]
    ladder: Ladder

    def __init__(
        self,
        gone: Mapping[str, Trace],
        ranged: Mapping[str, Trace],
        beside: Beside,
        freed: Mapping[str, Part] | None = None,
        *,
        landed: frozenset[str],
        only_certain: bool,
    ) -> None:
        self.gone, self.ranged, self.beside, self.parts = gone, ranged, beside, freed or {}
        self.inside = [one for sha, one in ranged.items() if sha not in landed]
        chains = self.chains = Chains({**gone, **ranged}, self.parts)
        self.back = _find_resets(chains, gone, ranged)
        self.joined = {
            sha: [one for one in back if one in gone and chains.heads[one] == one]
            for sha, back in chains.parts.items()
            if sha in ranged
        }
        used = {*self.back.values(), *(one for some in self.joined.values() for one in some)}
        self.ladder = Ladder(
            [one for sha, one in gone.items() if chains.heads[sha] == sha and sha not in used],
            [one for one in self.inside if one.sha not in self.back],
            {
                sha: [gone[old] for old in chains.whole(sha) if old in gone]
                for sha, one in ranged.items()
                if one.carried
            },
            beside,
        )
        if only_certain:
            self.ladder.climb_certain()
        else:
            self.ladder.climb()
            self.ladder.absorb(self.inside)

    def find_freed(self) -> dict[str, Part]:
        """What was taken over on a weak rung while one other commit makes exactly its change, and
        what was joined to a fold that now matches a commit without it: each with the part that the
        file has of it."""
        by_source = self._matched_all().by_source
        found = {}
        for sha, trace in self.gone.items():
            if not self.chains.weakly_taken(sha):
                continue
            head = self.chains.heads[sha]
            here = head if head in self.ranged else by_source.get(head)
            same = [to for to in self.ranged.values() if self._same_change(trace, to)]
            lost = here is not None and self._split_off(trace, head, here)
            if lost or (len(same) == 1 and same[0].sha != here):
                found[sha] = self.chains.part(head, sha)
        return found

    def _split_off(self, trace: Trace, head: str, here: str) -> bool:
        """Whether the commit that `head` now matches does not contain what `head` took over: a fold
        was undone, and that commit is another part of it."""
        if self.beside.have_met(trace.sha, here):
            return True
        if head == here or self.ladder.by.get(head) in CERTAIN:
            return False
        own, whole, now = (one.lines or {} for one in (trace, self.gone[head], self.ranged[here]))
        older = trace.sha in self.chains.whole(head)  # perhaps with others joined to it
        if (
            older
            and self.chains.firm(trace.sha)
            and (
                not holds(own, whole)  # it was rewritten: a fold would contain it
                or _signed_alike(trace, self.ranged[here])
            )
        ):
            return False
        if akin(without(whole, own), now) and not akin(own, now):
            return True
        if older:
            if overlap(count_shared(own, whole), own, whole) >= SAME:
                return False
            smaller = holds(now, whole) and size(now) < size(whole)
            if self.chains.firm(trace.sha) and not smaller:
                return False
        if holds(own, whole):
            return not holds(own, now)
        return overlap(count_shared(whole, now), whole, now) < UNCHANGED

    def _same_change(self, trace: Trace, target: Trace) -> bool:
        if self.beside.have_met(trace.sha, target.sha):
            return False
        return bool(
            (trace.patch_id and trace.patch_id == target.patch_id)
            or (trace.change_id and trace.change_id == target.change_id)
        )

    def matches(self) -> Matches:
        found = self._matched_all()
        left = [one.sha for one in self.ladder.open_sources() if not one.bystander]
        return Matches(
            by_commit=found.by_commit,
            orphans=tuple(sorted(left)),
            warnings=tuple(_warnings(self.ladder.ties, set(left))),
            candidates=candidates(self.ladder, self.inside),
            shares=shares(
                self.chains, found.by_commit, self.ranged, {**self.chains.left, **self.parts}
            ),
        )

    def _matched_all(self) -> Matches:
        settled = {self.chains.heads[sha] for sha in self.gone} & self.ranged.keys()
        wanted = self.back.keys() | self.ladder.found.keys() | self.joined.keys() | settled
        found = ((sha, self._match(sha)) for sha in sorted(wanted))
        return Matches({sha: one for sha, one in found if one})

    def _match(self, sha: str) -> Match | None:
        """All that one commit of the range stands for; None if there is nothing."""
        chains, ladder = self.chains, self.ladder
        head = self.back.get(sha)
        climbed = [one for one in ladder.found.get(sha, []) if not ladder.sources[one].bystander]
        fresh = [*([head] if head else []), *climbed, *self.joined.get(sha, [])]
        older = [old for end in (*fresh, sha) for old in chains.older(end) if old in self.gone]
        if not fresh and not older:
            return None
        firm = {*([head] if head else []), *filter(self._firm, climbed)}
        firm |= {old for old in older if chains.firm(old) and chains.heads[old] in {*firm, sha}}
        first = fresh[0] if fresh else older[0]
        carried = chains.traces[sha].carried
        settled = carried.by if carried else ""
        by = "lineage" if first == head else ladder.by.get(first, "lineage") if fresh else settled
        return Match(
            first,
            by,
            tuple(fresh[1:]),
            tuple(older if fresh else older[1:]),
            chains.since(sha) if head else "",
            tuple(one for one in (*fresh, *older) if one in firm),
        )

    def _firm(self, sha: str) -> bool:
        return self.ladder.by[sha] in FIRM and sha not in self.ladder.absorbed


def _signed_alike(one: Trace, other: Trace) -> bool:
    """Whether they are equal in what an amend preserves: author, author date and subject."""
    left, right = (
        (trace.author.casefold(), trace.authored, trace.subject) for trace in (one, other)
    )
    return all(left) and left == right


def _find_resets(
    chains: Chains, gone: Mapping[str, Trace], ranged: Mapping[str, Trace]
) -> dict[str, str]:
    """Lineage: commits that were reset back to, each with the end of the chain that had left it."""
    back: dict[str, str] = {}
    for head in sorted({chains.heads[sha] for sha in ranged} & gone.keys()):
        home = next((sha for sha in chains.whole(head) if sha in ranged), None)
        if home:
            back[home] = head
    return back


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
