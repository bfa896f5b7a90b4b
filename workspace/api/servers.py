"""The MCP servers of a project over REST: list them, and consent to those of `.mcp.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from workspace.api.answers import documented, person
from workspace.projects import store
from workspace.projects.project import Project
from workspace.servers import consent, mcpfile, offered

ServerState = Literal["used", "asks", "off"]
FileState = Literal["used", "asks", "changed", "unreadable"]


class Agreed(s.Serializer[Any]):
    sha256 = rest.Text(max_length=64, help_text="of the file, as it was shown")


class Variable(TypedDict):
    """`value` is the text in the project's own file; null if the service must not show it."""

    name: str
    value: str | None


class ToolServer(TypedDict):
    """One server as one source configures it."""

    name: str
    source: Annotated[str, "project (project.yaml), instance (svc.config.yaml), file (.mcp.json)"]
    kind: Annotated[str | None, "stdio or http; null for an entry that cannot be read"]
    shown: Annotated[str, "its command line, or its URL"]
    env: list[Variable]
    headers: Annotated[list[str], "names alone"]
    state: ServerState
    reason: Annotated[str | None, "why it is off, or cannot be started"]
    lastError: Annotated[str | None, "why the last turn went without it"]
    tools: Annotated[list[str] | None, "what it listed in the last turn that started it"]
    seenAt: str | None


class McpFile(TypedDict):
    """The project's own `.mcp.json`, as it is now."""

    sha256: str
    state: FileState
    error: str | None


class ServerList(TypedDict):
    servers: list[ToolServer]
    file: McpFile | None


@extend_schema(tags=["projects"])
class ServerViewSet(rest.ViewSet):
    """`P/servers` and `P/servers/use`."""

    @documented(ServerList, errors=(404,))
    def list(self, request: Request, slug: str) -> Response:
        """Every MCP server that any source configures for the project, and its `.mcp.json`."""
        return Response(view(store.get(slug)))

    @documented(ServerList, errors=(404, 409), body=Agreed)
    def use(self, request: Request, slug: str) -> Response:
        """Use the servers of `.mcp.json` with exactly this content. Only a person may do this."""
        body = rest.read(request, Agreed)
        project = store.get(slug)
        consent.give(
            project, body.values["sha256"], principal=person(request, consent.NOT_A_PERSON)
        )
        return Response(view(project))

    @documented(ServerList, errors=(404,))
    def stop(self, request: Request, slug: str) -> Response:
        """Stop using the servers of `.mcp.json`. Only a person may do this."""
        project = store.get(slug)
        consent.withdraw(project, principal=person(request, consent.NOT_A_PERSON))
        return Response(view(project))


def view(project: Project) -> ServerList:
    found, seen = offered.listing(project), offered.read_seen(project.slug)
    rows = [_row(row, seen.get(row.name, {})) for row in found.rows]
    return ServerList(servers=rows, file=_file(found))


def _row(row: offered.Row, seen: dict[str, Any]) -> ToolServer:
    server = row.server
    told = seen if row.state == offered.USED else {}
    return {
        "name": row.name,
        "source": row.source,
        "kind": None if server is None else "stdio" if server.command else "http",
        "shown": "" if server is None else offered.describe_server(server),
        "env": [
            Variable(name=name, value=text if server.expands else None)
            for name, text in server.env.items()
        ]
        if server
        else [],
        "headers": list(server.headers) if server else [],
        "state": row.state,  # type: ignore[typeddict-item] # one of the three words of offered.py
        "reason": row.reason or None,
        "lastError": told.get("error"),
        "tools": told.get("tools"),
        "seenAt": told.get("at"),
    }


def _file(found: offered.Listing) -> McpFile | None:
    if found.file is None:
        return None
    state: FileState = "asks"
    if found.file.error:
        state = "unreadable"
    elif found.agreed:
        state = "used"
    elif found.asked_again:
        state = "changed"
    error = f"{mcpfile.NAME} {found.file.error}" if found.file.error else None
    return {"sha256": found.file.sha256, "state": state, "error": error}
