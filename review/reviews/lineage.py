"""Who took over whom: the chains that the `carried_from` of review files make (contract 5).

A file takes another over when its `carried_from` names it and is younger than the other's own.
Ages rise along a chain, so no two files can take each other over.
"""

from __future__ import annotations

from collections.abc import Mapping

from review.reviews import times
from review.reviews.traces import Trace


def age(trace: Trace) -> str:
    """When its review file was carried over, comparable as text; "" when it never was."""
    if trace.carried is None:
        return ""
    return times.exact(trace.carried.at) or "0"


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

    def since(self, sha: str) -> str:
        return age(self.heirs[sha])

    def older(self, head: str) -> list[str]:
        """The commits `head` speaks for besides itself, newest first, direct ones before joined."""
        shas = [sha for sha, end in self.heads.items() if end == head != sha]
        return sorted(shas, key=self._rank, reverse=True)

    def _head(self, sha: str) -> str:
        while sha in self.heirs:
            sha = self.heirs[sha].sha
        return sha

    def _rank(self, sha: str) -> tuple[bool, str, str]:
        carried = self.heirs[sha].carried
        return (carried is not None and carried.sha == sha, age(self.traces[sha]), sha)


def _taken(heir: Trace) -> tuple[str, ...]:
    return (heir.carried.sha, *heir.carried.also) if heir.carried else ()
