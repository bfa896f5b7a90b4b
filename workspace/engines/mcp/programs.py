"""What a stdio server is started with: its command, and the paths the sandbox must show."""

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
    """The program does not exist; the text is the reason."""


def argv(server: Server, cwd: str) -> list[str]:
    """The command with its program as an absolute path; a name with a slash is relative to the
    project. Raises Missing."""
    word = server.command[0]
    program = str(Path(cwd) / word) if "/" in word else shutil.which(word) or ""
    if not program or shutil.which(program) is None:
        raise Missing(f"its command is not found: {word[:200]}")
    return [program, *server.command[1:]]


def with_launcher(command: list[str], env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The command that sets these variables inside the sandbox, and the variables with which the
    sandbox itself is started for that; see launch.py."""
    if not env:
        return command, {}
    first = [sys.executable, "-I", "-S", str(Path(launch.__file__)), *command]
    return first, {launch.GIVEN: json.dumps(dict(env))}


def needed_paths(server: Server, command: list[str]) -> list[str]:
    """Paths that the sandbox binds although it hides what is around them: those of the server, and
    those of the launcher that sets its variables."""
    own = _of_server(server, command)
    if not server.env:
        return own
    return own + agents.needed_paths(agents.Agent("", (sys.executable, str(Path(launch.__file__)))))


def _of_server(server: Server, command: list[str]) -> list[str]:
    """Paths of the server. Only an entry of the instance itself may name any. For other entries,
    which agents can write, only a program found on the PATH is shown."""
    if server.ours:
        return agents.needed_paths(agents.Agent(server.name, tuple(command)))
    if "/" in server.command[0]:
        return []
    return agents.needed_paths(agents.Agent(server.name, tuple(command[:1])))
