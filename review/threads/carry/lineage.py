"""Which file took over which: the chains made by the `carried_from` of review files.

A file takes another one over when its `carried_from` names it and is younger than the other's own.
Ages rise along a chain, so no two files can take each other over. A file that was joined to another
one and comes back takes only its own part back, not the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from review.files import times
from review.threads.carry.traces import CERTAIN, FIRM, PERSON, CarriedFrom, Part, Trace


def age_of(carried: CarriedFrom | None) -> str:
    """When a file was carried over, comparable as text; "" if it never was. One without a time is
    older than any other."""
    return times.exact(carried.at) if carried else ""


def age(trace: Trace) -> str:
    return age_of(trace.carried)


class Chains:
    """`heads` leads from each commit to the one whose file speaks for it now: itself, or the end of
    its chain. `since` is when a commit's own file was taken over. `parts` leads from a commit to
    those that took their own part of its file back; `left` from one that was taken over and later
    left out to the file that has its threads. A commit in `free` counts as not taken over."""

    def __init__(self, traces: Mapping[str, Trace], free: Collection[str] = ()) -> None:
        self.traces = traces
        self.heirs: dict[str, Trace] = {}
        self.parts: dict[str, list[str]] = defaultdict(list)
        self._descents: dict[str, frozenset[str]] = {}
        for heir in sorted(traces.values(), key=lambda trace: (age(trace), trace.sha)):
            for sha in _sources(heir):
                if sha not in traces or sha in free or age(traces[sha]) >= age(heir):
                    continue
                if self._takes_part(heir, sha):
                    self.parts[sha].append(heir.sha)
                else:
                    self.heirs[sha] = heir  # the newest wins
        self.left = {sha: one for sha in self.heirs if (one := self._left_out(sha))}
        for sha in self.left:
            del self.heirs[sha]
        self.heads = {sha: self._head(sha) for sha in traces}
        self._older: dict[str, list[str]] = defaultdict(list)
        for sha in sorted(self.heirs):
            self._older[self.heads[sha]].append(sha)

    def since(self, sha: str) -> str:
        return age(self.heirs[sha])

    def older(self, head: str) -> list[str]:
        """The commits that `head` speaks for besides itself: nearest first, then main before joined
        ones, then newest."""
        shas = self._older.get(head, [])
        newest = sorted(shas, key=lambda sha: age(self.traces[sha]), reverse=True)
        return sorted(newest, key=lambda sha: (self._depth(sha), self._is_joined(sha)))

    def whole(self, head: str) -> list[str]:
        """Those of `older` that `head` continues: none of them was joined on the way."""
        return [sha for sha in self.older(head) if not any(map(self._is_joined, self._links(sha)))]

    def descent(self, sha: str) -> frozenset[str]:
        """All commits whose threads the file may have, whichever commit speaks for them now."""
        if sha not in self._descents:
            found, todo = {sha}, [sha]
            while todo:
                trace = self.traces.get(todo.pop())
                news = set(_sources(trace) if trace else ()) - found
                found |= news
                todo += news
            self._descents[sha] = frozenset(found)
        return self._descents[sha]

    def weakly_taken(self, sha: str) -> bool:
        """Whether the rung that led to its heir is weaker than an equal patch."""
        heir = self.heirs.get(sha)
        carried = heir.carried if heir else None
        strong = (*CERTAIN, "lineage", PERSON)
        return carried is not None and (carried.sha != sha or carried.by not in strong)

    def firm(self, sha: str) -> bool:
        """Whether the head is certainly what the commit became, along its whole chain."""
        return all(
            not self._is_joined(one) and self._by(one) in ("", *FIRM) for one in self._links(sha)
        )

    def _left_out(self, sha: str) -> Part | None:
        """The last file that has the threads of a commit that the next file left out; else None."""
        for file, heir in pairwise(self.way(sha)):
            carried = self.traces[heir].carried
            if carried and sha in carried.without:
                return self.part(file, sha)
        return None

    def part(self, file: str, sha: str) -> Part:
        """What a file that took the commit over has of it."""
        way = self.way(sha)
        heirs = (self.traces[one].carried for one in way[1 : way.index(file) + 1])
        left_out = {one for carried in heirs if carried for one in carried.without}
        return Part(file, sha, self.since(sha), tuple(sorted(left_out - {sha})))

    def _takes_part(self, heir: Trace, sha: str) -> bool:
        """Whether the heir was joined to that file before, and took only its own part back."""
        main = heir.carried is not None and heir.carried.sha == sha
        return main and heir.sha in self.descent(sha) and heir.sha not in self._main_line(sha)

    def way(self, sha: str) -> list[str]:
        """The commit and those that took it over, in order."""
        return [sha, *(self.heirs[one].sha for one in self._links(sha))]

    def _links(self, sha: str) -> Iterator[str]:
        while sha in self.heirs:
            yield sha
            sha = self.heirs[sha].sha

    def _head(self, sha: str) -> str:
        while sha in self.heirs:
            sha = self.heirs[sha].sha
        return sha

    def _depth(self, sha: str) -> int:
        return sum(1 for _ in self._links(sha))

    def _is_joined(self, sha: str) -> bool:
        carried = self.heirs[sha].carried
        return carried is None or carried.sha != sha

    def _by(self, sha: str) -> str:
        carried = self.heirs[sha].carried
        return carried.by if carried else ""

    def _main_line(self, sha: str) -> frozenset[str]:
        found: dict[str, None] = {}
        while sha not in found:
            found[sha] = None
            trace = self.traces.get(sha)
            if trace is not None and trace.carried:
                sha = trace.carried.sha
        return frozenset(found)


def _sources(heir: Trace) -> tuple[str, ...]:
    return (heir.carried.sha, *heir.carried.also) if heir.carried else ()
