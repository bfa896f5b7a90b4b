"""The MCP servers of one turn: started together, called through one place, ended with the turn.

Only a server of which the gate could allow a tool is started. A server that fails is a notice; the
turn goes on without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from config.process.light_typing import TYPE_CHECKING
from workspace.engines import policy
from workspace.engines.base import Args, Job, Notice, TurnIO
from workspace.engines.mcp import kept
from workspace.engines.mcp.server import Server
from workspace.engines.tools import Output

if TYPE_CHECKING:
    from workspace.engines.mcp.link import Link
    from workspace.engines.mcp.names import Tool


class Servers:
    """The servers' tools that the turn may call: `tools` by the name a model knows."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self.notices: list[Notice] = []
        self._links: dict[str, Link] = {}

    def add(self, link: Link, tools: Iterable[Tool]) -> None:
        for tool in tools:
            self.tools[tool.name] = tool
            self._links[tool.name] = link

    def by_server(self) -> dict[str, list[Tool]]:
        """The tools of each server that has any, by its name."""
        found: dict[str, list[Tool]] = {}
        for name, tool in self.tools.items():
            found.setdefault(self._links[name].server.name, []).append(tool)
        return found

    async def call(self, name: str, args: Args) -> Output:
        """Run one allowed call."""
        if name not in self.tools:
            return Output(f"No such tool available: {name}", True, 1)
        return await self._links[name].call(self.tools[name], args)


def startable(job: Job) -> list[Server]:
    """The servers of which the gate could allow this turn a tool."""
    gate = policy.Gate(job)
    return [server for server in job.servers if gate.starts(server)]


@asynccontextmanager
async def opened(job: Job, io: TurnIO) -> AsyncIterator[Servers]:
    """Start the servers of the turn; they end when the context is left."""
    found, wanted = Servers(), startable(job)
    found.notices = [_unusable(one.name, one.lacks, job) for one in wanted if one.lacks]
    links = _links([one for one in wanted if not one.lacks], job, io)
    try:
        await asyncio.gather(*(link.start() for link in links))
        gate = policy.Gate(job)
        for link in links:
            if link.problem:
                found.notices.append(_unusable(link.server.name, link.problem, job))
            found.notices += [Notice("warn", "tool_unavailable", text) for text in link.left]
            found.add(link, [tool for tool in link.tools if gate.offers(tool.name)])
        told = {one.name: (one.lacks, list[str]()) for one in wanted if one.lacks}
        told |= {
            one.server.name: (_plain(one.problem, job), [tool.own for tool in one.tools])
            for one in links
        }
        kept.remember(job.servers_seen, told)
        yield found
    finally:
        await asyncio.gather(*(link.close() for link in links))


def _links(servers: list[Server], job: Job, io: TurnIO) -> list[Link]:
    """The links to the servers. The library is imported only if there is a server."""
    if not servers:
        return []
    from workspace.engines.mcp.link import Link

    return [Link(server, job, io) for server in servers]


def _unusable(name: str, reason: str, job: Job) -> Notice:
    text = f"The MCP server {name} was left out: {_plain(reason, job)}."
    return Notice("warn", "mcp_server_unavailable", text)


def _plain(reason: str, job: Job) -> str:
    for secret in job.secrets:
        if len(secret) >= 8:
            reason = reason.replace(secret, "***")
    return reason
