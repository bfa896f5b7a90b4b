"""What is known now: written by `present` on the daemon's thread, read there by who shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dashboard.daemon.keeping import Keeping
from dashboard.daemon.ownport import OwnPort
from dashboard.daemon.sight import Pids
from dashboard.daemon.world import Made
from dashboard.files.entries import FileError
from dashboard.files.schema.config import Config
from dashboard.files.store import Files
from dashboard.health.result import Result
from dashboard.health.runner import Runner
from dashboard.registry.census import Census
from dashboard.registry.look import Seen


@dataclass(slots=True, eq=False)
class Facts:
    """`files` is None until they are loaded; `faults` tells what is wrong with the daemon's tasks;
    `results`: the last of each app's probes; `members`: the processes a scan found of services."""

    boot: str
    port: OwnPort
    faults: Callable[[], list[FileError]] = list
    files: Files | None = None
    seen: Seen = field(default_factory=Seen)
    members: Pids = field(default_factory=dict)
    census: Census = field(default_factory=lambda: Census({}))
    results: dict[str, Result] = field(default_factory=dict)
    runner: Runner = field(init=False)
    keeping: Keeping = field(init=False)
    rooms: Made = field(init=False)

    @property
    def loaded(self) -> Files:
        """The files, once there are any."""
        assert self.files is not None
        return self.files

    @property
    def config(self) -> Config:
        config: Config = self.loaded.config.parsed
        return config

    def restart_needed(self) -> list[str]:
        return self.port.restart_needed(self.config)

    def file_errors(self) -> list[dict[str, Any]]:
        """What is wrong with files, tasks, the database and the own port."""
        others = (self.keeping.error, self.port.trouble)
        found = [*self.loaded.problems, *self.faults(), *(one for one in others if one)]
        return [one.wire() for one in found]
