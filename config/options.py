"""Every setting of the service, read once. The environment overrides the file, the file the
default.

A value that is not allowed stops the start with one line and exit code 2; nothing falls back to a
weaker default. `managementApi`, `mcpServers` and `notify` are kept raw: they never stop a start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from config import readers, written
from config.network import NetworkSetting
from config.readers import OptionError
from config.retry import RetrySetting

__all__ = ["OPTIONS", "Option", "OptionError", "Options", "load"]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its environment name, its dotted key in svc.config.yaml, reader and default."""

    env: str | None
    key: str | None
    read: Callable[[str, object], Any]
    default: Any
    meaning: str


def option(
    read: Callable[[str, object], Any],
    default: Any,
    meaning: str,
    *,
    env: str | None = None,
    key: str | None = None,
) -> Any:
    made = Option(env, key, read, default, meaning)
    return field(default_factory=lambda: default, metadata={"option": made})


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of this process; every attribute with `option(…)` is one row of the docs."""

    data_dir: Path
    config_file: Path
    warnings: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)
    projects_dir: Path = option(
        readers.folder, Path(), "Projects directory", env="SVC_PROJECTS_DIR", key="projectsDir"
    )
    database_url: str = option(
        readers.postgres, "", "PostgreSQL database", env="SVC_DATABASE_URL", key="databaseUrl"
    )
    redis_url: str = option(
        readers.redis, "", "Redis of several servers", env="SVC_REDIS_URL", key="redisUrl"
    )
    node: str = option(
        readers.label, "", "Name of this node to the others", env="SVC_NODE", key="node"
    )
    node_url: str = option(
        readers.url,
        "",
        "Where people of other machines open this node",
        env="SVC_NODE_URL",
        key="nodeUrl",
    )
    host: str = option(
        readers.host, "127.0.0.1", "Address of the main listener", env="SVC_HOST", key="host"
    )
    port: int = option(
        readers.whole(0, 65535), 8000, "Port of the main listener", env="SVC_PORT", key="port"
    )
    review_port: int | None = option(
        readers.port_or_off, 5622, "Review's port, or off", env="SVC_REVIEW_PORT", key="review.port"
    )
    reviewer: tuple[str, str] | None = option(
        readers.person, None, "Who reviews", env="SVC_REVIEWER", key="review.reviewer"
    )
    editor_url: str = option(
        readers.editor, "", "What opens a line", env="SVC_EDITOR_URL", key="editorUrl"
    )
    agents_resolve: bool = option(
        readers.boolean, False, "Agents resolve threads", env="SVC_AGENTS_RESOLVE",
        key="review.agentsResolve",
    )  # fmt: skip
    dashboard_port: int | None = option(
        readers.port_or_off,
        4255,
        "Port of the dashboard, or off",
        env="SVC_DASHBOARD_PORT",
        key="dashboard.port",
    )
    fronted_host: tuple[str, ...] = option(
        readers.hosts,
        (),
        "Host name the dashboard is also reached by",
        env="SVC_FRONTED_HOST",
        key="dashboard.frontedHost",
    )
    tls_port: int | None = option(
        readers.whole(0, 65535),
        None,
        "Port of a second main listener that speaks TLS itself",
        env="SVC_TLS_PORT",
        key="tls.port",
    )
    tls_cert: Path | None = option(
        readers.folder, None, "Certificate chain, PEM", env="SVC_TLS_CERT", key="tls.cert"
    )
    tls_key: Path | None = option(
        readers.folder, None, "Private key, PEM", env="SVC_TLS_KEY", key="tls.key"
    )
    tls_host: str = option(
        readers.host, "", "Address of the TLS listener", env="SVC_TLS_HOST", key="tls.host"
    )
    allow_open: bool = option(
        readers.boolean,
        False,
        "In auth mode none: lifts the peer and Host rule",
        env="SVC_DANGEROUSLY_ALLOW_OPEN",
    )
    allowed_hosts: tuple[str, ...] = option(
        readers.hosts,
        (),
        "Extra Host and Origin names",
        env="SVC_ALLOWED_HOSTS",
        key="allowedHosts",
    )
    local_users: frozenset[int] | None = option(
        readers.users,
        frozenset(),
        "Further users of this machine who are served without a login",
        env="SVC_LOCAL_USERS",
        key="localUsers",
    )
    local_ports: str = option(
        readers.one_of("guarded", "open"),
        "guarded",
        "Whether review and dashboard ask for the login of the main port",
        env="SVC_LOCAL_PORTS",
        key="auth.localPorts",
    )
    auth_mode: str = option(
        readers.one_of("none", "trusted-header", "jwt"),
        "none",
        "Browser auth mode",
        env="SVC_AUTH_MODE",
        key="auth.mode",
    )
    auth_user_header: str = option(
        readers.text,
        "X-Forwarded-User",
        "Header naming the user (trusted-header)",
        env="SVC_AUTH_USER_HEADER",
        key="auth.userHeader",
    )
    auth_email_header: str = option(
        readers.text,
        "",
        "Header with the email (trusted-header)",
        env="SVC_AUTH_EMAIL_HEADER",
        key="auth.emailHeader",
    )
    auth_groups_header: str = option(
        readers.text,
        "",
        "Header with a comma list of groups (trusted-header)",
        env="SVC_AUTH_GROUPS_HEADER",
        key="auth.groupsHeader",
    )
    auth_trusted_peers: tuple[str, ...] = option(
        readers.peers,
        ("loopback",),
        "Peers whose user header is believed",
        env="SVC_AUTH_TRUSTED_PEERS",
        key="auth.trustedPeers",
    )
    auth_jwt_header: str = option(
        readers.text,
        "Authorization",
        "Header with the token (jwt)",
        env="SVC_AUTH_JWT_HEADER",
        key="auth.jwtHeader",
    )
    auth_jwks_url: str = option(
        readers.url,
        "",
        "Where the signing keys are (jwt; required there)",
        env="SVC_AUTH_JWKS_URL",
        key="auth.jwksUrl",
    )
    auth_jwt_issuer: str = option(
        readers.text, "", "Required issuer (jwt)", env="SVC_AUTH_JWT_ISSUER", key="auth.jwtIssuer"
    )
    auth_jwt_audience: str = option(
        readers.text,
        "",
        "Required audience (jwt)",
        env="SVC_AUTH_JWT_AUDIENCE",
        key="auth.jwtAudience",
    )
    auth_username_claim: str = option(
        readers.text,
        "",
        "Claim naming the user (jwt)",
        env="SVC_AUTH_USERNAME_CLAIM",
        key="auth.usernameClaim",
    )
    auth_groups_claim: str = option(
        readers.text,
        "",
        "Claim with the groups (jwt)",
        env="SVC_AUTH_GROUPS_CLAIM",
        key="auth.groupsClaim",
    )
    self_mcp: bool = option(
        readers.boolean, True, "In-process read tools", env="SVC_SELF_MCP", key="selfMcpEnabled"
    )
    self_mcp_write: bool = option(
        readers.boolean, False, "In-process chat-writing tools",
        env="SVC_SELF_MCP_WRITE", key="selfMcpWriteEnabled",
    )  # fmt: skip
    self_mcp_projects: bool = option(
        readers.boolean, False, "In-process create_project",
        env="SVC_SELF_MCP_PROJECTS", key="selfMcpProjectsEnabled",
    )  # fmt: skip
    hooks_mcp: bool = option(
        readers.boolean,
        False,
        "In-process trigger tools",
        env="SVC_HOOKS_MCP",
        key="hooksMcpEnabled",
    )
    max_spawn_depth: int = option(
        readers.whole(0),
        1,
        "How deep turns may start chats",
        env="SVC_MAX_SPAWN_DEPTH",
        key="maxSpawnDepth",
    )
    engine: str = option(readers.engine, "", "Default engine", env="SVC_ENGINE", key="engine")
    model: str = option(readers.text, "", "Default model", env="SVC_MODEL", key="model")
    running_turns: int = option(
        readers.whole(1, 64), 4, "Turns running at once",
        env="SVC_MAX_RUNNING_TURNS", key="limits.runningTurns",
    )  # fmt: skip
    turn_seconds: int = option(
        readers.whole(60, 86400),
        1800,
        "Longest turn",
        env="SVC_TURN_SECONDS",
        key="limits.turnSeconds",
    )
    ask_seconds: int = option(
        readers.whole(1, 86400),
        600,
        "How long a permission question waits",
        env="SVC_ASK_SECONDS",
        key="limits.askSeconds",
    )
    ask_hours: int = option(
        readers.whole(1, 168), 24, "Longest it may wait", env="SVC_ASK_HOURS", key="limits.askHours"
    )
    sandbox: str = option(
        readers.one_of("auto", "bwrap", "off"),
        "auto",
        "How commands of agents are confined",
        env="SVC_SANDBOX",
        key="sandbox",
    )
    local_model_url: str = option(
        readers.url,
        "",
        "OpenAI-compatible server for local models",
        env="SVC_LOCAL_MODEL_URL",
        key="localModelUrl",
    )
    timezone: str = option(
        readers.zone, "", "Zone cron patterns are read in", env="SVC_TIMEZONE", key="timezone"
    )
    scheduler: bool = option(
        readers.boolean, True, "Off: `up` starts no qcluster", env="SVC_SCHEDULER", key="scheduler"
    )
    curation: bool = option(
        readers.boolean,
        False,
        "Built-in curator",
        env="SVC_CURATION_ENABLED",
        key="curation.enabled",
    )
    curation_min_interval_ms: int = option(
        readers.whole(0),
        300000,
        "Shortest time between two curation passes",
        key="curation.minIntervalMs",
    )
    curation_overview_max_tokens: int = option(
        readers.whole(1),
        2000,
        "Budget of OVERVIEW.md in a preamble",
        key="curation.overviewMaxTokens",
    )
    curation_changelog_max_tokens: int = option(
        readers.whole(1),
        8000,
        "Budget of CHANGELOG.md in a preamble",
        key="curation.changelogMaxTokens",
    )
    log_level: str = option(
        readers.one_of("debug", "info", "warn", "warning", "error"),
        "info",
        "Least level that is logged",
        env="SVC_LOG_LEVEL",
        key="logLevel",
    )
    run_days: int = option(
        readers.days(1), 90, "Days a finished run is kept", key="retention.runDays"
    )
    audit_days: int = option(
        readers.days(1), 30, "Days an audit row is kept", key="retention.auditDays"
    )
    checkpoint_days: int = option(
        readers.days(0), 30, "Days edits can be undone", key="retention.checkpointDays"
    )
    network: NetworkSetting = option(
        readers.network, NetworkSetting(), "What turns may reach", key="engines.network"
    )
    retry: RetrySetting = option(
        readers.retry, RetrySetting(), "How a rate limit is waited out", key="engines.retry"
    )
    reads: tuple[Path, ...] = option(
        readers.folders, (), "What turns may read of your home", key="engines.reads"
    )
    engines: Mapping[str, Any] = option(readers.ENGINES, {}, "Per-engine settings", key="engines")
    mcp_servers: Any = option(readers.raw, {}, "Servers of tools for agents", key="mcpServers")
    tools: Mapping[str, Any] = option(readers.TOOLS, {}, "Per-tool settings", key="tools")
    management_api: Any = option(readers.raw, {}, "The /mcp endpoint", key="managementApi")
    notify: Any = option(readers.raw, (), "Channels that notifications go to", key="notify")


OPTIONS: dict[str, Option] = {
    item.name: item.metadata["option"] for item in fields(Options) if "option" in item.metadata
}

# The variables that locate everything else, and one for a key of a block that is kept raw.
BESIDE = {"SVC_DATA_DIR", "SVC_CONFIG", "SVC_MANAGEMENT_TRUSTED_PROXIES"}


def load(environ: Mapping[str, str]) -> Options:
    """Read everything once. Raises OptionError, whose text is the one line of a refused start."""
    given = {name: value for name, value in environ.items() if value.strip()}
    data_dir = readers.folder("SVC_DATA_DIR", given.get("SVC_DATA_DIR", written.DATA_DIR))
    config_file = readers.folder(
        "SVC_CONFIG", given.get("SVC_CONFIG", str(data_dir / "svc.config.yaml"))
    )
    tree = written.read(config_file, asked="SVC_CONFIG" in given)
    values = {name: _value(option, given, tree) for name, option in OPTIONS.items()}
    if values["projects_dir"] == Path():
        values["projects_dir"] = data_dir / "projects"
    values["tls_host"] = values["tls_host"] or values["host"]
    readers.refuse_together(values | {"data_dir": data_dir})
    told = written.variables(given, tree, variables()) + written.warnings(
        tree, frozenset(known_keys())
    )
    return Options(data_dir, config_file, tuple(told), given, **values)


def variables() -> set[str]:
    """Every environment variable that is a setting."""
    return BESIDE | {option.env for option in OPTIONS.values() if option.env}


def known_keys() -> Iterator[str]:
    """Every dotted key that the file may have, derived from the readers."""
    for option in OPTIONS.values():
        if option.key and isinstance(option.read, readers.Section):
            yield from (f"{option.key}.{name}" for name in option.read.names())
        elif option.key:
            yield option.key


def _value(option: Option, environ: Mapping[str, str], tree: Mapping[str, Any]) -> Any:
    if option.env and option.env in environ:
        return option.read(option.env, environ[option.env])
    node: Any = tree
    for part in (option.key or "").split("."):
        node = node.get(part) if isinstance(node, dict) else None
    if node is None or option.key is None:
        return option.default
    return option.read(option.key, node)
