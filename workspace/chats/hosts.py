"""Which hosts turns reached, or were refused: what their `turn_end` records tell."""

from __future__ import annotations

from typing import Any, TypedDict

from workspace.chats.lines import Record

MOST = 200  # of one turn, and of one chat
NAME_MAX = 253


class Host(TypedDict):
    host: str
    port: int
    refused: bool


def of(record: Record) -> list[Host]:
    """Those of one turn, in order of first use; what is no such entry is left out."""
    told = record.get("hosts")
    told = told[:MOST] if isinstance(told, list) else []
    return joined([], [_read(one) for one in told if _fits(one)])


def joined(before: list[Host], more: list[Host]) -> list[Host]:
    """Each once, the first MOST of them."""
    found = [*before]
    found += [one for place, one in enumerate(more) if one not in before + more[:place]]
    return found[:MOST]


def _fits(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("host"), str)
        and 0 < len(one["host"]) <= NAME_MAX
        and isinstance(one.get("port"), int)
        and 0 <= one["port"] <= 65535
    )


def _read(one: Any) -> Host:
    return {"host": one["host"], "port": int(one["port"]), "refused": one.get("refused") is True}
