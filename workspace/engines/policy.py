"""The gate that every engine uses: allow, ask or deny one tool call.

Rules are tried in order, the first hit decides. An unknown mode, tool or operation is refused. The
rules and their reasons: docs/design/engines.md#the-gate.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from config.process.light_typing import Any, NamedTuple
from workspace.engines import catalogue
from workspace.engines.base import Job, Notice
from workspace.engines.mcp.server import Server, every, grants, owner
from workspace.engines.paths import Paths

ALLOW = ""
MODES = ("default", "acceptEdits", "bypassPermissions", "plan")
NETWORK = "network off needs a sandbox (bubblewrap), and there is none here"


class Ask(NamedTuple):
    """A person has to answer within this many seconds."""

    seconds: int


def expand(job: Job) -> list[str]:
    """The tool list of the turn; null is the explicit list it stands for, no engine's default."""
    if job.tools is not None:
        return job.tools
    return [*catalogue.TOOLS, f"{catalogue.OURS}*", *every(job.servers)]


def is_granted(tool: str, tools: list[str]) -> bool:
    """Whether a list names a tool: exactly, by its server, or by an mcp__ name ending in *."""
    for entry in tools:
        if entry == tool or (entry.count("__") == 1 and tool.startswith(f"{entry}__")):
            return True
        if entry.startswith("mcp__") and entry.endswith("*") and tool.startswith(entry[:-1]):
            return True
    return False


def network_refusal(job: Job) -> str | None:
    """Why a turn without a network cannot be run here; None if it can."""
    return None if job.network.mode != "off" or job.sandbox.mode == "bwrap" else NETWORK


def asked_for(job: Job, tools: Iterable[str] = catalogue.TOOLS) -> list[str]:
    """Those of the tools that need a person's approval in this turn's mode and with its list."""
    gate = Gate(job._replace(attended=True))
    kinds = {tool: catalogue.kind(tool) or "" for tool in tools}
    return [tool for tool, kind in kinds.items() if isinstance(gate.by_mode(tool, kind), Ask)]


def unavailable(job: Job, engine: str, *, without: Collection[str] = ()) -> list[Notice]:
    """One notice for each granted name the engine lacks. A runbook has no MCP servers."""
    servers = () if engine == "runbook" else job.servers
    lacking = [
        name
        for name in job.tools or []
        if name in without
        or not (catalogue.is_tool(name) or name.startswith(catalogue.OURS) or owner(name, servers))
    ]
    return [
        Notice("warn", "tool_unavailable", f"The {engine} engine has no tool {name}.")
        for name in lacking
    ]


class Gate:
    """The policy of one turn."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tools = expand(job)
        self.paths = Paths.of(job)
        self.allowed: Collection[str] = job.allow  # by a person, for the rest of the chat

    def decide(self, tool: str, args: Mapping[str, Any]) -> str | Ask:
        """ALLOW, the text of a denial, or Ask."""
        if not self.offers(tool):
            return f"No such tool available: {tool}"
        if tool == "Bash" and args.get("run_in_background"):
            return "run_in_background is not available; run the command in the foreground"
        path = catalogue.path(tool, args)
        if path is not None:
            real = os.path.realpath(os.path.join(self.paths.root, path))
            denied = self.paths.denial(path, real, write=catalogue.kind(tool) == "E")
            if denied:
                return denied
        decision = self.by_mode(tool, self.kind(tool) or "")
        if isinstance(decision, Ask) and self._is_allowed(tool, args):
            return ALLOW
        return decision

    def _is_allowed(self, tool: str, args: Mapping[str, Any]) -> bool:
        if not self.allowed:
            return False
        from workspace.engines import allowing  # its patterns take a fiftieth of a whole turn (S5)

        return any(allowing.covers(rule, tool, args) for rule in self.allowed)

    def kind(self, tool: str) -> str | None:
        """The class of a tool. A part states the class of its own tools. What a tool of people's
        own server does is known to that server alone, so it counts as running commands."""
        if about := catalogue.part_tools(self.job.svc).get(tool):
            return str(about["kind"])
        own = catalogue.kind(tool)
        return "X" if own is None and owner(tool, self.job.servers) else own

    def starts(self, server: Server) -> bool:
        """Whether the gate could allow any tool of this server in this turn."""
        named = next((entry for entry in self.tools if grants(entry, server.prefix)), None)
        if named is None:
            return False
        answer = self.by_mode(named, "X")
        return isinstance(answer, Ask) or answer == ALLOW

    def offers(self, tool: str) -> bool:
        """Whether the tool is granted by the list, known, and does not spawn where that is off."""
        if not is_granted(tool, self.tools) or self.kind(tool) is None:
            return False
        if not tool.startswith(catalogue.SVC):
            return self.job.may_spawn or tool != "Task"
        op = tool.removeprefix(catalogue.SVC)
        offered = self.job.svc is not None and op in self.job.svc["ops"]
        return offered and (self.job.may_spawn or op not in catalogue.SVC_SPAWNING)

    def by_mode(self, tool: str, kind: str) -> str | Ask:
        """What the permission mode says of a tool that is offered."""
        mode = self.job.mode
        if mode not in MODES:
            return f"unknown permission mode {mode}"
        if mode == "plan" and kind not in "RPN":
            return f"{tool} is not permitted in plan mode"
        if kind in "RP" or tool == "Task" or mode == "bypassPermissions":
            return ALLOW
        if (mode == "acceptEdits" and kind == "E") or is_granted(tool, self.job.tools or []):
            return ALLOW
        if self.job.attended or self.job.waits:
            return Ask(self.job.ask_seconds)
        return f"{tool} needs approval and nobody is attending this turn (permission mode {mode})"
