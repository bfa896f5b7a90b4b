"""The hosts that turns reached or were refused, as their `turn_end` records report them."""

from __future__ import annotations

from typing import Any, TypedDict

from workspace.chats.lines import Record

MOST = 200  # per turn, and per chat
NAME_MAX = 253


class Host(TypedDict):
    host: str
    port: int
    refused: bool


def of(record: Record) -> list[Host]:
    """The hosts of one turn, in order of first use; invalid entries are left out."""
    told = record.get("hosts")
    told = told[:MOST] if isinstance(told, list) else []
    return merge([], [_read(one) for one in told if _fits(one)])


def merge(before: list[Host], more: list[Host]) -> list[Host]:
    """Both lists without duplicates, cut to the first MOST."""
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
