"""Which servers the turns of a project are given, and why the other ones are not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from config import servers
from config.servers import ServerSetting
from config.storage import opening
from workspace.access import variables
from workspace.engines.mcp import kept
from workspace.engines.mcp.server import Server, grants
from workspace.projects.project import Project
from workspace.servers import consent, mcpfile

USED, ASKS, OFF = "used", "asks", "off"
SOURCES = ("project", "instance", "file")  # the nearest first
AGREE = "no one has said yet that it may be used (settings of the project)"


@dataclass(frozen=True, slots=True)
class Row:
    """One server of one source. `server` is None if the entry is invalid."""

    name: str
    source: str
    state: str
    server: Server | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Every server configured for a project in any place, and its file as it is now."""

    rows: tuple[Row, ...]
    file: mcpfile.McpFile | None
    agreed: bool  # a person agreed to the file as it is now
    asked_again: bool  # a person agreed to an earlier content of the file


def listing(project: Project) -> Listing:
    """The servers of a project with their states; of those with one name the nearest is used."""
    file, agreed = mcpfile.read(project), consent.agreed_sha256(project)
    holds = file is not None and bool(agreed) and agreed == file.sha256
    rows: dict[tuple[str, str], Row] = {}
    used: dict[str, str] = {}
    for row in _rows(project, file, agreed=holds):
        if row.server is not None and row.name in used:
            reason = f"the {used[row.name]} has a server of this name, which is used"
            rows[row.source, row.name] = Row(row.name, row.source, OFF, row.server, reason)
            continue
        if row.server is not None:
            used[row.name] = row.source
        rows[row.source, row.name] = row
    return Listing(tuple(rows.values()), file, holds, bool(agreed) and not holds)


def of_turn(project: Project) -> tuple[Server, ...]:
    """The servers that a turn of the project is given, with the values of secrets."""
    found = listing(project).rows
    return tuple(row.server for row in found if row.server is not None and row.state == USED)


def secrets(given: tuple[Server, ...]) -> tuple[str, ...]:
    """Values that no log, notice or error may show: those from the service's environment."""
    found = [
        text.removeprefix("Bearer ").removeprefix("Basic ")
        for server in given
        if not server.expands
        for text in (*server.env.values(), *server.headers.values())
    ]
    return tuple(dict.fromkeys(found))


def seen_path(slug: str) -> Path:
    """The file in which turns record what became of each server."""
    return Path(settings.DATA_DIR) / "state" / "servers" / f"{slug}.json"


def read_seen(slug: str) -> dict[str, Any]:
    """Name of a server -> {error, tools, at} of the last turn that started it."""
    try:
        return kept.read(opening.contents(seen_path(slug), limit=kept.LIMIT))
    except OSError:
        return {}


def unknown(project: Project, tools: Mapping[str, str] | list[str]) -> list[str]:
    """A sentence for each entry of a tool list whose server the turns are not given."""
    names = [name for name in tools if name.startswith("mcp__") and not _ours(name)]
    if not names:
        return []
    rows = listing(project).rows
    known = [row.server for row in rows if row.server is not None and row.state == USED]
    return [
        f"run.tools: {name} grants nothing: {_why(name, rows)}"
        for name in names
        if not any(grants(name, server.prefix) for server in known)
    ]


def grantable(project: Project) -> dict[str, str]:
    """The entry of a tool list that grants all tools of a server -> a description of the server."""
    used = [server for row in listing(project).rows if row.state == USED and (server := row.server)]
    return {f"{server.prefix}*": f"MCP server: {describe_server(server)[:200]}" for server in used}


def of_instance() -> list[str]:
    """A sentence for each part of the instance's own setting that has no effect."""
    return servers.sentences(servers.read(settings.SVC.mcp_servers)[1])


def _ours(name: str) -> bool:
    return name.startswith(f"mcp__{servers.RESERVED}") or name == "mcp__*"


def _why(name: str, rows: tuple[Row, ...]) -> str:
    """Why an entry of a tool list matches no server."""
    for row in rows:
        if grants(name, f"mcp__{row.name}__"):
            return f"the MCP server {row.name} is not used, {row.reason}"
    known = ", ".join(sorted({row.name for row in rows if row.state == USED})) or "none"
    return f"there is no MCP server of that name here (known: {known})"


def _rows(project: Project, file: mcpfile.McpFile | None, *, agreed: bool) -> Iterator[Row]:
    for source, value in zip(
        SOURCES, (project.data.get("mcpServers"), settings.SVC.mcp_servers), strict=False
    ):
        good, bad = servers.read(value)
        for setting in good.values():
            server = _server(setting, ours=source == "instance")
            yield Row(setting.name, source, USED, server, server.lacks)
        for name, reason in bad.items():
            yield Row(name or "mcpServers", source, OFF, None, reason)
    if file is None:
        return
    for name, server in file.servers.items():
        state, reason = (USED, "") if agreed else (ASKS, AGREE)
        yield Row(name, "file", state, server, reason)
    for name, reason in file.bad.items():
        yield Row(name, "file", OFF, None, reason)


def _server(setting: ServerSetting, *, ours: bool) -> Server:
    values = variables.without_secrets(setting.variables)
    missing = [name for name in setting.variables if name not in values]
    return Server(
        setting.name,
        setting.command,
        env={name: values[name] for name in setting.env if name in values},
        url=setting.url,
        headers={
            name: f"{before}{values[of]}"
            for name, (before, of) in setting.headers.items()
            if of in values
        },
        start_seconds=setting.start_seconds,
        call_seconds=setting.call_seconds,
        ours=ours,
        lacks=f"it needs the variable {missing[0]}, which {_absent(missing[0])}" if missing else "",
    )


def _absent(name: str) -> str:
    if name in variables.secrets():
        return "holds the token of a management client and is passed to nobody"
    return "the service does not have in its environment"


def describe_server(server: Server) -> str:
    """The command or URL of the server, without any values of secrets."""
    return shlex.join(server.command) if server.command else server.url
