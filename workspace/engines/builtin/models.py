"""The library's model objects, and what their failures mean.

A key is given only to the object that sends it, so no command can see it. Imported in the turn
process alone; imports only the package of the provider that is used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
from pydantic_ai import exceptions
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from config.process.light_typing import Any
from workspace.engines import looped
from workspace.engines.base import End
from workspace.engines.builtin import servers
from workspace.engines.builtin.arrival import STREAM, Arrival

RETRIES = 2
SHORT_S = 2  # seconds that a library may wait by itself
URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
SHORTER = "Begin a new chat, fork an earlier turn, or choose a model with a longer context."
NO_STREAM = (
    "What answers at the address of the model's server sent {}, not the stream of an answer: is "
    "the address right, with its path?"
)
_CHARACTERS = 500


@asynccontextmanager
async def opened(
    server: str, name: str, cfg: Mapping[str, Any], arrival: Arrival
) -> AsyncIterator[Model]:
    """A model ready for requests; its connections are closed afterwards.

    The client takes nothing from the environment: a proxy that a project passes on (turnEnv) is for
    its commands, not for the conversation and its key.
    """
    hooks = {"response": [_give_back, arrival.watch]}
    plain = {"Accept-Encoding": "identity"}  # what comes in pieces is not worth compressing
    async with httpx2.AsyncClient(trust_env=False, event_hooks=hooks, headers=plain) as client:
        with looped.loading():
            model = _model(server, name, cfg, client)
        yield model


async def _give_back(response: httpx2.Response) -> None:
    """Leave long waits to the queue: a library would sleep in the turn's process."""
    asked = response.headers.get("retry-after", "")
    soon = not asked or (asked.isdecimal() and int(asked) <= SHORT_S)
    if response.status_code in (429, 529) and not soon:
        response.headers["x-should-retry"] = "false"


def _model(server: str, name: str, cfg: Mapping[str, Any], client: httpx2.AsyncClient) -> Model:
    own = cfg.get("settings", {}).get(server) or {}
    url, key = own.get("baseUrl") or URLS.get(server), cfg["keys"].get(servers.KEYS.get(server))
    if server == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AnthropicProvider(api_key=key, base_url=url, http_client=client)
        return AnthropicModel(name, provider=anthropic)
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if server == "openai":
        openai = OpenAIProvider(api_key=key, base_url=url, http_client=client)
        return OpenAIChatModel(name, provider=openai)
    local = OpenAICompatibleProvider("local", base_url=servers.local_url(cfg), http_client=client)
    return OpenAIChatModel(name, provider=local)


def settings(cfg: Mapping[str, Any]) -> ModelSettings:
    """How each request is made. `timeout` bounds each wait for the server, not a long answer."""
    return {
        "timeout": servers.request_seconds(cfg),
        "max_retries": RETRIES,
        "cache": True,  # if the provider can, repeated parts are paid for once
    }


def usage_and_cost(usage: RunUsage) -> tuple[dict[str, int] | None, float | None]:
    """Usage and cost as the servers reported them; None for what no server reported."""
    total = usage.input_tokens + usage.output_tokens
    tokens = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "totalTokens": total,
    }
    return tokens if total else None, None if usage.cost is None else float(usage.cost)


def failure(error: exceptions.AgentRunError, arrival: Arrival) -> End:
    """The end of a turn whose model cannot be asked any more."""
    said = _reason(error)
    match error:
        case exceptions.UnexpectedModelBehavior() if arrival.kind != STREAM:
            return End("error", "api_error", NO_STREAM.format(arrival.kind))
        case exceptions.ModelAuthenticationError():
            return End("error", "auth_failed", f"The model's provider refused the key: {said}")
        case (
            exceptions.ModelRateLimitError()
            | exceptions.ModelQuotaExceededError()
            | exceptions.ModelOverloadedError()
        ):
            text = f"The model's provider takes no more requests now: {said}"
            return End("error", "rate_limited", text, after=_after(error))
        case exceptions.ModelContextWindowExceededError():
            text = f"This chat is longer than the model can take: {said}. {SHORTER}"
            return End("error", "api_error", text)
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout():
            return End("error", "api_error", "The model's server did not answer in time.")
        case exceptions.ModelConnectionError():
            return End("error", "api_error", f"The model's server cannot be reached: {said}")
    return End("error", "api_error", f"The model cannot answer: {said}")


def _after(error: exceptions.AgentRunError) -> float | None:
    """Seconds the provider asks to wait, None if it does not say; inf if a quota is used up."""
    if isinstance(error, exceptions.ModelQuotaExceededError):
        return float("inf")
    after: float | None = getattr(error, "retry_after", None)
    return after


def _reason(error: exceptions.AgentRunError) -> str:
    """The provider's own words, without what a library puts around them."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        words = inner.get("message") if isinstance(inner, dict) else inner
    else:
        words = None
    status = getattr(error, "status_code", None)
    text = str(words or error.message).strip()[:_CHARACTERS]
    return f"{text} (HTTP {status})" if status and words else text
