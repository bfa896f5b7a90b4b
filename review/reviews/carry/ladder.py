"""The rungs of carry-over, from a shared change id down to similar lines (contract 5).

Pure and independent of the order of its input. A rung pairs what it can tell apart; what it
cannot is left to the rungs below and warned of if none of them can either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from review.reviews.carry.similar import contained, overlaps
from review.reviews.carry.traces import Trace

Key = Callable[[Trace], Hashable]
PREFIX = re.compile(r"(?:(?:fixup|squash|amend)!\s*)+")
SAME, OTHER, CONTAINED = 0.6, 0.4, 0.8  # least overlap, most of the runner-up, least containment


@dataclass(frozen=True, slots=True)
class Tie:
    """Sources that fit commits equally well on one rung."""

    by: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]


class Ladder:
    """Climbs down from `change-id`. `settled` commits have a source already: nothing as weak as an
    equal subject or similar lines gives them another.

    `found` leads from a commit to its sources, best first, `by` to the rung of the best.
    """

    def __init__(
        self, sources: Iterable[Trace], targets: Iterable[Trace], settled: Collection[str] = ()
    ) -> None:
        self.sources = {trace.sha: trace for trace in sorted(sources, key=_newest, reverse=True)}
        self.targets = {trace.sha: trace for trace in sorted(targets, key=_newest, reverse=True)}
        self.settled = settled
        self.found: dict[str, list[str]] = {}
        self.by: dict[str, str] = {}
        self.ties: list[Tie] = []
        self._gone: set[str] = set()  # sources that are matched

    def climb(self) -> None:
        self._equal("change-id", lambda trace: trace.change_id)
        self._equal("patch-id", lambda trace: trace.patch_id)
        self._equal("patch-id-u0", lambda trace: trace.patch_id_u0, one_commit=False)
        self._author_date()
        self._branch()
        self._subject(lambda trace: trace.subject)
        self._subject(lambda trace: PREFIX.sub("", trace.subject, count=1))
        self._similar()

    def absorb(self, targets: Iterable[Trace]) -> None:
        """Squash: what is left and contained in exactly one commit joins its sources."""
        hits = contained(self.open_sources(), list(targets), CONTAINED)
        for source, (_, target) in sorted(hits.items(), key=lambda hit: (-hit[1][0], hit[0])):
            self._pair("similar", source, target)

    def open_sources(self) -> list[Trace]:
        return [trace for sha, trace in self.sources.items() if sha not in self._gone]

    def open_targets(self) -> list[Trace]:
        return [trace for sha, trace in self.targets.items() if sha not in self.found]

    def _unsettled(self) -> list[Trace]:
        return [trace for trace in self.open_targets() if trace.sha not in self.settled]

    def _pair(self, by: str, source: str, target: str) -> None:
        self._gone.add(source)
        self.found.setdefault(target, []).append(source)
        self.by.setdefault(target, by)

    def _equal(self, by: str, key: Key, *, one_commit: bool = True) -> None:
        for sources, targets in _groups(self.open_sources(), self.open_targets(), key):
            self._share(by, sources, targets, one_commit=one_commit)

    def _share(
        self, by: str, sources: list[Trace], targets: list[Trace], *, one_commit: bool
    ) -> None:
        """Pair equals by place, then what is left over alone. Where `one_commit` is certain, any
        number of sources are old versions of the only commit they fit, the newest first."""
        if one_commit and len(targets) == 1:
            for source in sorted(sources, key=lambda one: one.place != targets[0].place):
                self._pair(by, source.sha, targets[0].sha)
            return
        if len(sources) > 1 or len(targets) > 1:
            for left, right in _groups(sources, targets, lambda trace: trace.place):
                if len(left) == len(right) == 1:
                    self._pair(by, left[0].sha, right[0].sha)
        sources = [trace for trace in sources if trace.sha not in self._gone]
        targets = [trace for trace in targets if trace.sha not in self.found]
        if len(sources) == len(targets) == 1:
            self._pair(by, sources[0].sha, targets[0].sha)
        elif sources and targets:
            self.ties.append(Tie(by, _shas(sources), _shas(targets)))

    def _author_date(self) -> None:
        """Scripted commits share their second: then the subject decides."""

        def key(trace: Trace) -> Hashable:
            return (trace.author.casefold(), trace.authored) if _dated(trace) else None

        for sources, targets in self._all_groups(key):
            left, right = self._still_open(sources, targets)
            if len(sources) == len(targets) == len(left) == len(right) == 1:
                self._pair("author-date", left[0].sha, right[0].sha)
                continue
            for same, alike in _groups(left, right, lambda trace: trace.subject):
                self._share("author-date", same, alike, one_commit=True)

    def _branch(self) -> None:
        pointed = [trace for trace in self.open_sources() if trace.branch_target]
        for target in self.open_targets():
            sources = [trace for trace in pointed if trace.branch_target == target.sha]
            if sources:
                self._share("branch", sources, [target], one_commit=False)

    def _subject(self, key: Key) -> None:
        for sources, targets in self._all_groups(key):
            left, right = self._still_open(sources, targets)
            right = [trace for trace in right if trace.sha not in self.settled]
            if len(sources) == len(targets) == len(left) == len(right) == 1:
                self._pair("subject", left[0].sha, right[0].sha)
            elif left and right:
                self.ties.append(Tie("subject", _shas(left), _shas(right)))

    def _similar(self) -> None:
        """Pairs that are each other's best, each with no other candidate near."""
        shares = overlaps(self.open_sources(), self._unsettled())
        best: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for (source, target), share in shares.items():
            best[f"s{source}"].append((share, target))
            best[f"t{target}"].append((share, source))
        for ranked in best.values():
            ranked.sort(reverse=True)
        for (source, target), share in shares.items():
            if share >= SAME and all(
                ranked[0][0] == share and (len(ranked) == 1 or ranked[1][0] <= OTHER)
                for ranked in (best[f"s{source}"], best[f"t{target}"])
            ):
                self._pair("similar", source, target)

    def _all_groups(self, key: Key) -> Iterator[tuple[list[Trace], list[Trace]]]:
        return _groups(self.sources.values(), self.targets.values(), key)

    def _still_open(
        self, sources: Sequence[Trace], targets: Sequence[Trace]
    ) -> tuple[list[Trace], list[Trace]]:
        return (
            [trace for trace in sources if trace.sha not in self._gone],
            [trace for trace in targets if trace.sha not in self.found],
        )


def _groups(
    sources: Iterable[Trace], targets: Iterable[Trace], key: Key
) -> Iterator[tuple[list[Trace], list[Trace]]]:
    """Sources and targets of equal key; an empty key (no patch, no id) equals nothing."""
    left: dict[Hashable, list[Trace]] = defaultdict(list)
    right: dict[Hashable, list[Trace]] = defaultdict(list)
    for traces, groups in ((sources, left), (targets, right)):
        for trace in traces:
            if found := key(trace):
                groups[found].append(trace)
    return ((left[found], right[found]) for found in left if found in right)


def _newest(trace: Trace) -> tuple[str, str, str]:
    return (trace.written, trace.authored, trace.sha)


def _dated(trace: Trace) -> bool:
    return bool(trace.author and trace.authored)


def _shas(traces: Iterable[Trace]) -> tuple[str, ...]:
    return tuple(trace.sha for trace in traces)
