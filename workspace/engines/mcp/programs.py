"""What a stdio server is started with: its command, and what of it the sandbox must show."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from workspace.engines.acp import agents
from workspace.engines.mcp import launch
from workspace.engines.mcp.server import Server


class Missing(Exception):
    """There is no such program; the text is the reason."""


def argv(server: Server, cwd: str) -> list[str]:
    """The command with its program as an absolute path; one with a slash is the project's.
    Raises Missing."""
    word = server.command[0]
    program = str(Path(cwd) / word) if "/" in word else shutil.which(word) or ""
    if not program or shutil.which(program) is None:
        raise Missing(f"its command is not found: {word[:200]}")
    return [program, *server.command[1:]]


def launched(command: list[str], env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The command that has these variables inside the sandbox, and what the sandbox is started
    with for that; see launch.py."""
    if not env:
        return command, {}
    first = [sys.executable, "-I", "-S", str(Path(launch.__file__)), *command]
    return first, {launch.GIVEN: json.dumps(dict(env))}


def needed(server: Server, command: list[str]) -> list[str]:
    """Paths that the sandbox binds though it hides what is around them: of the server, and of what
    starts it with its variables."""
    own = _of_server(server, command)
    if not server.env:
        return own
    return own + agents.needed(agents.Agent("", (sys.executable, str(Path(launch.__file__)))))


def _of_server(server: Server, command: list[str]) -> list[str]:
    """Only the instance's own entry may name any; of another, a program that is found on the PATH
    is shown and no more, for agents can write such an entry."""
    if server.ours:
        return agents.needed(agents.Agent(server.name, tuple(command)))
    if "/" in server.command[0]:
        return []
    return agents.needed(agents.Agent(server.name, tuple(command[:1])))
