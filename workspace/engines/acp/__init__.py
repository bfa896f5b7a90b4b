"""The acp engine: any agent of the Agent Client Protocol, by configuration.

The protocol cannot make an agent keep to a tool list, to plan mode or to a number of turns. A turn
that needs one of them is refused, unless the sandbox enforces it. Nor can the protocol make an
agent ask before it acts, so a turn that no person attends runs only in bypassPermissions, where
nothing is asked anyway. See docs/design/engines.md#the-acp-engine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping

from config.process.light_typing import Any
from workspace.engines import policy
from workspace.engines.acp import agents, offers
from workspace.engines.base import Event, Job, Probe, TurnIO

PACKAGE = "agent-client-protocol"
NOT_CONFIGURED = "not configured (engines.acp.agents)"
NO_LIST = 'the engine "acp" cannot enforce a tool list'
UNASKED = (
    "an ACP agent may act without asking and no one attends this turn: "
    "it needs bypassPermissions, or another engine"
)


class Acp:
    """The acp engine, as the service and the turn process use it."""

    name = "acp"
    looped = True

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        from importlib import metadata

        try:
            version = metadata.version(PACKAGE)
        except metadata.PackageNotFoundError:
            return Probe(False, "not installed (make engine-acp)")
        faults = agents.faults(cfg["settings"])
        found = (name for name in agents.read(cfg["settings"])[0] if name not in faults)
        if usable := tuple(f"acp:{name}" for name in found):
            return Probe(True, version=version, models=usable)
        reason = f"not usable: {'; '.join(faults.values())}" if faults else NOT_CONFIGURED
        return Probe(False, reason, version)

    def refusal(self, model: str | None, cfg: Mapping[str, Any]) -> str | None:
        """Why no agent can run the model now; None if one can, or if none is configured."""
        return agents.choose(model, cfg["settings"])[1] if cfg["settings"].get("agents") else None

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        """The agent's name if exactly one is configured, else None."""
        found = list(agents.read(cfg["settings"])[0])
        return found[0] if len(found) == 1 else None

    def agents(self, cfg: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Each configured agent, and what it offered in its last session; starts none."""
        found, _ = agents.read(cfg["settings"])
        return [
            {"name": name, "reason": agents.missing(agent), **offers.recall(name, cfg["data"])}
            for name, agent in found.items()
        ]

    def never(self, job: Job) -> tuple[str, str] | None:
        """The setting that keeps every agent from running this job, and why; None if none does."""
        if job.tools is not None:
            return "tools", NO_LIST
        if not job.attended and job.mode != "bypassPermissions":
            return "permissionMode", UNASKED
        return None

    def preflight(self, job: Job) -> str | None:
        if refused := self.never(job):
            return refused[1]
        if job.mode == "plan" and job.sandbox.mode != "bwrap":
            return 'the engine "acp" cannot hold plan mode without a sandbox'
        if refusal := policy.network_refusal(job):
            return refusal
        return agents.choose(job.model, job.engine_cfg["settings"])[1]

    def reads(self, model: str | None, cfg: Mapping[str, Any]) -> Collection[str]:
        agent, _ = agents.choose(model, cfg["settings"])
        return agent.own_instructions if agent else ()

    def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        from workspace.engines.acp.performance import Performance

        return Performance(job, io).events()


ENGINE = Acp()
