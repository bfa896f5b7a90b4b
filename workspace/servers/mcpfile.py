"""The `.mcp.json` in a project's working directory, in Claude Code's format.

It may come with a checkout and is not trusted: it is read within limits, shown, and never used
before a person agreed to it (consent.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from config import servers
from config.servers import BadServer
from config.storage import opening
from workspace.engines.mcp.server import Server
from workspace.projects.project import Project

NAME = ".mcp.json"
LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class McpFile:
    """The content of the file. `error`: why none of it is usable. `bad`: name -> reason."""

    sha256: str = ""
    servers: Mapping[str, Server] = field(default_factory=dict)
    bad: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def read(project: Project) -> McpFile | None:
    """The file as it is now; None if there is none."""
    root = project.working_dir
    try:
        data = opening.contents(root / NAME, limit=LIMIT, within=root)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return McpFile(error=f"cannot be read: {error.strerror or error}")
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        listed = orjson.loads(data)["mcpServers"]
        if not isinstance(listed, dict):
            raise TypeError
    except ValueError:
        return McpFile(sha256, error="is no JSON")
    except (KeyError, TypeError):
        return McpFile(sha256, error="has no mapping mcpServers")
    return _read(sha256, listed)


def _read(sha256: str, listed: Mapping[str, Any]) -> McpFile:
    found: dict[str, Server] = {}
    bad: dict[str, str] = {}
    for name, entry in listed.items():
        try:
            if len(found) >= servers.SERVERS_MOST:
                raise BadServer(f"there are at most {servers.SERVERS_MOST}")
            found[name] = _server(name, entry)
        except BadServer as error:
            bad[name[:100]] = str(error)
    return McpFile(sha256, found, bad)


def _server(name: str, entry: Any) -> Server:
    """One entry; unknown keys of Claude Code's format have no effect. Raises BadServer."""
    servers.check_name(name)
    if not isinstance(entry, dict):
        raise BadServer("must be a mapping with a command or a url")
    kind = entry.get("type") or ("stdio" if "command" in entry else "http")
    if kind == "stdio" and "command" in entry:
        return Server(name, servers.command(entry), env=_texts(entry, "env"), expands=True)
    if kind in ("http", "streamable-http") and isinstance(entry.get("url"), str):
        address = entry["url"]
        if "${" not in address:
            servers.url(address)
        if len(address) > servers.TEXT_MOST:
            raise BadServer("url: is too long")
        return Server(name, url=address, headers=_texts(entry, "headers"), expands=True)
    raise BadServer(f"type {str(kind)[:20]}: only stdio (command) and http (url) are offered")


def _texts(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    found = entry.get(key) or {}
    most = servers.WORDS_MOST
    if not isinstance(found, dict) or len(found) > most:
        raise BadServer(f"{key}: must be a mapping of at most {most} texts")
    for name, text in found.items():
        if not isinstance(text, str) or len(text) > servers.TEXT_MOST or "\0" in text + name:
            raise BadServer(f"{key}.{name[:40]}: must be a text")
        if key == "env" and servers.is_refused(name):
            raise BadServer(f"env: {name[:60]} is the service's own and given to no server")
    return found
