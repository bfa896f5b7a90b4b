"""Who took over whom: the chains that the `carried_from` of review files make (contract 5).

A file takes another over when its `carried_from` names it and is younger than the other's own.
Ages rise along a chain, so no two files can take each other over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from review.files import times
from review.reviews.carry.traces import CarriedFrom, Trace


def age_of(carried: CarriedFrom | None) -> str:
    """When a file was carried over, comparable as text; "" when it never was. Without a time it
    is older than any other."""
    return times.exact(carried.at) if carried else ""


def age(trace: Trace) -> str:
    return age_of(trace.carried)


class Chains:
    """`heads` leads from each commit to the one whose file speaks for it now: itself, or the end
    of its chain. `since` is when a commit's own file was taken over."""

    def __init__(self, traces: Mapping[str, Trace]) -> None:
        self.traces = traces
        self.heirs: dict[str, Trace] = {}
        for heir in sorted(traces.values(), key=lambda trace: (age(trace), trace.sha)):
            for sha in _taken(heir):
                if sha in traces and age(traces[sha]) < age(heir):
                    self.heirs[sha] = heir  # the newest wins
        self.heads = {sha: self._head(sha) for sha in traces}
        self._older: dict[str, list[str]] = defaultdict(list)
        for sha in sorted(self.heirs):
            self._older[self.heads[sha]].append(sha)

    def since(self, sha: str) -> str:
        return age(self.heirs[sha])

    def older(self, head: str) -> list[str]:
        """The commits `head` speaks for besides itself: nearest first, then main before joined
        ones, then newest."""
        shas = self._older.get(head, [])
        newest = sorted(shas, key=lambda sha: age(self.traces[sha]), reverse=True)
        return sorted(newest, key=lambda sha: (self._depth(sha), self._joined(sha)))

    def _head(self, sha: str) -> str:
        while sha in self.heirs:
            sha = self.heirs[sha].sha
        return sha

    def _depth(self, sha: str) -> int:
        return 1 + self._depth(self.heirs[sha].sha) if sha in self.heirs else 0

    def _joined(self, sha: str) -> bool:
        carried = self.heirs[sha].carried
        return carried is None or carried.sha != sha


def _taken(heir: Trace) -> tuple[str, ...]:
    return (heir.carried.sha, *heir.carried.also) if heir.carried else ()
