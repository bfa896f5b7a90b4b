"""The app tools of a running turn, `mcp__svc_apps__*`: within the directory it works in.

See docs/design/engines.md#tools-of-the-parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from config.mcp.operations import Argument, Operation, Registry
from config.mcp.turn_tools import TurnCaller, late
from dashboard.health.record import State

PART = "apps"
tool = partial(Operation, project_argument=None)
SLUG = Argument("slug", "string", "As find_app or the event names the app", required=True)
LINES = 100
STATES = tuple(one.value for one in State)
NAMES = {"timeoutSeconds": "timeout_seconds"}


def _within(noun: str, **fixed: Any) -> Callable[..., Any]:
    """The operation of that noun, limited to what this turn may reach."""
    call, reach = (late(f"dashboard.operations.turns.{name}") for name in (noun, "Reach"))

    def run(caller: TurnCaller, **given: Any) -> Any:
        named = {NAMES.get(name, name): value for name, value in given.items()}
        places = (caller.directory, caller.project_directory)
        return call(reach(places, caller.apps), **named, **fixed)

    return run


def _action(found: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome, without the whole record of the app."""
    return {key: value for key, value in found.items() if key != "app"}


def _act(action: str, text: str) -> Operation:
    return tool(
        name=f"{action}_app", group="act", run=_within("act", action=action), render=_action,
        description=text, arguments=(SLUG,), destructive=action != "start", idempotent=True,
        code_execution=True,
    )  # fmt: skip


OPERATIONS = (
    tool(
        name="find_app", group="read", read_only=True, run=_within("find_app"),
        render=late("dashboard.mcp.brevity.matches"),
        description="What runs in this chat's directory: its apps with state, reason and address, "
        "and what else listens there. Ask before starting a server.",
        arguments=(Argument("port", "integer", "Only what is at this port"),),
    ),
    tool(
        name="wait_for_app", group="read", read_only=True, waits=True,
        run=_within("wait_for_app"), render=late("dashboard.mcp.brevity.wait_outcome"),
        description="Wait until the app has a state; ok: false when the time was over first.",
        arguments=(
            SLUG,
            Argument("state", "string", required=True, choices=STATES),
            Argument("timeoutSeconds", "integer", default=30, least=0, most=60),
        ),
    ),
    tool(
        name="app_logs", group="read", read_only=True, run=_within("app_logs"),
        render=lambda tail: tail.wire(), description="The end of an app's log.",
        arguments=(
            SLUG,
            Argument("lines", "integer", "1 to 5000", default=LINES, least=1, most=5000),
            Argument("after", "integer", "Only what is newer: `bytes` of an earlier answer"),
        ),
    ),
    _act(
        "start",
        "Start the service of an app and wait for it; ok: false has the reason and its last lines.",
    ),
    _act("stop", "Stop the service of an app."),
    _act(
        "restart",
        "Restart the service of an app and wait for it; ok: false has the reason and its last "
        "lines.",
    ),
)  # fmt: skip

REGISTRY = Registry()
for _operation in OPERATIONS:
    REGISTRY.add(_operation)
