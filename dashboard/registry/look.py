"""What a census is made of: the files as they are, and the listeners as last seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dashboard.files.store import Files
from dashboard.listeners.observed import Sighting

__all__ = ["CompletedScan", "Files", "same"]


@dataclass(frozen=True, slots=True)
class CompletedScan:
    """One completed scan. `sightings` are copies that never change, in any order.

    `slugs`: the suggested slug of each id; `hidden`: the ids of listeners of other users and of
    the system; `at` is None before the first scan; `ms` is how long the scan took.
    """

    at: datetime | None = None
    ms: float = 0.0
    sightings: tuple[Sighting, ...] = ()
    slugs: Mapping[str, str] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()


def same(one: Sighting | None, other: Sighting | None) -> bool:
    """Whether two copies of a sighting are equal, except for when it was last seen."""
    if one is other:
        return True
    if one is None or other is None:
        return False
    return (
        one.present == other.present
        and one.listener == other.listener
        and one.kind == other.kind
        and one.beside == other.beside
        and (one.answer and one.answer.protocol) == (other.answer and other.answer.protocol)
        and one.identity == other.identity
    )
