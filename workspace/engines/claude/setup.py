"""What Claude Code is started with: options, environment, files of the turn.

Everything it writes except conversations is deleted with the turn: its configuration directory is
in the turn's own, with a link to the conversations of the project, which no other project sees.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from config.process.light_typing import TYPE_CHECKING, Any
from workspace.engines import catalogue, policy
from workspace.engines.base import Job, Probe, TurnIO
from workspace.engines.claude.memory import Start
from workspace.engines.keys import ANTHROPIC, BEDROCK, CLAUDE_LOGIN, VERTEX
from workspace.engines.mcp import own_tools
from workspace.engines.mcp.hosting import Servers
from workspace.engines.proxy import gateway

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions
    from claude_agent_sdk.types import HookCallback

LINE_BYTES = 64 * 1024 * 1024
LATE_S = 60  # beyond the time a person has to answer
DAYS_KEPT = 3650
GATEWAY_TOKEN = "added-by-the-gateway"  # noqa: S105 - stands where a gateway puts the real one
KEY_SEEN = (
    "claude: the model key is visible to commands the agent runs (engines.claude.passKey); use a "
    "key with a spending limit"
)
MAKER = ("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai")
CLOUDS: dict[str, tuple[str, ...]] = {BEDROCK: ("*.amazonaws.com",), VERTEX: ("*.googleapis.com",)}
_MODEL = re.compile(r"[A-Za-z0-9][\w.:@/\[\]-]{0,199}")
_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",  # notes outside the project, kept over chats
}
_SETTINGS = json.dumps({"cleanupPeriodDays": DAYS_KEPT, "skipWebFetchPreflight": True})


def probe(cfg: Mapping[str, Any]) -> Probe:
    """Judged by the files of the package alone; nothing is imported or started."""
    from importlib import metadata, util

    found = util.find_spec("claude_agent_sdk")
    if found is None or not found.submodule_search_locations:
        return Probe(False, "not installed (make engine-claude)")
    bundled = Path(found.submodule_search_locations[0]) / "_bundled"
    if not (bundled / "claude").exists():
        return Probe(False, f"not whole: {bundled / 'claude'} is missing")
    release = metadata.version("claude-agent-sdk")
    program = (bundled / "claude.version").read_text().strip()
    reason = _cannot_log_in(cfg)
    return Probe(reason is None, reason, f"{release}, Claude Code {program}")


def _cannot_log_in(cfg: Mapping[str, Any]) -> str | None:
    own = cfg["settings"]
    url = own.get("baseUrl")
    if url is not None and not re.match(r"https?://", str(url)):
        return "not usable: engines.claude.baseUrl has to start with http:// or https://"
    if own.get("useHostLogin") is True:
        found = login(cfg).exists()
        return (
            None if found else "without a login: no one has run claude and logged in on this host"
        )
    if own.get("passKey") is False:
        text = "without a login: passKey is off, set engines.claude.baseUrl or useHostLogin"
        return None if url else text
    if any(cfg["keys"].get(name) for name in (ANTHROPIC, CLAUDE_LOGIN, BEDROCK, VERTEX)):
        return None
    return f"without a key: set {ANTHROPIC} or {CLAUDE_LOGIN}"


def key_warning(cfg: Mapping[str, Any]) -> str | None:
    """What the operator has to know before a turn runs; None if there is nothing."""
    own = cfg["settings"]
    passed = cfg["keys"] and own.get("passKey") is not False and own.get("useHostLogin") is not True
    return KEY_SEEN if passed and probe(cfg).available else None


def login(cfg: Mapping[str, Any]) -> Path:
    """Where Claude Code keeps the login of the person who runs this service."""
    return Path(cfg["home"]) / ".claude" / ".credentials.json"


def bad_model(model: str | None) -> str | None:
    """Why the model cannot be an argument of a command; None if it can."""
    if model is None or _MODEL.fullmatch(model):
        return None
    return f'"{model[:100]}" is not the name of a model'


def tools(job: Job) -> list[str]:
    """The names Claude Code is started with: the tools of the turn that it can have."""
    names = [
        name for name in policy.expand(job) if name in catalogue.TOOLS or name in catalogue.BY_NAME
    ]
    if job.mode == "plan":
        names = [name for name in names if catalogue.kind(name) in ("R", "N")]
    return [name for name in dict.fromkeys(names) if job.may_spawn or name != "Task"]


def operations(job: Job) -> list[str]:
    """The service's own tools of the turn, by the names the model sees."""
    names = [f"{catalogue.SVC}{op}" for op in (job.svc or {}).get("ops", {})]
    names += catalogue.part_tools(job.svc)
    granted = policy.expand(job)
    return [name for name in names if policy.is_granted(name, granted)]


