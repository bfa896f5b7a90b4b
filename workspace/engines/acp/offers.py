"""The modes and models an agent offers: read from its answer, chosen from, and remembered.

The protocol has two forms for both: `modes` and `models` of a session, and configuration options of
the session in these categories. Agents use either form, some use both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from config.process.light_typing import Any, NamedTuple

ASKING = ("default", "read-only", "build")
NAMES = {
    "default": ASKING,
    "acceptEdits": ASKING,
    "plan": ("plan", "read-only"),
    "bypassPermissions": ("bypassPermissions", "yolo", "full-access", *ASKING),
}
MOST, LONGEST = 500, 200


class Offer(NamedTuple):
    """What can be chosen. `option` is the configuration option that holds it, "" if the session has
    a request of its own for it."""

    values: tuple[str, ...] = ()
    current: str = ""
    option: str = ""


class Offers(NamedTuple):
    modes: Offer = Offer()
    models: Offer = Offer()


def read(answer: Mapping[str, Any]) -> Offers:
    """What the answer to session/new, session/load or session/resume offers."""
    modes = _parse_offer(answer.get("modes"), "availableModes", "id", "currentModeId")
    models = _parse_offer(answer.get("models"), "availableModels", "modelId", "currentModelId")
    return Offers(
        modes if modes.values else _option(answer, "mode"),
        found if (found := _option(answer, "model")).values else models,
    )


def _parse_offer(state: Any, rows: str, key: str, current: str) -> Offer:
    if not isinstance(state, dict):
        return Offer()
    return Offer(tuple(_texts(state.get(rows), key)), str(state.get(current) or ""))


def _option(answer: Mapping[str, Any], category: str) -> Offer:
    for one in answer.get("configOptions") or []:
        if isinstance(one, dict) and one.get("category") == category and "id" in one:
            values = tuple(_texts(one.get("options"), "value"))
            return Offer(values, str(one.get("currentValue") or ""), str(one["id"]))
    return Offer()


def _texts(rows: Any, key: str) -> Iterator[str]:
    """The text under this key of each row, including the rows of nested groups."""
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get(key), str):
            yield row[key]
        elif isinstance(row, dict):
            yield from _texts(row.get("options"), key)


def counterpart(mode: str, offered: tuple[str, ...]) -> str:
    """The agent's mode that comes closest to the service's and allows no more; "" for none.

    In acceptEdits the agent is put into its asking mode as well, and the gate allows edits of the
    project. The agents' own modes for it allow more (Claude Code's runs `touch` and `rm`, Codex'
    `auto` any command) and know nothing of the paths that are protected here.
    """
    return next((name for name in NAMES.get(mode, ()) if name in offered), "")


def remember(agent: str, data: str | None, offers: Offers) -> None:
    """Keep what the agent offered last, so that a choice is possible before a session is open."""
    if not data:
        return
    path = _path(agent, data)
    kept = {"modes": offers.modes.values, "models": offers.models.values}
    text = json.dumps({key: _limit(values) for key, values in kept.items()})
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(text)
    draft.replace(path)


def _limit(values: tuple[str, ...]) -> list[str]:
    return [value for value in values if len(value) <= LONGEST][:MOST]


def recall(agent: str, data: str) -> dict[str, Any]:
    """{modes, models} as the agent offered them in its last session; null before the first."""
    try:
        kept = json.loads(_path(agent, data).read_bytes())
        return {key: [str(value) for value in kept[key]] for key in ("modes", "models")}
    except (OSError, ValueError, KeyError, TypeError):
        return {"modes": None, "models": None}


def _path(agent: str, data: str) -> Path:
    return Path(data) / "offers" / f"{quote(agent, safe='')}.json"
