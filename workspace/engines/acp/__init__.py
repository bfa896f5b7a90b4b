"""The acp engine (engine.md 10.3): any agent of the Agent Client Protocol, by configuration.

The protocol cannot make an agent keep to a tool list, to plan mode or to a number of turns: what
asks for one of them is refused, unless the sandbox holds it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from workspace.engines import policy
from workspace.engines.acp import agents
from workspace.engines.base import Event, Job, Probe, TurnIO
from workspace.engines.light_typing import Any

PACKAGE = "agent-client-protocol"


class Acp:
    """One turn of one agent process, wrapped whole."""

    name = "acp"
    looped = True

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        from importlib import metadata

        try:
            version = metadata.version(PACKAGE)
        except metadata.PackageNotFoundError:
            return Probe(False, "not installed (make engine-acp)")
        found, problems = agents.read(cfg["settings"])
        problems += [text for agent in found.values() if (text := agents.missing(agent))]
        usable = tuple(f"acp:{name}" for name, agent in found.items() if not agents.missing(agent))
        if usable:
            return Probe(True, version=version, models=usable)
        reason = problems[0] if problems else "not configured (engines.acp.agents)"
        return Probe(False, reason, version)

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        """The agent, where there is only one."""
        found = list(agents.read(cfg["settings"])[0])
        return found[0] if len(found) == 1 else None

    def preflight(self, job: Job) -> str | None:
        if job.tools is not None:
            return 'the engine "acp" cannot enforce a tool list'
        if job.mode == "plan" and job.sandbox.mode != "bwrap":
            return 'the engine "acp" cannot hold plan mode without a sandbox'
        if not job.network:
            return policy.NETWORK
        return agents.choose(job.model, job.engine_cfg["settings"])[1]

    def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        from workspace.engines.acp.performance import Performance

        return Performance(job, io).events()


ENGINE = Acp()
