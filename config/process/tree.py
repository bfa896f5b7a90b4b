"""Descendants and ancestors in a table of pid -> parent pid. Light: turn processes load it too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping


def descendants(parents: Mapping[int, int], tops: Iterable[int]) -> set[int]:
    """All descendants of `tops`; a member of `tops` only if it descends from another one."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = list(tops)
    while waiting:
        fresh = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def ancestry(parents: Mapping[int, int]) -> set[int]:
    """This process and its ancestors, which we must never signal."""
    found, pid = set(), os.getpid()
    while pid and pid not in found:
        found.add(pid)
        pid = parents.get(pid, 0)
    return found
