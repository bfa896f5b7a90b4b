"""The acp engine (engine.md 10)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from workspace.engines.base import End, Event, Job, Probe, TurnIO
from workspace.engines.light_typing import Any


class Acp:
    """Begun: it is listed, and never available."""

    name = "acp"
    looped = True

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        return Probe(False, "not installed (make engine-acp)")

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        return None

    def preflight(self, job: Job) -> str | None:
        return None

    async def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        yield End("error", "engine_crashed")


ENGINE = Acp()
