"""How much of everything: the sizes of section 18, and smaller ones for a quick look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """`*_s` are seconds."""

    apps: int = 500
    reads: int = 200
    edits: int = 10_000
    mappings: int = 10_000
    clients: int = 1000
    stalled_s: float = 60
    waiting: int = 15_000
    log_bytes: int = 10 << 20
    cycles: int = 50
    watched_s: float = 120
    kills: int = 200


FULL = Sizes()
SHORT = Sizes(
    edits=1000,
    mappings=500,
    stalled_s=5,
    log_bytes=1 << 20,
    cycles=5,
    watched_s=30,
    kills=10,
)
