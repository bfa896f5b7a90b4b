"""Every setting of the service: environment beats file beats default, read once (spec 2.7).

A value outside its set stops the start with one line and exit code 2; nothing falls back to a
weaker default. `managementApi` is kept raw here: its problems never stop the start (spec 7.3).
"""

from __future__ import annotations

import difflib
import ipaddress
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


class OptionError(Exception):
    """A refused start. The text says which setting, its value and what is allowed."""

    def report(self) -> int:
        """Print the one line a user sees; returns the exit code of every refused start."""
        print(f"not starting: {self}", file=sys.stderr)
        return 2


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its environment name, its dotted key in svc.config.yaml, reader and default."""

    env: str | None
    key: str | None
    read: Callable[[str, object], Any]
    default: Any
    meaning: str


def _refuse(name: str, value: object, allowed: str) -> OptionError:
    return OptionError(f'{name} has the value "{value}"; allowed: {allowed}')


def boolean(name: str, value: object) -> bool:
    word = str(value).strip().lower()
    if word in TRUE | FALSE:
        return word in TRUE
    raise _refuse(name, value, "1, true, yes, on, 0, false, no, off")


def whole(least: int, most: int | None = None) -> Callable[[str, object], int]:
    allowed = f"a whole number from {least} to {most}" if most else f"a whole number of {least} or more"

    def read(name: str, value: object) -> int:
        text = str(value).strip()
        if isinstance(value, bool) or not text.lstrip("-").isascii() or not text.lstrip("-").isdigit():
            raise _refuse(name, value, allowed)
        number = int(text)
        if number < least or (most is not None and number > most):
            raise _refuse(name, value, allowed)
        return number

    return read


def port_or_off(name: str, value: object) -> int | None:
    if value is False or str(value).strip().lower() == "off":
        return None
    try:
        return whole(0, 65535)(name, value)
    except OptionError:
        raise _refuse(name, value, "a port from 0 to 65535, or off") from None


def one_of(*words: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        word = str(value).strip().lower()
        if word not in words:
            raise _refuse(name, value, ", ".join(words))
        return word

    return read


def text(name: str, value: object) -> str:
    if isinstance(value, (dict, list)):
        raise _refuse(name, value, "one line of text")
    return str(value).strip()


def words(name: str, value: object) -> list[str]:
    """A list, or comma/newline-delimited text; trimmed, blanks dropped."""
    if isinstance(value, Mapping):
        raise _refuse(name, value, "a list, or comma-separated text")
    parts = value if isinstance(value, list) else str(value).replace("\n", ",").split(",")
    return [str(part).strip() for part in parts if str(part).strip()]


def host(name: str, value: object) -> str:
    word = text(name, value)
    if word == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(word.strip("[]")))
    except ValueError:
        raise _refuse(name, value, "an IP address of this machine, e.g. 127.0.0.1 or ::1") from None


def folder(name: str, value: object) -> Path:
    path = Path(text(name, value)).expanduser()
    if not path.is_absolute():
        path = Path.cwd() / path
    return path


def mapping(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refuse(name, value, "a mapping")
    return value


OPTIONS: dict[str, Option] = {
    "projects_dir": Option("SVC_PROJECTS_DIR", "projectsDir", folder, None, "Projects directory"),
    "host": Option("SVC_HOST", "host", host, "127.0.0.1", "Address of the main listener"),
    "port": Option("SVC_PORT", "port", whole(0, 65535), 8000, "Port of the main listener"),
    "review_port": Option("SVC_REVIEW_PORT", "review.port", port_or_off, 5622, "Port of the review part, or off"),
    "dashboard_port": Option("SVC_DASHBOARD_PORT", "dashboard.port", port_or_off, 4255, "Port of the dashboard, or off"),
    "tls_port": Option("SVC_TLS_PORT", "tls.port", whole(0, 65535), None, "Port of a second main listener that speaks TLS itself"),
    "tls_cert": Option("SVC_TLS_CERT", "tls.cert", folder, None, "Certificate chain, PEM"),
    "tls_key": Option("SVC_TLS_KEY", "tls.key", folder, None, "Private key, PEM"),
    "tls_host": Option("SVC_TLS_HOST", "tls.host", host, None, "Address of the TLS listener"),
    "allow_open": Option("SVC_DANGEROUSLY_ALLOW_OPEN", None, boolean, False, "In auth mode none: lifts the peer and Host rule"),
    "allowed_hosts": Option("SVC_ALLOWED_HOSTS", "allowedHosts", words, [], "Extra Host and Origin names"),
    "auth_mode": Option("SVC_AUTH_MODE", "auth.mode", one_of("none", "trusted-header", "jwt"), "none", "Browser auth mode"),
    "auth_user_header": Option("SVC_AUTH_USER_HEADER", "auth.userHeader", text, "X-Forwarded-User", "Header naming the user (trusted-header)"),
    "auth_email_header": Option("SVC_AUTH_EMAIL_HEADER", "auth.emailHeader", text, "", "Header with the email (trusted-header)"),
    "auth_groups_header": Option("SVC_AUTH_GROUPS_HEADER", "auth.groupsHeader", text, "", "Header with a comma list of groups (trusted-header)"),
    "auth_trusted_peers": Option("SVC_AUTH_TRUSTED_PEERS", "auth.trustedPeers", words, ["loopback"], "Peers whose user header is believed"),
    "auth_jwt_header": Option("SVC_AUTH_JWT_HEADER", "auth.jwtHeader", text, "Authorization", "Header with the token (jwt)"),
    "auth_jwks_url": Option("SVC_AUTH_JWKS_URL", "auth.jwksUrl", text, "", "Where the signing keys are (jwt; required there)"),
    "auth_jwt_issuer": Option("SVC_AUTH_JWT_ISSUER", "auth.jwtIssuer", text, "", "Required issuer (jwt)"),
    "auth_jwt_audience": Option("SVC_AUTH_JWT_AUDIENCE", "auth.jwtAudience", text, "", "Required audience (jwt)"),
    "auth_username_claim": Option("SVC_AUTH_USERNAME_CLAIM", "auth.usernameClaim", text, "", "Claim naming the user (jwt)"),
    "auth_groups_claim": Option("SVC_AUTH_GROUPS_CLAIM", "auth.groupsClaim", text, "", "Claim with the groups (jwt)"),
    "self_mcp": Option("SVC_SELF_MCP", "selfMcpEnabled", boolean, True, "In-process read tools"),
    "self_mcp_write": Option("SVC_SELF_MCP_WRITE", "selfMcpWriteEnabled", boolean, False, "In-process chat-writing tools"),
    "self_mcp_projects": Option("SVC_SELF_MCP_PROJECTS", "selfMcpProjectsEnabled", boolean, False, "In-process create_project"),
    "hooks_mcp": Option("SVC_HOOKS_MCP", "hooksMcpEnabled", boolean, False, "In-process trigger tools"),
    "max_spawn_depth": Option("SVC_MAX_SPAWN_DEPTH", "maxSpawnDepth", whole(0), 1, "How deep turns may start chats"),
    "engine": Option("SVC_ENGINE", "engine", text, "", "Default engine"),
    "model": Option("SVC_MODEL", "model", text, "", "Default model"),
    "running_turns": Option("SVC_MAX_RUNNING_TURNS", "limits.runningTurns", whole(1, 64), 4, "Turns running at once"),
    "turn_seconds": Option("SVC_TURN_SECONDS", "limits.turnSeconds", whole(60, 86400), 1800, "Longest turn"),
    "ask_seconds": Option("SVC_ASK_SECONDS", "limits.askSeconds", whole(1, 86400), 600, "How long a permission question waits"),
    "sandbox": Option("SVC_SANDBOX", "sandbox", one_of("auto", "bwrap", "off"), "auto", "How commands of agents are confined"),
    "local_model_url": Option("SVC_LOCAL_MODEL_URL", "localModelUrl", text, "", "OpenAI-compatible server for local models"),
    "scheduler": Option("SVC_SCHEDULER", "scheduler", boolean, True, "Off: `up` starts no qcluster"),
    "curation": Option("SVC_CURATION_ENABLED", "curation.enabled", boolean, False, "Built-in curator"),
    "curation_min_interval_ms": Option(None, "curation.minIntervalMs", whole(0), 300_000, "Shortest time between two curation passes"),
    "curation_overview_max_tokens": Option(None, "curation.overviewMaxTokens", whole(1), 2000, "Budget of OVERVIEW.md in a preamble"),
    "curation_changelog_max_tokens": Option(None, "curation.changelogMaxTokens", whole(1), 8000, "Budget of CHANGELOG.md in a preamble"),
    "log_level": Option("SVC_LOG_LEVEL", "logLevel", one_of("debug", "info", "warn", "warning", "error"), "info", "Least level that is logged"),
    "run_days": Option(None, "retention.runDays", whole(1), 90, "Days a finished run is kept"),
    "audit_days": Option(None, "retention.auditDays", whole(1), 30, "Days an audit row is kept"),
    "engines": Option(None, "engines", mapping, {}, "Per-engine settings"),
    "tools": Option(None, "tools", mapping, {}, "Per-tool settings"),
    "management_api": Option(None, "managementApi", lambda _name, value: value, {}, "The /mcp endpoint (spec 2.1)"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of this process. Attributes are the names in OPTIONS plus the three below."""

    data_dir: Path
    config_file: Path
    warnings: tuple[str, ...]
    values: Mapping[str, Any] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def load(environ: Mapping[str, str]) -> Options:
    """Read everything once. Raises OptionError with the one line of a refused start."""
    given = {name: value for name, value in environ.items() if value.strip()}
    data_dir = folder("SVC_DATA_DIR", given.get("SVC_DATA_DIR", "~/.svc"))
    config_file = folder("SVC_CONFIG", given.get("SVC_CONFIG", str(data_dir / "svc.config.yaml")))
    if "SVC_CONFIG" in given and not config_file.is_file():
        raise _refuse("SVC_CONFIG", config_file, "the path of an existing file")
    tree = read_file(config_file) if config_file.is_file() else {}
    values = {name: _value(option, given, tree) for name, option in OPTIONS.items()}
    values["projects_dir"] = values["projects_dir"] or data_dir / "projects"
    values["tls_host"] = values["tls_host"] or values["host"]
    _check_together(values)
    return Options(data_dir, config_file, tuple(_unknown(tree)), values, given)


