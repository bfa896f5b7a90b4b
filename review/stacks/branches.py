"""The branch of a commit, recorded or discovered, and where it points now."""

from __future__ import annotations

from typing import Literal, NotRequired, Protocol, TypedDict

BranchStatus = Literal["ok", "moved", "missing", "discovered", "merged"]


class Branch(TypedDict):
    name: str
    status: BranchStatus
    points_at: NotRequired[str]
    discovered: list[str]


class Pointers(Protocol):
    """The part of a repository's refs that is used here."""

    def branches_at(self, sha: str) -> list[str]: ...

    def branch(self, name: str) -> str | None: ...


def branch(
    recorded: str | None,
    *,
    sha: str,
    status: str,
    refs: Pointers,
    shared: tuple[str | None, ...] = (),
) -> Branch | None:
    """The branch; None if no name is recorded and none is found.

    `shared` names the branches that stand for the whole range, the least specific last: the range's
    head, the trunk. They are used only for a commit without a branch of its own.
    """
    here = refs.branches_at(sha)
    if recorded is None:
        return _branch_of(here, sha, status, shared)
    target = refs.branch(recorded)
    shown: Branch = {
        "name": recorded,
        "status": _state(target, sha, status),
        "discovered": [name for name in here if name != recorded],
    }
    if target is not None and shown["status"] in ("merged", "moved"):
        shown["points_at"] = target
    return shown


def _state(target: str | None, sha: str, status: str) -> BranchStatus:
    if status == "merged":
        return "merged"
    if target is None:
        return "missing"
    return "ok" if target == sha else "moved"


def _branch_of(
    here: list[str], sha: str, status: str, shared: tuple[str | None, ...]
) -> Branch | None:
    if not here:
        return None
    name = min(here, key=lambda name: (_rank(name, shared), len(name), name))
    if status != "merged":
        return {"name": name, "status": "discovered", "discovered": here}
    others = [other for other in here if other != name]
    return {"name": name, "status": "merged", "points_at": sha, "discovered": others}


def _rank(name: str, shared: tuple[str | None, ...]) -> int:
    return shared.index(name) + 1 if name in shared else 0
