"""The claude engine: Claude Code by its SDK, as one process below the turn.

Claude Code is given exactly the tools of the turn and asks our gate before each call, in subagents
too. It keeps its own conversations below the engine's data directory.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping

from config.process.light_typing import Any
from workspace.engines import policy
from workspace.engines.base import Event, Job, Probe, TurnIO


class Claude:
    """The claude engine: available with the SDK, its bundled program and a way to log in."""

    name = "claude"
    looped = True

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        from workspace.engines.claude import setup

        return setup.probe(cfg)

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        return None

    def preflight(self, job: Job) -> str | None:
        from workspace.engines.claude import setup

        return policy.network_refusal(job) or setup.bad_model(job.model)

    def reads(self, model: str | None, cfg: Mapping[str, Any]) -> Collection[str]:
        """With `projectSettings` Claude Code itself loads two instruction files of the project."""
        trusted = cfg["settings"].get("projectSettings") is True
        return ("CLAUDE.md", ".claude/CLAUDE.md") if trusted else ()

    def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        from workspace.engines.claude import conversation

        return conversation.run(job, io)


ENGINE = Claude()