def read_file(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise OptionError(f"{path}:{place}: {error.problem}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise OptionError(f"{path}:1:1: {error}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise OptionError(f"{path}:1:1: the file must hold a mapping of settings")
    return tree


def _value(option: Option, environ: Mapping[str, str], tree: Mapping[str, Any]) -> Any:
    if option.env and option.env in environ:
        return option.read(option.env, environ[option.env])
    node: Any = tree
    for part in (option.key or "").split("."):
        node = node.get(part) if isinstance(node, dict) else None
    if node is None or option.key is None:
        return option.default
    return option.read(option.key, node)


def _check_together(values: Mapping[str, Any]) -> None:
    tls = [values[name] is not None for name in ("tls_port", "tls_cert", "tls_key")]
    if any(tls) and not all(tls):
        raise OptionError("SVC_TLS_PORT, SVC_TLS_CERT and SVC_TLS_KEY go together; give all three or none")
    if values["auth_mode"] == "jwt" and not values["auth_jwks_url"]:
        raise OptionError('SVC_AUTH_JWKS_URL has the value ""; allowed: the URL of the signing keys (auth mode jwt)')


def _unknown(tree: Mapping[str, Any]) -> list[str]:
    """Warnings for keys nobody reads, each with the nearest known key."""
    known = {option.key for option in OPTIONS.values() if option.key}
    heads = {key.split(".")[0] for key in known}
    found: list[str] = []
    for key, value in tree.items():
        if key in known:
            continue
        inner = {name.split(".", 1)[1] for name in known if name.startswith(f"{key}.")}
        if key in heads and isinstance(value, dict):
            found += [_nearest(f"{key}.{sub}", {f"{key}.{name}" for name in inner}) for sub in value if sub not in inner]
        else:
            found.append(_nearest(str(key), known | heads))
    return found


def _nearest(key: str, known: set[str]) -> str:
    close = difflib.get_close_matches(key, sorted(known), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'config: unknown key "{key}" ignored{hint}'
