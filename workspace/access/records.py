"""Log records from reading the configuration, kept until the log is set up."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from config.mcp.arguments import nearest

ERROR, WARNING, INFO = logging.ERROR, logging.WARNING, logging.INFO


@dataclass(frozen=True, slots=True)
class Record:
    """One log line of the start."""

    level: int
    text: str


def unknown_keys(place: str, node: Mapping[Any, Any], known: Iterable[str]) -> list[Record]:
    """One warning for each unknown key."""
    return [_unknown(place, str(key), known) for key in node if key not in known]


def _unknown(place: str, key: str, known: Iterable[str]) -> Record:
    close = nearest(key, known)
    hint = f' (did you mean "{place}.{close}"?)' if close else ""
    return Record(WARNING, f'config: unknown key "{place}.{key[:100]}" ignored{hint}')


def words(value: Any) -> list[str] | None:
    """The words of a list, or of comma/newline text; trimmed, without blanks. None: anything else.

    A number is not accepted: YAML reads `007` as 7, which would not deny the project 007.
    """
    entries = split(value) if isinstance(value, str | list) else [None]
    texts = [entry.strip() for entry in entries if isinstance(entry, str)]
    return [text for text in texts if text] if len(texts) == len(entries) else None


def split(value: Any) -> list[Any]:
    """The entries of a list, or of comma/newline text; any other value is the only entry."""
    if isinstance(value, str):
        return value.replace("\n", ",").split(",")
    return value if isinstance(value, list) else [value]


def entry_text(entry: Any) -> str:
    """An entry as a log line may show it: a nested value might hold a secret."""
    if isinstance(entry, dict | list):
        return "a mapping" if isinstance(entry, dict) else "a list"
    return str(entry).strip()[:100]


def secret_key(node: Any, path: tuple[str, ...] = ()) -> str | None:
    """The dotted path of the first `token` or `secret` key anywhere in this node, or None."""
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for key, inner in children:
        here = (*path, str(key))
        if isinstance(node, dict) and str(key).lower() in {"token", "secret"}:
            return ".".join(here)
        if isinstance(inner, dict | list) and (found := secret_key(inner, here)):
            return found
    return None
