"""Keys of model providers, from the service's environment; no setting and no file holds a key."""

from __future__ import annotations

import os
from collections.abc import Mapping

from config.process.light_typing import Any
from workspace.engines.acp import agents

ANTHROPIC, OPENAI, CLAUDE_LOGIN = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"
_CLOUD = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_PROFILE",
    "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)  # fmt: skip
BEDROCK, VERTEX = "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"
_OF = {
    "claude": (ANTHROPIC, CLAUDE_LOGIN, BEDROCK, VERTEX, *_CLOUD),
    "builtin": (ANTHROPIC, OPENAI),
}
_PLAIN = (BEDROCK, VERTEX, "AWS_REGION", "AWS_PROFILE", "CLOUD_ML_REGION")


def of(engine: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The keys that an engine may have; for claude also the settings of its cloud provider, for acp
    what the settings of its agents name."""
    names = _OF.get(engine, ())
    if engine == "acp":
        names = tuple(name for agent in agents.read(settings)[0].values() for name in agent.env)
    return {name: os.environ[name] for name in names if os.environ.get(name, "").strip()}


def secrets(given: dict[str, str]) -> tuple[str, ...]:
    """The values that no log, notice or error may show."""
    return tuple(value for name, value in given.items() if name not in _PLAIN)
