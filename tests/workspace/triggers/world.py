"""A small world for triggers: projects written by hand, and a clock that only moves when told."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from workspace.access.principals import User
from workspace.models import Run, TriggerState
from workspace.projects import store
from workspace.projects.project import Project
from workspace.triggers import commands
from workspace.triggers.schedule import arming
from workspace.triggers.schedule.clock import Clock
from workspace.triggers.schedule.ticker import Ticker

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
USER = User()
RUNBOOK = "#!runbook\n```Bash\ntrue\n```\nDone.\n"


class Stepped(Clock):
    """Starts at noon; `step` and `set` move it."""

    def __init__(self, now: datetime = NOON) -> None:
        self.moment = now

    def now(self) -> datetime:
        return self.moment

    def set(self, moment: datetime) -> None:
        self.moment = moment

    def step(self, **by: float) -> datetime:
        self.moment += timedelta(**by)
        return self.moment


class World:
    """Projects under one directory, and schedulers over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Stepped()

    def write(self, text: str, slug: str = "alpha") -> Project:
        """Save project.yaml as an editor would, by hand."""
        (self.folder / slug).mkdir(exist_ok=True)
        draft = self.folder / slug / "draft"
        draft.write_bytes(textwrap.dedent(text).encode())
        draft.replace(self.folder / slug / "project.yaml")
        return store.get(slug)

    def text(self, slug: str = "alpha") -> str:
        return (self.folder / slug / "project.yaml").read_bytes().decode()

    def project(self, slug: str = "alpha") -> Project:
        return store.get(slug)

    def put(self, name: str, body: dict[str, Any], slug: str = "alpha") -> commands.Saved:
        return commands.put(self.project(slug), name, body)

    def arm(self, slug: str = "alpha") -> None:
        """Arm what the file says, at the stepped time."""
        arming.sync(slug, now=self.clock.now())

    def ticker(self) -> Ticker:
        """A scheduler that has just started."""
        ticker = Ticker(self.clock)
        ticker.start()
        return ticker

    def state(self, name: str, slug: str = "alpha") -> TriggerState:
        return TriggerState.objects.get(project=slug, name=name)

    def runs(self, name: str | None = None) -> list[Run]:
        """Oldest first."""
        found = Run.objects.order_by("id")
        return list(found.filter(trigger=name) if name else found)


def schedule(prompt: str = "Say hi", *, enabled: bool = True, **when: Any) -> dict[str, Any]:
    """A record such as PUT takes; `when` and run keys by their file names."""
    run_keys = {"tools", "overlap", "session", "promptFile", "model", "maxTurns", "maxSpawnDepth",
                "permissionMode"}  # fmt: skip
    run = {key: when.pop(key) for key in run_keys & when.keys()}
    if "promptFile" not in run:
        run["prompt"] = prompt
    return {"trigger": {"type": "schedule", **when}, "run": run, "enabled": enabled}


def hook(prompt: str = "Look at it", *, enabled: bool = True, **run: Any) -> dict[str, Any]:
    return {
        "trigger": {"type": "event", "on": "onArchive"},
        "run": {"prompt": prompt, **run},
        "enabled": enabled,
    }
