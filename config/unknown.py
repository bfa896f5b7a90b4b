"""Keys of svc.config.yaml that are not known: each a warning with the nearest known key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Set
from typing import Any

from config import readers


def warnings(tree: Mapping[str, Any], known: Set[str]) -> list[str]:
    """One line for each key of `tree` that is not among the dotted ones that are `known`.

    OptionError for a section that is no mapping: what it was meant to set must not be guessed.
    """
    sections = {key.split(".")[0] for key in known if "." in key}
    found: list[str] = []
    for key, value in tree.items():
        if key in known or (key in sections and value is None):
            continue
        if key in sections:
            inner = {name for name in known if name.startswith(f"{key}.")}
            names = (f"{key}.{sub}" for sub in readers.mapping(key, value))
            found += [_nearest(name, inner) for name in names if name not in inner]
        else:
            found.append(_nearest(key, known | sections))
    return found


def _nearest(key: str, known: Set[str]) -> str:
    close = difflib.get_close_matches(key, sorted(known), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'config: unknown key "{key}" ignored{hint}'
