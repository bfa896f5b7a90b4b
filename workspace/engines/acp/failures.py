"""How a turn of an ACP agent ends, from what the agent and its process said."""

from __future__ import annotations

import json
import re

from config.process.light_typing import Any
from workspace.engines.base import End

STDERR_TEXT = 600
_AUTH, _RATE = (-32000, 401, 403), (429, 529)
_AUTH_WORDS = re.compile(r"\b40[13]\b|unauthori[sz]ed|authenticat|api key|not logged in", re.I)
_RATE_WORDS = re.compile(r"\b(429|529)\b|rate.?limit|quota|overloaded", re.I)
_ENDS = {
    "end_turn": End("ok"),
    "max_turn_requests": End("max_turns", "max_turns", "The agent made as many calls as it may."),
    "cancelled": End("stopped", "user"),
    "max_tokens": End("error", "api_error", "The answer reached the token limit of its model."),
    "refusal": End("error", "api_error", "The agent refused to go on."),
}


def end_from_answer(answer: Any, spent: float | None) -> End:
    """The end that the answer to a prompt stands for; usage and cost as they were reported."""
    return _ENDS[answer.stop_reason]._replace(usage=_usage(answer.usage), cost=spent)


def _usage(usage: Any) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cached_read_tokens,
        "cacheWriteTokens": usage.cached_write_tokens,
        "totalTokens": usage.total_tokens,
    }


def end_from_error(agent: str, error: Any) -> End:
    """The end of a turn whose request the agent answered with an error (acp.RequestError)."""
    told = str(error) if error.data is None else f"{error} {_details(error.data)}"
    text = f"The agent {agent} answered: {told[:STDERR_TEXT]}"
    if error.code in _RATE or (error.code not in _AUTH and _RATE_WORDS.search(told)):
        return End("error", "rate_limited", text, after=_after(error.data))
    if error.code in _AUTH or _AUTH_WORDS.search(told):
        hint = f"Set engines.acp.agents.{agent}.env or login, or log the agent in."
        return End("error", "auth_failed", f"{text}. {hint}")
    return End("error", "api_error", text)


def _after(data: Any) -> float | None:
    """Seconds the agent asks to wait: some agents say so, although the protocol does not."""
    for key in ("retryAfter", "retry_after", "retryAfterSeconds"):
        value = data.get(key) if isinstance(data, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return float(value)
    return None


def _details(data: Any) -> str:
    if isinstance(data, dict) and isinstance(data.get("details"), str):
        return str(data["details"])
    return data if isinstance(data, str) else json.dumps(data, default=str)


def end_from_crash(agent: str, code: int | None, said: str, error: Exception) -> End:
    """The end of a turn whose agent process ended, or sent what could not be read."""
    said = said.strip()[-STDERR_TEXT:]
    if said.rpartition("\n")[2].startswith("bwrap: ") and "execvp" not in said:
        return End("error", "sandbox_unavailable", f"The sandbox could not be set up: {said}")
    if code is None and not isinstance(error, ConnectionError):
        how = f"answered in an unreadable way ({type(error).__name__})"
    elif code is None:
        how = "closed the connection"
    else:
        how = f"ended with exit status {code}" if code >= 0 else f"was killed by signal {-code}"
    return End(
        "error", "engine_crashed", f"The agent {agent} {how}." + (f"\n{said}" if said else "")
    )
