"""Which commits stood in one range at the same time, as far as git still has their history.

Two such commits are different, however alike they are: the review of one never goes to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter


class Beside:
    """`parents` of the known commits; `tips` of all ranges that were ever looked at; `alone`:
    commits of which at least the ancestors are known.

    Commits below one tip were together in its range; a commit and its ancestors always were.
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
        """Whether anything is known of the commits it stood with."""
        return sha in self._seen

    def is_watched(self, sha: str) -> bool:
        """Whether it is known which commits stood on it."""
        return bool(self._seen.get(sha, 0) & self._watched)

    def have_met(self, one: str, other: str) -> bool:
        """Whether both stood in one range."""
        return one != other and bool(self._seen.get(one, 0) & self._seen.get(other, 0))

    def neighbours(self, shas: Iterable[str]) -> list[str]:
        """All commits that stood in one range with any of these, in the order of `parents`."""
        mask = 0
        for sha in shas:
            mask |= self._seen.get(sha, 0)
        return [sha for sha, seen in self._seen.items() if seen & mask] if mask else []
