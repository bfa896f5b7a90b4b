"""One measured figure beside its floor or peer of the same run, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Figure:
    """`ours` and `peer` carry their unit; `ratio` is ours to the peer, `ok` whether it holds."""

    id: str
    what: str
    ours: str
    peer: str
    ratio: float | None
    target: str
    ok: bool


def compared(
    id: str,  # noqa: A002
    what: str,
    ours: float,
    peer: float,
    *,
    unit: str,
    most: float,
) -> Figure:
    """A figure whose target is a largest ratio."""
    ratio = ours / peer
    return Figure(
        id, what, f"{ours:.3g} {unit}", f"{peer:.3g} {unit}", ratio, f"<= {most} x", ratio <= most
    )


def bounded(
    id: str,  # noqa: A002
    what: str,
    ours: float,
    most: float,
    *,
    unit: str,
    floor: float | None = None,
) -> Figure:
    """A figure whose target is a largest value; `floor` of the same run tells what it is worth."""
    beside = "" if floor is None else f"{floor:.3g} {unit}"
    ratio = ours / floor if floor else None
    return Figure(
        id, what, f"{ours:.3g} {unit}", beside, ratio, f"<= {most:g} {unit}", ours <= most
    )


def counted(id: str, what: str, found: int, most: int = 0) -> Figure:  # noqa: A002
    """A figure that is a number of things that must not be, or of which there may be so many."""
    return Figure(id, what, str(found), "", None, f"<= {most}" if most else "0", found <= most)


def percentile(values: Iterable[float], share: float) -> float:
    """The value that `share` of all do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def table(figures: Iterable[Figure]) -> str:
    """The figures as a Markdown table."""
    lines = ["| id | what | ours | floor or peer | ratio | target | held |", "|" + "---|" * 7]
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        held = "yes" if figure.ok else "**no**"
        lines.append(
            f"| {figure.id} | {figure.what} | {figure.ours} | {figure.peer} | {ratio}"
            f" | {figure.target} | {held} |"
        )
    return "\n".join(lines)
