"""One app as the registry knows it: its file, its listener, and what health gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dashboard.files.convert import Ranges
from dashboard.files.entries import Entry
from dashboard.files.schema import AppFile
from dashboard.files.schema.config import HealthDefaults
from dashboard.health.record import Policy, Port, Reason
from dashboard.health.target import Target
from dashboard.listeners.observed import Sighting
from dashboard.registry.look import same
from dashboard.registry.matching import Recognised
from dashboard.services.definition import Service

Source = Literal["declared", "discovered"]
Silence = Literal[Reason.PAUSED, Reason.INVALID_FILE]
Process = tuple[int, int]  # pid, and its start as in config.process.table


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything an app depends on. `scanned`: the ports that are scanned, () if none.

    `living`: its service runs; `process` is that of the service.
    """

    entry: Entry | None
    found: Recognised
    health: HealthDefaults
    scanned: Ranges
    living: bool = False
    process: Process | None = None

    def same(self, other: Facts) -> bool:
        """Whether both lead to the same app."""
        return (
            self.entry is other.entry
            and same(self.found.own, other.found.own)
            and same(self.found.stranger, other.found.stranger)
            and len(self.found.beside) == len(other.found.beside)
            and all(map(same, self.found.beside, other.found.beside))
            and self.living == other.living
            and self.process == other.process
            and self.scanned == other.scanned
            and self.health == other.health
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """`entry` is None for a discovered app. `file` is the last good value, None if there never was
    one; for a discovered app it is what a claim would write.

    `sighting`: the listener it is recognised by; `stranger`: the one that has its port instead;
    `beside`: what else its service listens on.
    `port`: where it listens as far as is known; `moved_from`: the port of its file, if that
    differs. `target` and `policy` are for health, also while `silenced` says that it is not to be
    probed; `trouble`: why it cannot be probed.
    """

    slug: str
    source: Source
    entry: Entry | None = None
    file: AppFile | None = None
    sighting: Sighting | None = None
    stranger: Sighting | None = None
    beside: tuple[Sighting, ...] = ()
    port: int | None = None
    moved_from: int | None = None
    url: str | None = None
    local_url: str | None = None
    target: Target
    policy: Policy
    service: Service | None = None
    evidence: Port = Port.UNSEEN
    silenced: Silence | None = None
    trouble: str | None = None
    facts: Facts | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.file.name if self.file else self.slug

    @property
    def listeners(self) -> tuple[Sighting, ...]:
        """Everything it listens on, the listener it is recognised by first."""
        own = (self.sighting,) if self.sighting and self.sighting.present else ()
        return (*own, *self.beside)

    @property
    def declared(self) -> bool:
        return self.source == "declared"
