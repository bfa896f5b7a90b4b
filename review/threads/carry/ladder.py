"""The rungs of carry-over, from a shared change id down to similar lines.

Pure and independent of the order of its input. A rung pairs what it can tell apart; ties are left
to the rungs below, and reported as warnings if none of them resolves them. No rung pairs commits
that stood in one range: there they were different commits.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from review.threads.carry.beside import Beside
from review.threads.carry.similar import (
    Lines,
    additions,
    akin,
    common,
    count_shared,
    holds,
    net,
    overlap,
    sum_lines,
    undoing,
    without,
)
from review.threads.carry.traces import CERTAIN, Trace

Key = Callable[[Trace], Hashable]
PREFIX = re.compile(r"(?:(?:fixup|squash|amend)!\s*)+")
SAME, OTHER = 0.6, 0.4  # least overlap of a pair, most overlap of its runner-up
SUM = 0.8  # least overlap of a commit and the sum of those that were folded into it
FOLDED = 60  # most sources that are tried in one fold
USED = ("change-id", "patch-id")  # the rungs that may match a commit that a branch still leads to


@dataclass(frozen=True, slots=True)
class Tie:
    """Sources that fit commits equally well on one rung."""

    by: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]


class Ladder:
    """Climbs down from `change-id`. `settled` commits already have a source; each is given with the
    commits that it is known to have been. They get no further source by a weak rung (equal subject,
    similar lines), and one that stood beside these commits only by a certain rung.

    `found` leads from a commit to its sources, best first, `by` from a source to its rung.
    """

    def __init__(
        self,
        sources: Iterable[Trace],
        targets: Iterable[Trace],
        settled: Mapping[str, Sequence[Trace]] | None = None,
        beside: Beside | None = None,
    ) -> None:
        self.sources = {trace.sha: trace for trace in sorted(sources, key=_newest, reverse=True)}
        self.targets = {trace.sha: trace for trace in sorted(targets, key=_newest, reverse=True)}
        self.settled = settled or {}
        self.beside = beside or Beside()
        self.found: dict[str, list[str]] = {}
        self.by: dict[str, str] = {}
        self.absorbed: set[str] = set()
        self.ties: list[Tie] = []

    def climb(self) -> None:
        self.climb_certain()
        self._author_date()
        self._branch()
        self._subject(lambda trace: trace.subject)
        self._subject(lambda trace: PREFIX.sub("", trace.subject, count=1))
        self._similar()

    def climb_certain(self) -> None:
        self._equal("change-id", lambda trace: trace.change_id)
        self._equal("patch-id", lambda trace: trace.patch_id)
        self._equal("patch-id-u0", lambda trace: trace.patch_id_u0, one_commit=False)

    def absorb(self, targets: Iterable[Trace]) -> None:
        """Squash: join open sources that are contained in exactly one commit to that commit."""
        every = list(targets)
        self._join_where_alone((to.sha, one) for to in every for one in self._fold_sources(to))
        self._join_where_alone(self._contained_sources(every))

    def _join_where_alone(self, pairs: Iterable[tuple[str, str]]) -> None:
        homes: dict[str, list[str]] = defaultdict(list)
        for target, source in pairs:
            homes[source].append(target)
        for source, found in sorted(homes.items()):
            if len(found) == 1 and not self.sources[source].bystander:
                self._pair("similar", source, found[0])
                self.absorbed.add(source)

    def _fold_sources(self, target: Trace) -> list[str]:
        """The sources that make up the target's change together with those it already has. A source
        is left out if the sum is as near to the target without it."""
        lines = target.lines or {}
        matched = self._been(target)
        paths = target.paths.union(*(one.paths for one in matched))
        have = [one.lines or {} for one in matched]
        pool = {
            one.sha: one.lines
            for one in self.open_sources()
            if one.lines and self._may_join(one, target) and one.paths & paths
        }
        if not 0 < len(pool) <= FOLDED:
            return []

        def nearness(left_out: str = "") -> float:
            some = net([*have, *(own for sha, own in pool.items() if sha != left_out)])
            return overlap(count_shared(some, lines), some, lines)

        now = nearness()
        while pool:
            ranked = {sha: nearness(sha) for sha in pool}
            best = max(ranked.values())
            if best < now:
                break
            pool = {sha: own for sha, own in pool.items() if ranked[sha] < best}
            now = nearness()
        # If only removed lines differ, the base below has changed.
        news = additions(net([*have, *pool.values()]))
        if now < SUM and not (have and news and news == additions(lines)):
            return []
        return [sha for sha in pool if self._is_part(sha, pool, have, lines)]

    def _is_part(
        self, sha: str, pool: Mapping[str, Lines], have: list[Lines], target: Lines
    ) -> bool:
        """Whether the source's lines are in the target, or were undone by the others. A line that
        it adds must be there, or a line of the others that it removes must be gone: a source that
        another one has rewritten wholly looks the same as one that was dropped."""
        own = pool[sha]
        others = sum_lines([*have, *(lines for one, lines in pool.items() if one != sha)])
        news, undone = additions(own), undoing(others)
        seen = count_shared(news, target) or count_shared(
            without(own, news), undoing(additions(others))
        )
        return seen > 0 and holds(own, sum_lines([target, undone]))

    def _contained_sources(self, targets: Iterable[Trace]) -> Iterator[tuple[str, str]]:
        """Pairs of a target and an open source that it contains. Lines that the target had before
        do not count, nor do lines of another contained source that stood beside this one."""
        fresh = {trace.sha: self._news(trace) for trace in targets}
        wanted = {one.sha: one.lines for one in self.open_sources() if one.lines}
        found: dict[str, list[str]] = defaultdict(list)
        for (source, target), _ in common(wanted, fresh):
            traces = self.sources[source], self.targets.get(target) or Trace(target)
            if holds(wanted[source], fresh[target]) and self._may_join(*traces):
                found[target].append(source)
        for target, sources in found.items():
            for source in sources:
                rivals = [wanted[one] for one in sources if self.beside.have_met(one, source)]
                left = without(fresh[target], sum_lines(rivals)) if rivals else fresh[target]
                if holds(wanted[source], left):
                    yield target, source

    def open_sources(self) -> list[Trace]:
        return [trace for sha, trace in self.sources.items() if sha not in self.by]

    def open_targets(self) -> list[Trace]:
        return [trace for sha, trace in self.targets.items() if sha not in self.found]

    def may(self, by: str, source: Trace, target: Trace) -> bool:
        """Whether this rung may lead from the source to the target at all."""
        if self.beside.have_met(source.sha, target.sha):
            return False
        if source.used:
            return by in USED
        if by == "author-date" and not source.watched:
            return _near(source, target)
        return source.known or by in CERTAIN

    def _may_become(self, by: str, source: Trace, target: Trace) -> bool:
        """As `may`. Unless the rung is certain, the source must also not have stood beside a commit
        that the target is known to have been."""
        been = () if by in CERTAIN else self.settled.get(target.sha, ())
        return self.may(by, source, target) and not any(
            self.beside.have_met(source.sha, one.sha) for one in been
        )

    def _news(self, target: Trace) -> Lines:
        """The lines of a commit without those of the commits that it is known to have been."""
        lines: Lines = target.lines or {}
        for been in self._been(target):
            lines = without(lines, been.lines or {})
        return lines

    def _been(self, target: Trace) -> list[Trace]:
        """The commits that the target is known to have been."""
        found = (self.sources[sha] for sha in self.found.get(target.sha, ()))
        return [*found, *self.settled.get(target.sha, ())]

    def _may_join(self, source: Trace, target: Trace) -> bool:
        """Whether the source may be joined to the target. It may not if it stood beside a commit
        that made the target's very change."""
        same = (one for one in self.found.get(target.sha, ()) if self.by[one] in CERTAIN[1:])
        return self.may("similar", source, target) and not any(
            self.beside.have_met(source.sha, one) for one in same
        )

    def _pair(self, by: str, source: str, target: str) -> None:
        self.by[source] = by
        self.found.setdefault(target, []).append(source)

    def _equal(self, by: str, key: Key, *, one_commit: bool = True) -> None:
        for sources, targets in _groups(self.open_sources(), self.open_targets(), key):
            self._share(by, sources, targets, one_commit=one_commit)

    def _share(
        self, by: str, sources: list[Trace], targets: list[Trace], *, one_commit: bool
    ) -> None:
        """Pair equals by place, then those that are left over without a rival. With `one_commit`,
        sources that never met are old versions of one commit, and all go to the only target they
        fit: the one at its place first, then the newest."""
        fits = {one.sha: [to for to in targets if self._may_become(by, one, to)] for one in sources}
        sources = [one for one in sources if fits[one.sha]]
        if one_commit and len(targets) == 1 and not self._any_met(sources):
            for source in sorted(sources, key=lambda one: one.place != targets[0].place):
                self._pair(by, source.sha, targets[0].sha)
            return
        if len(sources) > 1 or len(targets) > 1:
            for left, right in _groups(sources, targets, lambda trace: trace.place):
                if len(left) == len(right) == 1 and right[0] in fits[left[0].sha]:
                    self._pair(by, left[0].sha, right[0].sha)
        self._share_rest(by, sources, fits)

    def _share_rest(self, by: str, sources: list[Trace], fits: Mapping[str, list[Trace]]) -> None:
        sources, targets = self._still_open(sources, [to for one in fits.values() for to in one])
        open_fits = {
            one.sha: [to.sha for to in fits[one.sha] if to.sha not in self.found] for one in sources
        }
        wanted = Counter(sha for found in open_fits.values() for sha in found)
        alone = {
            source: found[0]
            for source, found in open_fits.items()
            if len(found) == 1 and wanted[found[0]] == 1
        }
        for source, target in alone.items():
            self._pair(by, source, target)
        left = [one for one in sources if one.sha not in alone and open_fits[one.sha]]
        if left:
            self.ties.append(Tie(by, _shas(left), tuple(dict.fromkeys(_shas(targets)))))

    def _any_met(self, sources: Sequence[Trace]) -> bool:
        return any(
            self.beside.have_met(one.sha, other.sha)
            for n, one in enumerate(sources)
            for other in sources[:n]
        )

    def _author_date(self) -> None:
        """Commits of a script share their second: then subject and lines decide. With a second of
        its own, a commit may have been rewritten wholly under its subject, or except for one
        line."""

        def key(trace: Trace) -> Hashable:
            return (trace.author.casefold(), trace.authored) if _has_author_date(trace) else None

        for sources, targets in self._all_groups(key):
            left, right = self._still_open(sources, targets)
            if len(sources) == len(targets) == len(left) == len(right) == 1:
                (source,), (target,) = left, right
                near = source.subject == target.subject or _touching(source, target)
                if near and self._may_become("author-date", source, target):
                    self._pair("author-date", source.sha, target.sha)
                continue
            for named, alike in _groups(left, right, lambda trace: trace.subject):
                every = [one for one in (*sources, *targets) if one.subject == named[0].subject]
                sure = [
                    one
                    for one in named
                    if any(_near(one, target) for target in alike)
                    or (len(every) == 2 and _no_other(one, alike[0], sources))
                ]
                self._share("author-date", sure, alike, one_commit=True)

    def _branch(self) -> None:
        pointed = [trace for trace in self.open_sources() if trace.branch_target]
        for target in self.open_targets():
            sources = [
                trace
                for trace in pointed
                if trace.branch_target == target.sha and akin(trace.lines, target.lines)
            ]
            if sources:
                self._share("branch", sources, [target], one_commit=False)

    def _subject(self, key: Key) -> None:
        for sources, targets in self._all_groups(key):
            left, right = self._still_open(sources, targets)
            right = [trace for trace in right if trace.sha not in self.settled]
            if len(sources) == len(targets) == len(left) == len(right) == 1:
                (source,), (target,) = left, right
                if self._may_become("subject", source, target) and akin(source.lines, target.lines):
                    self._pair("subject", source.sha, target.sha)
            elif left and right:
                self.ties.append(Tie("subject", _shas(left), _shas(right)))

    def _similar(self) -> None:
        """Pair sources and targets that are each other's best, without another candidate near."""
        sources = {
            one.sha: one.lines
            for one in self.open_sources()
            if one.lines and one.known and not one.used
        }
        targets = {
            one.sha: one.lines
            for one in self.open_targets()
            if one.lines and one.sha not in self.settled
        }
        shares = {
            (source, target): overlap(count, sources[source], targets[target])
            for (source, target), count in common(sources, targets)
            if not self.beside.have_met(source, target)
        }
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
            [trace for trace in sources if trace.sha not in self.by],
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


def _has_author_date(trace: Trace) -> bool:
    return bool(trace.author and trace.authored)


def _no_other(source: Trace, target: Trace, sources: Iterable[Trace]) -> bool:
    """Whether they share a file, and no other source is contained in the target."""
    others = (one for one in sources if one.sha != source.sha)
    return bool(source.paths & target.paths) and not any(
        akin(one.lines, target.lines) for one in others
    )


def _touching(source: Trace, target: Trace) -> bool:
    """Whether they have a changed line in common, or both change nothing."""
    if not source.lines and not target.lines:
        return True
    return count_shared(source.lines or {}, target.lines or {}) > 0


def _near(source: Trace, target: Trace) -> bool:
    """Whether one contains the other, or both change nothing."""
    return akin(source.lines, target.lines) or source.lines == target.lines


def _shas(traces: Iterable[Trace]) -> tuple[str, ...]:
    return tuple(trace.sha for trace in traces)