class TurnFiles:
    """The turn's directories and files for Claude Code; the constructor makes them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.root = Path(job.run_dir)
        self.config = self.root / "claude-config"
        data = Path(job.engine_cfg["data"])
        self.store = data / job.project
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store.mkdir(mode=0o700, exist_ok=True)
        self.config.mkdir(mode=0o700)
        (self.config / "projects").symlink_to(self.store)
        self.login = self._login()
        self.servers = self._servers()

    def _login(self) -> Path | None:
        if self.job.engine_cfg["settings"].get("useHostLogin") is not True:
            return None
        found = login(self.job.engine_cfg)
        (self.config / found.name).symlink_to(found)
        return found

    def _servers(self) -> Path | None:
        """The file that names the service's servers, because `ps` shows arguments; None if no tool
        is offered. The bearer is deleted with the turn."""
        offered = operations(self.job)
        if not offered or self.job.svc is None:
            return None
        header = {"Authorization": f"Bearer {self.job.svc['token']}"}
        servers = {
            f"svc_{part}": {
                "type": "http", "url": gateway.tools_url(self.job, part), "headers": header,
            }
            for part in own_tools.parts(self.job.svc, offered.__contains__)
        }  # fmt: skip
        path = self.root / "mcp.json"
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(json.dumps({"mcpServers": servers}))
        return path

    def command(self, io: TurnIO) -> str | None:
        """A script that starts Claude Code inside the sandbox; None if there is no sandbox."""
        from claude_agent_sdk import __file__ as package

        program = str(Path(package).parent / "_bundled" / "claude")
        writable = [str(self.config), str(self.store)]
        needed = [program]
        if self.servers:
            needed.append(str(self.servers))
        if self.login:
            writable.append(str(self.login))
        argv = io.wrap([program], writable=writable, needed=needed, endpoints=self.endpoints())
        if argv == [program]:
            return None
        path = self.root / "claude"
        path.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
        path.chmod(0o700)
        return str(path)

    def endpoints(self) -> list[tuple[str, int]]:
        """Where Claude Code reaches its model, and where it logs in."""
        cfg = self.job.engine_cfg
        if url := cfg["settings"].get("baseUrl"):
            return gateway.endpoint(url)
        cloud = [hosts for name, hosts in CLOUDS.items() if cfg["keys"].get(name)]
        return [(host, 443) for hosts in cloud or [MAKER] for host in hosts]

    def environment(self) -> dict[str, str]:
        """What is added to the turn's environment. Commands that the agent runs can see the key."""
        own, keys = self.job.engine_cfg["settings"], self.job.engine_cfg["keys"]
        env = _ENVIRONMENT | {
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_TMPDIR": str(self.root / "tmp"),
        }
        if "ToolSearch" not in tools(self.job):  # else a placeholder is offered as a tool
            env["ENABLE_TOOL_SEARCH"] = "false"
        gateway = own.get("passKey") is False
        if not gateway and self.login is None:
            env |= keys
        if own.get("baseUrl"):
            env["ANTHROPIC_BASE_URL"] = str(own["baseUrl"])
        if gateway and self.login is None:
            env["ANTHROPIC_AUTH_TOKEN"] = GATEWAY_TOKEN
        return env


def servers_of(place: TurnFiles, servers: Servers) -> dict[str, Any]:
    """The options that give Claude Code its servers: ours by a file, which holds the bearer, and
    people's own from this process."""
    ours = str(place.servers) if place.servers else None
    if not servers.tools:
        return {"mcp_servers": ours or {}}
    from workspace.engines.mcp import handed

    more = {"extra_args": {"mcp-config": ours}} if ours else {}
    return {"mcp_servers": handed.instances(servers), **more}


def options(
    job: Job, io: TurnIO, place: TurnFiles, start: Start, gate: HookCallback, *, servers: Servers
) -> ClaudeAgentOptions:
    """The options, each for an observed behaviour: docs/design/engines.md#the-claude-engine."""
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

    seconds = job.ask_most + LATE_S
    trusted = job.engine_cfg["settings"].get("projectSettings") is True
    return ClaudeAgentOptions(
        tools=tools(job),
        permission_mode="plan" if job.mode == "plan" else "default",
        hooks={"PreToolUse": [HookMatcher(hooks=[gate], timeout=seconds, on_failure="block")]},
        setting_sources=["project"] if trusted else [],
        strict_mcp_config=True,
        **servers_of(place, servers),
        session_id=start.session,
        resume=start.resume,
        fork_session=start.resume is not None and start.session is not None,
        resume_session_at=start.at,
        max_turns=max(1, job.max_turns - job.replied),
        model=job.model,
        system_prompt={"type": "preset", "preset": "claude_code", "append": job.instructions},
        settings=_SETTINGS,
        verbatim_prompts=True,  # else @path reads a file past the gate, /word runs a command
        include_partial_messages=True,
        forward_subagent_text=True,
        max_buffer_size=LINE_BYTES,
        cwd=job.cwd,
        cli_path=place.command(io),
        env=place.environment(),
    )
