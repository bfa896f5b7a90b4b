"""The builtin engine: any model of Anthropic, of OpenAI or of a local server, with our own tools.

The service imports only this file; the packages of the extra are imported in turn processes alone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from importlib import metadata, util

from config.process.light_typing import Any
from workspace.engines import policy
from workspace.engines.base import End, Event, Job, Probe, TurnIO
from workspace.engines.builtin import servers

PACKAGES = ("pydantic_ai", "openai", "anthropic")
MISSING = "not installed (make engine-models)"
KEYLESS = "without a key (ANTHROPIC_API_KEY, OPENAI_API_KEY) and without a local model server"


class Builtin:
    """A conversation with a model, in the turn process."""

    name = "builtin"
    looped = True

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        """With a key any model can be used and none is listed; a local server lists its models."""
        if not all(util.find_spec(package) for package in PACKAGES):
            return Probe(False, MISSING)
        version = metadata.version("pydantic-ai-slim")
        if wrong := servers.unusable(cfg):
            return Probe(False, f"not usable: {wrong}", version)
        if servers.providers_with_key(cfg):
            return Probe(True, version=version)
        served = servers.local_models(cfg)
        if served is None and not cfg.get("local_url"):
            return Probe(False, KEYLESS, version)
        return Probe(True, None, version, tuple(f"local:{name}" for name in served or ()))

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        return servers.default_model(cfg)

    def preflight(self, job: Job) -> str | None:
        return policy.network_refusal(job) or servers.unusable(job.engine_cfg)

    def reads(self, model: str | None, cfg: Mapping[str, Any]) -> Collection[str]:
        return ()

    async def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        server, model = servers.read(job.model or "", job.engine_cfg)
        lacking = servers.lacking(server, model, job.engine_cfg)
        if lacking:
            text = f"No engine can run this message: {lacking}."
            yield End("needs_engine", "needs_engine", text)
            return
        from workspace.engines import looped

        with looped.loading():
            from workspace.engines.builtin.turns import Turn

        async with aclosing(Turn(job, io, server, model).events()) as events:
            async for event in events:
                yield event


ENGINE = Builtin()
