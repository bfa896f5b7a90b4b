"""One measured figure beside its floor or peer of the same run, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """`ours` and `peer` include their unit; `ratio` is ours divided by the peer, `ok` whether the
    target is met.

    Figures with a `mode` are shown side by side with the same figure in other modes.
    """

    id: str
    what: str
    ours: str
    peer: str
    ratio: float | None
    target: str
    ok: bool
    mode: str = ""


def ratio_figure(
    name: str, what: str, ours: float, peer: float, *, unit: str, most: float
) -> Figure:
    """A figure whose target is a maximum ratio."""
    texts = f"{ours:.3g} {unit}", f"{peer:.3g} {unit}"
    return Figure(name, what, *texts, ours / peer, f"<= {most} x", ours / peer <= most)


def medians(
    name: str, what: str, ours: Sequence[float], peer: Sequence[float], *, unit: str, most: float
) -> Figure:
    """The same for rounds measured alternately: the medians, with the range of each."""
    texts = _spread(ours, unit), _spread(peer, unit)
    ratio = median(ours) / median(peer)
    return Figure(name, what, *texts, ratio, f"<= {most} x", ratio <= most)


def bounded_median(
    name: str, what: str, ours: Sequence[float], most: float, *, unit: str
) -> Figure:
    """A median whose target is a maximum value, with the minimum and maximum measured."""
    found = median(ours)
    return Figure(name, what, _spread(ours, unit), "", None, f"<= {most:g} {unit}", found <= most)


def _spread(times: Sequence[float], unit: str) -> str:
    return f"{median(times):.3g} {unit} ({min(times):.3g} to {max(times):.3g})"


def bounded_figure(
    name: str, what: str, ours: float, most: float, *, unit: str, floor: float | None = None
) -> Figure:
    """A figure whose target is a maximum value; `floor`, of the same run, gives the ratio."""
    beside = "" if floor is None else f"{floor:.3g} {unit}"
    ratio = ours / floor if floor else None
    target = f"<= {most:g} {unit}"
    return Figure(name, what, f"{ours:.3g} {unit}", beside, ratio, target, ours <= most)


def count_figure(name: str, what: str, count: int, most: int = 0) -> Figure:
    """A figure that counts things which must not occur, or at most `most` times."""
    return Figure(name, what, str(count), "", None, f"<= {most}" if most else "0", count <= most)


def percentile(values: Iterable[float], share: float) -> float:
    """The value that `share` of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def table(figures: Iterable[Figure]) -> str:
    """A Markdown table with a column for each mode; figures that missed their target are bold."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in figures:
        peer = f" : {one.peer}" if one.peer else ""
        cell = one.ours + peer + (f" = {one.ratio:.2f}" if one.ratio is not None else "")
        shown = cell if one.ok else f"**{cell}**"
        rows.setdefault((one.id, one.what, one.target), {})[one.mode or "measured"] = shown
    modes = list(dict.fromkeys(mode for cells in rows.values() for mode in cells))
    lines = [f"| id | what | target | {' | '.join(modes)} |", "|" + "---|" * (3 + len(modes))]
    for key, cells in rows.items():
        lines.append(f"| {' | '.join([*key, *(cells.get(mode, '') for mode in modes)])} |")
    return "\n".join(lines)
