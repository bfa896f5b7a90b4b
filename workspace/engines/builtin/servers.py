"""Which model server the name of a model refers to, and which models a local server has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from config.process.light_typing import Any
from workspace.engines.keys import ANTHROPIC, OPENAI

LOCAL_URL = "http://127.0.0.1:11434/v1"
PROBE_S, REQUEST_S = 0.2, 120.0
KEYS = {"anthropic": ANTHROPIC, "openai": OPENAI}
DEFAULTS = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6.1-sol"}
MOST_S = 86400  # a day
LEAST, MOST_TOKENS = 1000, 100_000_000
_LISTED_BYTES = 1024 * 1024


def providers_with_key(cfg: Mapping[str, Any]) -> list[str]:
    """The providers there is a key for."""
    return [server for server, key in KEYS.items() if cfg.get("keys", {}).get(key)]


def local_url(cfg: Mapping[str, Any]) -> str:
    """SVC_LOCAL_MODEL_URL, else the default address of ollama; without a slash at its end."""
    return str(cfg.get("local_url") or LOCAL_URL).rstrip("/")


def default_model(cfg: Mapping[str, Any]) -> str | None:
    """engines.builtin.model, else one of the first provider with a key, else a local one."""
    chosen = cfg.get("settings", {}).get("model")
    if chosen:
        return str(chosen)
    for server in providers_with_key(cfg):
        return f"{server}:{DEFAULTS[server]}"
    names = local_models(cfg)
    return f"local:{names[0]}" if names else None


def read(word: str, cfg: Mapping[str, Any]) -> tuple[str, str]:
    """(anthropic, openai or local, the model's own name); a bare name goes to a usable server."""
    server, colon, name = word.partition(":")
    if colon and server in ("local", *KEYS):
        return server, name
    if word.startswith("claude-"):
        return "anthropic", word
    if re.match(r"gpt-|o[0-9]", word):
        return "openai", word
    return (providers_with_key(cfg) or ["local"])[0] if not cfg.get("local_url") else "local", word


def lacking(server: str, model: str, cfg: Mapping[str, Any]) -> str | None:
    """Why this model cannot be asked; None if it can."""
    if not model:
        return "no model is named, and the local model server lists none"
    if server in KEYS and server not in providers_with_key(cfg):
        return f"the model {server}:{model} needs {KEYS[server]}"
    return None


def request_seconds(cfg: Mapping[str, Any]) -> float:
    """engines.builtin.requestSeconds: how long a server may be silent; 0 if it is not a time."""
    given = cfg.get("settings", {}).get("requestSeconds")
    if given is None:
        return REQUEST_S
    try:
        seconds = 0.0 if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return seconds if 0 < seconds <= MOST_S else 0.0


def context_tokens(cfg: Mapping[str, Any], server: str, model: str) -> int | None:
    """engines.builtin.contextTokens of this model, of its server, or of all; None for none."""
    given = cfg.get("settings", {}).get("contextTokens")
    if isinstance(given, Mapping):
        given = given.get(f"{server}:{model}", given.get(server))
    return given if type(given) is int else None


def _bad_context(cfg: Mapping[str, Any]) -> str | None:
    given = cfg.get("settings", {}).get("contextTokens")
    values = list(given.values()) if isinstance(given, Mapping) else [given]
    for value in values:
        if value is not None and not (type(value) is int and LEAST <= value <= MOST_TOKENS):
            return (
                f"engines.builtin.contextTokens has to be a whole number from {LEAST} to "
                f'{MOST_TOKENS}, or such numbers by server or model, not "{str(value)[:100]}"'
            )
    return None


def unusable(cfg: Mapping[str, Any]) -> str | None:
    """What is wrong with the settings of the engine; None if they can be used."""
    if wrong := _bad_context(cfg):
        return wrong
    if request_seconds(cfg):
        return None
    given = str(cfg["settings"]["requestSeconds"])[:100]
    return (
        f"engines.builtin.requestSeconds has to be a number of seconds above 0 and up to {MOST_S}, "
        f'not "{given}"; leave it out for {REQUEST_S:.0f}'
    )


def local_models(cfg: Mapping[str, Any]) -> list[str] | None:
    """The models that the local server lists; None if no server answers in time."""
    listed = _get(f"{local_url(cfg)}/models")
    try:
        return [str(row["id"]) for row in (listed or {})["data"]]
    except (KeyError, TypeError):
        return None


def is_ollama(cfg: Mapping[str, Any]) -> bool:
    """Whether the local server is ollama, which cuts a long conversation silently."""
    answer = _get(f"{local_url(cfg).removesuffix('/v1')}/api/version")
    return isinstance(answer, dict) and "version" in answer


def _get(url: str) -> Any:
    """JSON from the local server, None after any failure. Never through a proxy."""
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=PROBE_S) as answer:
            return json.loads(answer.read(_LISTED_BYTES))
    except (OSError, ValueError):
        return None
