"""The MCP servers of a session, as the protocol passes them: the agent itself starts and calls
them.

So the agent has their values, inside the sandbox of the turn, and decides by itself for which calls
it asks permission.
"""

from __future__ import annotations

import os

from config.process.light_typing import Any
from workspace.engines import policy
from workspace.engines.acp import agents
from workspace.engines.base import Event, Job, Notice
from workspace.engines.mcp import expanding, hosting, own_tools, programs
from workspace.engines.mcp.server import Server
from workspace.engines.proxy import gateway


def service(can: Any, job: Job) -> list[Any]:
    """The service's own tools, one server for each part; [] if the agent takes no HTTP server."""
    from acp import schema

    if not job.svc or not _takes_http(can):
        return []
    bearer = schema.HttpHeader(name="Authorization", value=f"Bearer {job.svc['token']}")
    return [
        schema.HttpMcpServer(
            type="http", name=f"svc_{part}", url=gateway.tools_url(job, part), headers=[bearer]
        )
        for part in own_tools.parts(job.svc, policy.Gate(job).offers)
    ]


def project_servers(agent: agents.Agent, can: Any, job: Job) -> tuple[list[Any], list[Event]]:
    """The servers that people gave to the project, and notices about those that were left out."""
    found: list[Any] = []
    told: list[Event] = []
    for server in hosting.startable(job):
        try:
            found.append(_entry(agent, can, server, job))
        except (expanding.Lacking, programs.Missing) as error:
            text = f"The MCP server {server.name} was left out: {error}."
            told.append(Notice("warn", "mcp_server_unavailable", text))
    return found, told


def needed_paths(job: Job) -> list[str]:
    """What the agent's sandbox must leave readable so that the agent can start the servers."""
    paths: list[str] = []
    for server in hosting.startable(job):
        if server.command and not server.lacks:
            try:
                own = expanding.expand(server, os.environ)
                paths += programs.needed_paths(own, programs.argv(own, os.path.realpath(job.cwd)))
            except (expanding.Lacking, programs.Missing):
                continue
    return paths


def _entry(agent: agents.Agent, can: Any, server: Server, job: Job) -> Any:
    """The server in the protocol's form. Raises Lacking or Missing if it is left out."""
    from acp import schema

    if server.lacks:
        raise expanding.Lacking(server.lacks)
    own = expanding.expand(server, os.environ)
    if own.url:
        if not _takes_http(can):
            raise expanding.Lacking(f"the agent {agent.name} takes no server at a URL")
        headers = [schema.HttpHeader(name=name, value=text) for name, text in own.headers.items()]
        return schema.HttpMcpServer(type="http", name=own.name, url=own.url, headers=headers)
    program, *args = programs.argv(own, os.path.realpath(job.cwd))
    env = [schema.EnvVariable(name=name, value=text) for name, text in own.env.items()]
    return schema.McpServerStdio(name=own.name, command=program, args=args, env=env)


def _takes_http(can: Any) -> bool:
    return bool(can.mcp_capabilities and can.mcp_capabilities.http)
