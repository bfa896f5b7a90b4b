"""Which commits stood in one range at the same time, told from git's own memory.

Two such commits are two, however alike they are: what was said of one never goes to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter


class Beside:
    """`parents` of the commits that are known, `tips` from which they were ever looked at, `alone`
    those of which at least what they stood on is known.

    Commits below one tip were together in what it showed; a commit and its ancestors always were.
    """

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]] | None = None,
        tips: Iterable[str] = (),
        alone: Iterable[str] = (),
    ) -> None:
        self._parents = parents or {}
        tips = list(dict.fromkeys(tips))
        self._watched = (1 << len(tips)) - 1
        self._seen: dict[str, int] = dict.fromkeys(self._parents, 0)
        for n, tip in enumerate([*tips, *alone]):
            if tip in self._seen:
                self._seen[tip] |= 1 << n
        for sha in reversed([*TopologicalSorter(self._parents).static_order()]):
            for parent in self._parents.get(sha, ()):
                if parent in self._seen:
                    self._seen[parent] |= self._seen[sha]

    def knows(self, sha: str) -> bool:
        """Whether its neighbours are known at all."""
        return sha in self._seen

    def watched(self, sha: str) -> bool:
        """Whether it is known what stood on it."""
        return bool(self._seen.get(sha, 0) & self._watched)

    def met(self, one: str, other: str) -> bool:
        """Whether both stood in one range."""
        return one != other and bool(self._seen.get(one, 0) & self._seen.get(other, 0))

    def neighbours(self, shas: Iterable[str]) -> list[str]:
        """All that any of these has met, in the order of `parents`."""
        mask = 0
        for sha in shas:
            mask |= self._seen.get(sha, 0)
        return [sha for sha, seen in self._seen.items() if seen & mask] if mask else []
