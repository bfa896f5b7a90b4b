"""What a client, or a turn, may store as a trigger, and how the trigger remembers the client.

A trigger fires long after the call that stored it. So it names the clients that wrote it or
switched it on (`clients` of its entry). Their scopes bound every turn that it fires, until a person
saves it. See docs/design/trust.md#rights-travel-with-the-cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.errors import Invalid, Problem
from config.mcp import turn_tools
from workspace.access.policy import is_listed
from workspace.access.principals import Principal
from workspace.projects.project import Project
from workspace.projects.schema import cap_mode
from workspace.triggers.entries.schema import Trigger


def restrict(
    trigger: Trigger,
    before: Trigger | None,
    words: Mapping[str, Any],
    *,
    project: Project,
    principal: Principal | None,
) -> Trigger:
    """The trigger as this caller may store it. Raises Invalid for what exceeds its bounds."""
    if principal is None or principal.kind == "user":
        return trigger
    does_other = before is None or before.run != trigger.run
    if does_other or words.get("permission_mode") is not None:
        _check_mode(trigger, principal)
    if does_other or words.get("tools") is not None:
        _check_tools(trigger, principal)
    _check_depth(trigger, words, principal)
    if does_other and principal.kind == "agent":
        trigger = _with_spawn_limit(trigger, project, principal)
    return replace(trigger, clients=_remembered_clients(trigger, before, principal))


def _check_mode(trigger: Trigger, principal: Principal) -> None:
    mode, cap = trigger.run.permission_mode, principal.mode_cap
    if mode is None or cap_mode(mode, cap) == mode:
        return
    who = ", ".join(principal.clients)
    reason = f'"{mode}" is above {cap}, the highest mode of client {who} (its scope.permissionMode)'
    raise Invalid([Problem("permission_mode", reason, f'"{cap}"')])


def _check_tools(trigger: Trigger, principal: Principal) -> None:
    """Refuse tools that act outside of the sandbox unless the scope allows them by name: to list a
    tool is to approve it, and a client may not approve these."""
    acting = turn_tools.acting().items()
    closed = {tool: one.name for tool, one in acting if not principal.bounds.acts(one)}
    for name in trigger.run.tools:
        if covered := [closed[tool] for tool in closed if is_listed((name,), tool)]:
            raise Invalid([Problem("tools", _refusal_text(name, covered, principal))])


def _refusal_text(name: str, covered: list[str], principal: Principal) -> str:
    who = ", ".join(principal.clients)
    return (
        f'"{name}" would act outside of the sandbox ({", ".join(covered)}), '
        f"which the scope of client {who} does not allow by name (its scope.allow)"
    )


def _check_depth(trigger: Trigger, words: Mapping[str, Any], principal: Principal) -> None:
    """Check only a limit that this call names; a limit stored earlier is bounded when it fires."""
    cap, asked = principal.spawn_cap, trigger.run.max_spawn_depth
    named = words.get("max_spawn_depth") is not None
    if named and cap is not None and asked is not None and asked > cap:
        whose = "client" if principal.kind == "client" else "turn"
        reason = f"{asked} is above this {whose}'s limit {cap}"
        raise Invalid([Problem("max_spawn_depth", reason, str(cap))])


def _with_spawn_limit(trigger: Trigger, project: Project, principal: Principal) -> Trigger:
    """The trigger with the calling turn's spawn limit where it is lower. The turn is over when the
    trigger fires, so its limit must be in the entry."""
    cap, asked = principal.spawn_cap, trigger.run.max_spawn_depth
    holds = project.max_spawn_depth if asked is None else asked
    if cap is None or holds <= cap:
        return trigger
    return replace(trigger, run=replace(trigger.run, max_spawn_depth=cap))


def _remembered_clients(
    trigger: Trigger, before: Trigger | None, principal: Principal
) -> tuple[str, ...]:
    """The clients that stored it before, and this caller's if the call changes what will happen."""
    if before is None:
        return principal.clients
    same = (before.when, before.run) == (trigger.when, trigger.run)
    if same and (before.enabled or not trigger.enabled):
        return before.clients
    return tuple(dict.fromkeys((*before.clients, *principal.clients)))
