"""How much two commits have in common, by the hashes of their changed lines (contract 5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from review.reviews.carry.traces import Trace

EVERYWHERE = 50  # a line that more commits change tells none of them apart
Pair = tuple[str, str]  # sha of the source, sha of the target


def overlaps(sources: Sequence[Trace], targets: Sequence[Trace]) -> dict[Pair, float]:
    """2·common/(a+b) of every pair that shares a line."""
    left, right = _sizes(sources), _sizes(targets)
    return {
        (source, target): 2 * count / (left[source] + right[target])
        for (source, target), count in _common(sources, targets)
    }


def contained(
    sources: Sequence[Trace], targets: Sequence[Trace], least: float
) -> dict[str, tuple[float, str]]:
    """The sources of whose lines exactly one target has at least this share: share and target."""
    sizes = _sizes(sources)
    hits: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (source, target), count in _common(sources, targets):
        if count >= least * sizes[source]:
            hits[source].append((count / sizes[source], target))
    return {source: found[0] for source, found in hits.items() if len(found) == 1}


def _sizes(traces: Iterable[Trace]) -> dict[str, int]:
    return {trace.sha: sum((trace.lines or {}).values()) for trace in traces}


def _common(sources: Sequence[Trace], targets: Sequence[Trace]) -> Iterator[tuple[Pair, int]]:
    """How many lines each pair shares that shares one which is not everywhere: other pairs are
    alike in what all commits are alike in, and comparing all of them would take minutes."""
    wanted = {line for source in sources for line in source.lines or ()}
    having: dict[str, list[str]] = defaultdict(list)
    by_sha = {target.sha: target.lines or {} for target in targets} if wanted else {}
    for sha, lines in by_sha.items():
        for line in filter(wanted.__contains__, lines):
            having[line].append(sha)
    for source in sources:
        mine = source.lines or {}
        found = (having[line] for line in mine if line in having)
        near = {sha for shas in found if len(shas) <= EVERYWHERE for sha in shas}
        for sha in sorted(near):
            few, many = sorted((mine, by_sha[sha]), key=len)
            common = sum(min(count, many[line]) for line, count in few.items() if line in many)
            yield (source.sha, sha), common
