"""What turns used, as their `turn_end` records report it: model, tokens, cost, context.

Only what an engine reported is here; missing values are None and never guessed. Sums are kept in
the index of chats, so that no transcript is read for them.
"""

from __future__ import annotations

from typing import Annotated, Any, TypedDict, cast

from workspace.chats.lines import Record

DIGITS = 9  # of a cost in USD
MOST = 1 << 62  # of any count: larger values cannot be stored


class Usage(TypedDict):
    inputTokens: int | None
    outputTokens: int | None
    cacheReadTokens: int | None
    cacheWriteTokens: int | None
    totalTokens: int | None


class Context(TypedDict):
    """How full the model's context was after its last reply, in tokens."""

    used: int
    limit: Annotated[int | None, "null where it was not reported"]


class Spent(TypedDict):
    """Sums over chats. A value is None if no turn reported it."""

    usage: Usage | None
    cost: Annotated[float | None, "USD"]


TOKENS = tuple(Usage.__annotations__)


def model(end: Record) -> str | None:
    """The model that answered, as a message would name it; None if unknown."""
    told = end.get("model")
    return told if isinstance(told, str) and told else None


def cost(end: Record) -> float | None:
    told: Any = end.get("cost")
    return float(told) if _number(told) else None


def context(end: Record) -> Context | None:
    told = end.get("context")
    if not isinstance(told, dict) or not _number(told.get("used")):
        return None
    limit = told.get("limit")
    return {"used": int(told["used"]), "limit": int(limit) if _number(limit) and limit else None}


def add_usage(total: dict[str, Any] | None, usage: Any) -> dict[str, Any] | None:
    """The usage plus that of one more turn; None while nothing is known."""
    if not isinstance(usage, dict):
        return total
    known = {key: value for key, value in usage.items() if _number(value)}
    before = total or {}
    return before | {key: before.get(key, 0) + value for key, value in known.items()}


def add_cost(total: float | None, more: float | None) -> float | None:
    """The sum of the known costs; None if neither is known."""
    known = [one for one in (total, more) if one is not None]
    return round(sum(known), DIGITS) if known else None


def render_usage(counted: dict[str, Any] | None) -> Usage | None:
    """Usage as clients get it, without other keys that an engine reported."""
    if not counted:
        return None
    return cast("Usage", {key: counted.get(key) for key in TOKENS})


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST
