"""The tools of one turn as a model may use them: offered, judged, run.

The gate judges every call, whether its tool was offered or not. What the gate allows runs here on
the main thread, where Stop interrupts it. Tasks are handled by the turn itself (turns.py).
"""

from __future__ import annotations

import asyncio
import json
import math

from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition

from workspace.engines import catalogue, policy, tools
from workspace.engines.base import Args, Job, Notice, TurnIO
from workspace.engines.builtin import offers
from workspace.engines.mcp import own_tools
from workspace.engines.mcp.hosting import Servers
from workspace.engines.tools.files import NO_TEXT

SECONDS, BASH_MS = 60.0, 120_000
UNAVAILABLE = "The service's own tools cannot be listed; this turn goes without them."
_SHOWN = 2000


class Toolbox:
    """The tools that one turn may call."""

    def __init__(self, job: Job, io: TurnIO, found: list[offers.Offer], servers: Servers) -> None:
        self.job, self.io, self.servers = job, io, servers
        self.offered = {offer.name: offer for offer in found}
        web = job.engine_cfg.get("tools", {}).get("web", {})
        self.settings = tools.Settings(job.cwd, web, job.network)

    def definitions(self, *, nested: bool) -> list[ToolDefinition]:
        """The definitions that the library shows the model; inside a task there is no Task tool."""
        return [
            ToolDefinition(
                name=offer.name,
                parameters_json_schema=offer.schema,
                description=offer.description,
            )
            for offer in self.offered.values()
            if not (nested and offer.name == "Task")
        ]

    async def refusal(self, name: str, args: Args, call: str) -> str | None:
        """Why this call does not run, None if it may. A call with invalid arguments is refused
        without asking the gate; a call of a tool that was not offered is denied and recorded by the
        gate."""
        own = catalogue.TOOLS.get(name)
        if own and name in self.offered:
            wrong = catalogue.problem(name, args, own.params)
            if wrong:
                return wrong
        return await self.io.gate(name, args, call)

    async def run(self, name: str, args: Args) -> tools.Output:
        """Run one allowed call."""
        if name in self.servers.tools:
            return await self.servers.call(name, args)
        if catalogue.service(name):
            is_error, text = await self.io.svc(name, args, SECONDS)
            return tools.shorten(tools.Output(text, is_error, int(is_error)))
        seconds = args.get("timeout", BASH_MS) / 1000 if name == "Bash" else SECONDS
        output = tools.run(name, args, self.io, self.settings, seconds)
        if name == "Read" and output.is_error and output.text == NO_TEXT:
            asked = {"file_path": args["file_path"], tools.PICTURE: True}
            output = tools.run(name, asked, self.io, self.settings, seconds)
        return tools.shorten(output)


async def build(job: Job, io: TurnIO, servers: Servers) -> tuple[Toolbox, list[Notice]]:
    """The turn's tools, and notices about what is missing."""
    notices = [*policy.unavailable(job, "builtin"), *servers.notices]
    found = [*offers.offers(job), *offers.server_offers(servers)]
    gate = policy.Gate(job)
    for part in own_tools.parts(job.svc, gate.offers):
        listed = await asyncio.to_thread(own_tools.list_tools, job.svc or {}, part, SECONDS)
        if listed is None:
            notices.append(Notice("warn", f"svc_{part}_unavailable", UNAVAILABLE))
        found += offers.service_offers(job, part, listed or [])
    return Toolbox(job, io, found, servers), notices


def _read(given: str) -> object:
    """The value of JSON text. Raises ValueError, also for NaN and Infinity, or RecursionError."""
    return json.loads(given or "{}", parse_constant=_finite, parse_float=_finite)


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(f"{number} is not a number of JSON")
    return found


def arguments(part: ToolCallPart) -> tuple[Args, str | None]:
    """A call's arguments, and what is wrong with them. Nulls mean "not given" and are dropped."""
    given = part.args
    try:
        args = _read(given) if isinstance(given, str) else given or {}
    except (ValueError, RecursionError):
        args = None
    if not isinstance(args, dict):
        return {"arguments": str(given)[:_SHOWN]}, "the arguments are not a JSON object"
    own = catalogue.TOOLS.get(part.tool_name)
    if own is None:
        return args, None
    return {key: value for key, value in args.items() if value is not None}, None
