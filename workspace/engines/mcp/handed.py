"""The turn's servers as Claude Code gets them: inside this process, so that what they are, the
values they get and the limits of their answers are the same for every engine.
"""

from __future__ import annotations

from mcp.server import Server as Instance
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
)
from mcp_types import Tool as Listed

from config.process.light_typing import TYPE_CHECKING, Any
from workspace.engines.mcp.hosting import Servers
from workspace.engines.mcp.names import Tool

if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig


def instances(servers: Servers) -> dict[str, McpSdkServerConfig]:
    """Each server with its tools, as an in-process server of the SDK."""
    return {
        name: {"type": "sdk", "name": name, "instance": _instance(name, tools, servers)}
        for name, tools in servers.by_server().items()
    }


def _instance(server: str, tools: list[Tool], servers: Servers) -> Instance[Any]:
    known = {tool.name.removeprefix(f"mcp__{server}__"): tool for tool in tools}
    listed = [
        Listed(name=name, description=tool.description, input_schema=tool.schema)
        for name, tool in known.items()
    ]

    async def on_list(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def on_call(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        name = f"mcp__{server}__{params.name}"
        output = await servers.call(name, params.arguments or {})
        content = [TextContent(type="text", text=output.text)]
        return CallToolResult(content=[*content], is_error=output.is_error)

    return Instance(server, on_list_tools=on_list, on_call_tool=on_call)
