"""How much two commits have in common, by the hashes of their changed lines (contract 5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from review.reviews.traces import Trace

Pair = tuple[str, str]  # sha of the source, sha of the target


def overlaps(sources: Sequence[Trace], targets: Sequence[Trace]) -> dict[Pair, float]:
    """2·common/(a+b) of every pair that shares a line."""
    left, right = _sizes(sources), _sizes(targets)
    return {
        (source, target): 2 * count / (left[source] + right[target])
        for (source, target), count in _common(sources, targets).items()
    }


def contained(
    sources: Sequence[Trace], targets: Sequence[Trace], least: float
) -> dict[str, tuple[float, str]]:
    """The sources of whose lines exactly one target has at least this share: share and target."""
    sizes = _sizes(sources)
    hits: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (source, target), count in _common(sources, targets).items():
        if count >= least * sizes[source]:
            hits[source].append((count / sizes[source], target))
    return {source: found[0] for source, found in hits.items() if len(found) == 1}


def _sizes(traces: Iterable[Trace]) -> dict[str, int]:
    return {trace.sha: sum((trace.lines or {}).values()) for trace in traces}


def _common(sources: Sequence[Trace], targets: Sequence[Trace]) -> dict[Pair, int]:
    """How many lines each pair shares, found through the lines and not by comparing all pairs."""
    having: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for target in targets if sources else ():
        for line, count in (target.lines or {}).items():
            having[line].append((target.sha, count))
    common: dict[Pair, int] = defaultdict(int)
    for source in sources:
        for line, count in (source.lines or {}).items():
            for target_sha, its in having.get(line, ()):
                common[source.sha, target_sha] += min(count, its)
    return common
