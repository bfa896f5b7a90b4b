"""Carry-over: which gone commit a commit of the range stands for (contract 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CarriedFrom:
    """What a file made by carry-over says of its source; `at` with milliseconds."""

    sha: str
    by: str
    at: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of one commit for matching it; of a pruned one only its file's fingerprint.

    `lines` counts its changed lines by hash (None = unknown). `place` is (stack n, position).
    `branch_target`: where the branch of its PR record points now. `carried`: `carried_from` of
    its own review file, `written` that file's own age in the same form ("" = no file).
    """

    sha: str
    subject: str = ""
    author: str = ""  # e-mail
    authored: str = ""
    change_id: str | None = None
    patch_id: str | None = None
    patch_id_u0: str | None = None
    lines: Mapping[str, int] | None = None
    place: tuple[int, int] | None = None
    branch_target: str | None = None
    carried: CarriedFrom | None = None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A commit of the range stands for the gone commit `sha`, found by rung `by`."""

    sha: str
    by: str
    also: tuple[str, ...] = ()  # absorbed sources (squash)


@dataclass(frozen=True, slots=True)
class Matches:
    """The ladder's result: match by sha of the range; sources that match nothing; warnings."""

    by_commit: Mapping[str, Match] = field(default_factory=dict)
    orphans: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
