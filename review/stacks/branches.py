"""The branch of a commit: recorded or found, and where it points now (contract 7.6, 7.7)."""

from __future__ import annotations

from typing import Any, Protocol


class Pointers(Protocol):
    """What is asked of the refs of a repository."""

    def branches_at(self, sha: str) -> list[str]: ...

    def branch(self, name: str) -> str | None: ...


def branch(
    recorded: str | None,
    *,
    sha: str,
    status: str,
    refs: Pointers,
    shared: tuple[str | None, ...] = (),
) -> dict[str, Any] | None:
    """`{name, status, points_at?, discovered}`, None with no name recorded and none found.

    `shared` names branches that stand for the whole range, the least telling last: the range's
    head, the trunk. They name a commit only where no branch of its own does.
    """
    here = refs.branches_at(sha)
    if recorded is None:
        return _found(here, sha, status, shared)
    target = refs.branch(recorded)
    shown: dict[str, Any] = {"name": recorded, "status": _state(target, sha, status)}
    if target is not None and shown["status"] in ("merged", "moved"):
        shown["points_at"] = target
    return shown | {"discovered": [name for name in here if name != recorded]}


def _state(target: str | None, sha: str, status: str) -> str:
    if status == "merged":
        return "merged"
    if target is None:
        return "missing"
    return "ok" if target == sha else "moved"


def _found(
    here: list[str], sha: str, status: str, shared: tuple[str | None, ...]
) -> dict[str, Any] | None:
    if not here:
        return None
    name = min(here, key=lambda name: (_rank(name, shared), len(name), name))
    if status != "merged":
        return {"name": name, "status": "discovered", "discovered": here}
    others = [other for other in here if other != name]
    return {"name": name, "status": "merged", "points_at": sha, "discovered": others}


def _rank(name: str, shared: tuple[str | None, ...]) -> int:
    return shared.index(name) + 1 if name in shared else 0
