"""A server of tools for turns of any engine, and what it left behind."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tests.workspace.chats.turns.world import BASE
from workspace.engines import sandbox
from workspace.engines.mcp.server import Server

STUB = BASE / "tests" / "stubs" / "mcp_server.py"
NOTE, READ = "mcp__mine__note", "mcp__mine__read"
BWRAP = sandbox.probe("auto", hide=(), scratch="/tmp")


def brought(project: Path) -> str:
    """The program as a file of the project, which its sandbox shows wherever the tests lie."""
    project.mkdir(parents=True, exist_ok=True)
    return str(shutil.copy(STUB, project / STUB.name))


def mine(*ways: str, name: str = "mine", **more: Any) -> Server:
    """The server as the instance names it."""
    return Server(name, (sys.executable, str(STUB), *ways), ours=True)._replace(**more)


def marks(project: Path) -> tuple[int, list[str]]:
    """How often it was started there, and which of its tools were called."""
    started, called = project / "started", project / "called"
    times = len(started.read_text().split()) if started.exists() else 0
    return times, called.read_text().split() if called.exists() else []


def said(records: list[dict[str, Any]]) -> list[str]:
    """What the chat says of servers."""
    codes = ("mcp_server_unavailable", "tool_unavailable")
    return [one["text"] for one in records if one["type"] == "notice" and one["code"] in codes]
