"""One measured figure beside its floor or peer of the same run, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Figure:
    """`ours` and `peer` carry their unit; `ratio` is ours to the peer, `ok` whether it holds.

    Figures with a `mode` are shown side by side with the same figure in other modes."""

    id: str
    what: str
    ours: str
    peer: str
    ratio: float | None
    target: str
    ok: bool
    mode: str = ""


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
    """The figures as a Markdown table; those measured in several modes as another one."""
    found = list(figures)
    plain = [figure for figure in found if not figure.mode]
    modes = list(dict.fromkeys(figure.mode for figure in found if figure.mode))
    parts = [_plain(plain)] if plain or not modes else []
    parts += [_side_by_side(found, modes)] if modes else []
    return "\n\n".join(parts)


def _plain(figures: Iterable[Figure]) -> str:
    lines = ["| id | what | ours | floor or peer | ratio | target | held |", "|" + "---|" * 7]
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        held = "yes" if figure.ok else "**no**"
        lines.append(
            f"| {figure.id} | {figure.what} | {figure.ours} | {figure.peer} | {ratio}"
            f" | {figure.target} | {held} |"
        )
    return "\n".join(lines)


def _side_by_side(figures: Iterable[Figure], modes: list[str]) -> str:
    """A row for each figure; what missed its target is bold, what has a peer tells the ratio."""
    rows: dict[tuple[str, str, str], dict[str, Figure]] = {}
    for figure in figures:
        if figure.mode:
            rows.setdefault((figure.id, figure.what, figure.target), {})[figure.mode] = figure
    lines = [f"| id | what | target | {' | '.join(modes)} |", "|" + "---|" * (3 + len(modes))]
    for key, found in rows.items():
        cells = [_cell(found[mode]) if mode in found else "" for mode in modes]
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join(lines)


def _cell(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f" : {figure.peer} = {figure.ratio:.2f}"
    return f"{figure.ours}{ratio}" if figure.ok else f"**{figure.ours}{ratio}**"
