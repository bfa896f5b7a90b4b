"""One measured figure beside its floor or peer of the same run, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
