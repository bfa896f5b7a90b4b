"""Keys of svc.config.yaml that are not known: each a warning with the nearest known key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Set
from typing import Any

from config import readers

SHOWN = 100


def warnings(tree: Mapping[str, Any], known: Set[str], place: str = "") -> list[str]:
    """One line for each key of `tree`, which stands at `place`, that no dotted one of `known` is
    or leads through.

    OptionError for a section that is no mapping: what it was meant to set must not be guessed.
    """
    sections = {name for key in known for name in _above(key)}
    found: list[str] = []
    for key, value in tree.items():
        name = f"{place}{key}"
        if name in sections:
            inner = {} if value is None else readers.mapping(name, value)
            found += warnings(inner, known, f"{name}.")
        elif name not in known:
            near = (one for one in known | sections if one.startswith(place))
            found.append(_nearest(name, near))
    return found


def _above(key: str) -> list[str]:
    """The sections that a dotted key lies in."""
    parts = key.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts))]


def _nearest(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key[:SHOWN], sorted(known), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'config: unknown key "{key[:SHOWN]}" ignored{hint}'
