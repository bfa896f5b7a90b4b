"""How much two commits have in common, by the hashes of their changed lines.

A line counts as common only if both commits change it in the same file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

EVERYWHERE = 50  # a line that more commits change distinguishes none of them
TINY = 3  # a commit with fewer changed lines is contained in another one wholly or not at all
CONTAINED = 0.5  # least contained share of a larger commit

Lines = Mapping[str, int]  # how often each line occurs
Pair = tuple[str, str]  # sha of the source, sha of the target


def overlap(common: int, left: Lines, right: Lines) -> float:
    """The share of common lines: 2·common/(a+b)."""
    return 2 * common / ((size(left) + size(right)) or 1)


def holds(wanted: Lines, there: Lines) -> bool:
    """Whether `there` has enough of a commit's lines to contain it: half of all, and half of those
    it adds, since other commits may remove the same lines."""
    total, common = size(wanted), count_shared(wanted, there)
    if total < TINY:
        return 0 < total == common
    news = additions(wanted)
    return common >= CONTAINED * total and count_shared(news, there) >= CONTAINED * size(news)


def additions(lines: Lines) -> Lines:
    return {line: count for line, count in lines.items() if ":-" not in line}


def akin(left: Lines | None, right: Lines | None) -> bool:
    """Whether one of the two commits is contained in the other."""
    if not left or not right:
        return False
    few, many = sorted((left, right), key=size)
    return holds(few, many)


def size(lines: Lines) -> int:
    return sum(lines.values())


def count_shared(left: Lines, right: Lines) -> int:
    few, many = sorted((left, right), key=len)
    return sum(min(count, many[line]) for line, count in few.items() if line in many)


def without(lines: Lines, others: Lines) -> Lines:
    """The lines without the others."""
    return {line: left for line, n in lines.items() if (left := n - others.get(line, 0)) > 0}


def net(several: Iterable[Lines]) -> Lines:
    """The change they make together; additions and removals of the same line cancel out."""
    every = sum_lines(several)
    return without(every, undoing(every))


def sum_lines(several: Iterable[Lines]) -> Lines:
    every: Counter[str] = Counter()
    for lines in several:
        every.update(lines)
    return every


def opposite(line: str) -> str:
    """The removal of an added line, the addition of a removed one."""
    path, _, text = line.partition(":")
    return f"{path}:{'-' if text.startswith('+') else '+'}{text[1:]}"


def undoing(lines: Lines) -> Lines:
    """The change that undoes this one."""
    return {opposite(line): count for line, count in lines.items()}


def common(
    sources: Mapping[str, Lines], targets: Mapping[str, Lines]
) -> Iterator[tuple[Pair, int]]:
    """The number of shared lines of each pair that shares a line which is not everywhere. Other
    pairs share only what all commits share, and comparing them all would take minutes."""
    wanted = {line for lines in sources.values() for line in lines}
    having: dict[str, list[str]] = defaultdict(list)
    for sha, lines in targets.items():
        for line in filter(wanted.__contains__, lines):
            having[line].append(sha)
    for source, mine in sources.items():
        found = (having[line] for line in mine if line in having)
        near = {sha for shas in found if len(shas) <= EVERYWHERE for sha in shas}
        for sha in sorted(near):
            yield (source, sha), count_shared(mine, targets[sha])
