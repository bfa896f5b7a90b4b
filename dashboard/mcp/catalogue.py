"""The tools of /mcp: names, arguments, descriptions.

Each tool calls the same function as its HTTP route, and returns the body of that route.
docs/design/dashboard.md#mcp-and-the-agent-guide says what is kept short for models.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from config.mcp.brief import FIELDS
from config.mcp.operations import Argument, Operation, Registry
from dashboard.daemon import Views, read
from dashboard.guide import live, texts
from dashboard.mcp import brevity
from dashboard.mcp.caller import Agent
from dashboard.operations import (
    apps,
    bookmarks,
    finding,
    history,
    nodes,
    observed,
    reboot,
    removed,
    services,
    thumbs,
)
from dashboard.operations.apps import STATES
from dashboard.operations.common import Record, Written

field = partial(Argument, as_sent=True)  # refused by the nouns, as over HTTP
SLUG = Argument("slug", "string", "Name of the app's file", required=True)
GROUP = Argument("group", "string", "Name of the group's file", required=True)
LIMIT = Argument("limit", "integer", "As many as fit into 8000 characters when left out", least=1)
MATCH = Argument("ifMatch", "string", "The etag of what was read, with its quotes", blank=True)
CREATE = Argument("create", "boolean", "Only a new file: refused when there is one")
CONFIG = Argument("config", "json", "The whole mapping of the file", required=True)
PATCH = Argument("patch", "json", "JSON merge patch; null removes a key", required=True)
NAMES = {
    "ifMatch": "if_match", "create": "if_none_match", "timeoutSeconds": "timeout_seconds",
    "asService": "as_service",
}  # fmt: skip


def _body(value: Record | Written) -> dict[str, Any]:
    return {**(value.record if isinstance(value, Written) else value)}


def _with_wire_names(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called with wire names of arguments. Only the guide receives the agent."""

    def run(agent: Agent, **arguments: Any) -> Any:
        if call is _guide:
            return call(agent)
        return call(**{NAMES.get(name, name): value for name, value in arguments.items()})

    return run


def _bookmarks(*, group: str | None = None) -> Record:
    return bookmarks.list_bookmarks() if group is None else bookmarks.get_bookmarks(group=group)


def _logs(**arguments: Any) -> Record:
    return services.app_logs(**arguments).wire()


def _guide(agent: Agent) -> Record:
    return {"text": texts.agent_guide(live.gather(agent.base))}


def _brief(call: Callable[..., Any], shape: Callable[..., Record]) -> Callable[..., Any]:
    """The function with a brief answer: `shape` takes the arguments that say how brief."""
    known = [name for name in ("fields", "limit", "after") if name in signature(shape).parameters]

    def shaped(**arguments: Any) -> Record:
        how = {name: arguments.pop(name) for name in known if name in arguments}
        return shape(call(**arguments), **how)

    return shaped


def _read(
    name: str,
    run: Callable[..., Any],
    text: str,
    *arguments: Argument,
    waits: bool = False,
    render: Callable[[Any], dict[str, Any]] = _body,
) -> Operation:
    return Operation(
        name=name, group="read", description=text, run=_with_wire_names(run), render=render,
        arguments=arguments, read_only=True, waits=waits, project_argument=None,
    )  # fmt: skip


def _write(
    name: str,
    run: Callable[..., Any],
    text: str,
    *arguments: Argument,
    destructive: bool = False,
    idempotent: bool = False,
) -> Operation:
    return Operation(
        name=name, group="write", description=text, run=_with_wire_names(run), render=_body,
        arguments=arguments, destructive=destructive, idempotent=idempotent, project_argument=None,
    )  # fmt: skip


REPLACES = {"destructive": True, "idempotent": True}


OPERATIONS = (
    _read(
        "find_app", _brief(finding.find_app, brevity.matches),
        "What runs here? Ask before starting a dev server: the apps and listeners at a port, at an "
        "address or in a directory, and whether this service holds the port itself (`own`). Give "
        "exactly one.",
        Argument("port", "integer"), Argument("url", "string"),
        Argument("cwd", "string", "Absolute path of a directory; what runs below it counts"),
        FIELDS, LIMIT,
    ),
    _read(
        "list_apps", _brief(apps.list_apps, brevity.apps),
        "Every app, declared and discovered: slug, state, reason, url, port, cwd. "
        "get_app tells the rest of one.",
        field("state", "string", choices=STATES), Argument("tag", "string"),
        Argument("query", "string", "Text in slug, name, address or tags"),
        FIELDS, LIMIT, Argument("after", "string", "A slug, to go on: `next` of the page before"),
    ),
    _read("get_app", apps.get_app, "One app with its whole configuration and etag.", SLUG),
    _read(
        "wait_for_app", finding.wait_for_app,
        "Wait until the app has a state; `ok: false` when the time was over first.",
        SLUG, Argument("state", "string", required=True, choices=STATES),
        Argument("timeoutSeconds", "integer", default=30, least=0, most=60), waits=True,
        render=brevity.wait_outcome,
    ),
    _read(
        "app_history", _brief(history.app_history, brevity.history),
        "Uptime, latency and the last changes of state of one app; `fields: *` adds the buckets.",
        SLUG, Argument("window", "string", choices=("24h", "7d", "90d"), judged=True), FIELDS,
    ),
    _read(
        "app_logs", _logs, "The end of a service's log.", SLUG,
        field("lines", "integer", "1 to 5000; 200 when left out"),
        field("after", "integer", "Only what is newer: `bytes` of an earlier answer"),
        field("before", "integer", "Only what is older: `from` of an earlier answer"),
    ),
    _read(
        "list_observed", _brief(partial(read, Views.observed), brevity.observed),
        "What listens on this machine and is no declared app, with ids for claim and ignore.",
        FIELDS, LIMIT,
    ),
    _read(
        "list_bookmarks", _bookmarks, "All groups of bookmarks, or one.",
        Argument("group", "string"),
    ),
    _read(
        "get_lost", partial(read, Views.lost),
        "What ran before the last reboot and does not run now.",
    ),
    _read(
        "list_nodes", nodes.list_nodes,
        "The other machines on the same PostgreSQL and Redis: whether each is heard, its dashboard "
        "and how many of its apps are in each state.",
    ),
    _read(
        "list_removed", removed.list_removed,
        "Files of apps and groups that were removed and can be brought back.",
    ),
    _read("get_config", partial(read, Views.config), "The settings in effect."),
    _read(
        "get_guide", _guide,
        "The guide for agents: the rules, and what runs now with port, directory and command.",
    ),
    _read("scan", observed.scan, "Look for listeners now instead of at the next scan."),
    _write(
        "service", services.service,
        "Start, stop or restart an app's service and wait for it; `ok: false` has the reason and "
        "the last lines of the log.",
        SLUG, Argument("action", "string", required=True, choices=("start", "stop", "restart")),
        destructive=True,
    ),
    _write(
        "put_app", apps.put_app,
        "Declare an app, or replace its file: name, port, url, match {port, cwd, process, "
        "command}, expected (always, sometimes, never), health {}, service {command, cwd, env, "
        "restart, autostart}, tags, group, notes.",
        SLUG, CONFIG, CREATE, MATCH, **REPLACES,
    ),
    _write(
        "patch_app", apps.patch_app,
        "Change some keys of an app; of a discovered app this makes its file.",
        SLUG, PATCH, MATCH, **REPLACES,
    ),
    _write(
        "remove_app", apps.remove_app,
        "Move an app's file to backups/removed. `stop` ends its service first.",
        SLUG, Argument("stop", "boolean", default=False), MATCH, **REPLACES,
    ),
    _write(
        "claim", observed.claim, "Declare an observed listener as an app.",
        Argument("id", "string", "Id from list_observed", required=True),
        Argument("slug", "string", "Name of the new file", required=True),
        field("name", "string"),
        field("expected", "string", choices=("always", "sometimes", "never")),
    ),
    _write(
        "ignore", observed.ignore, "Hide an observed listener by a rule in ignore.yaml.",
        Argument("id", "string", "Id from list_observed", required=True),
        field("by", "string", choices=("port", "process", "dir")), field("reason", "string"),
        idempotent=True,
    ),
    _write(
        "put_bookmarks", bookmarks.put_bookmarks,
        "Make or replace a group of bookmarks: name, links [{name, url}].",
        GROUP, CONFIG, CREATE, MATCH, **REPLACES,
    ),
    _write(
        "patch_bookmarks", bookmarks.patch_bookmarks,
        "Change some keys of a group; a list is replaced whole.", GROUP, PATCH, MATCH, **REPLACES,
    ),
    _write(
        "remove_bookmarks", bookmarks.remove_bookmarks,
        "Move a group's file to backups/removed.", GROUP, MATCH, **REPLACES,
    ),
    _write(
        "restore_removed", removed.restore_removed,
        "Put a removed file back under its name.",
        Argument("file", "string", "From list_removed, or as the removal told it", required=True),
    ),
    _write(
        "refresh_thumbs", thumbs.refresh_thumbs,
        "Take new screenshots of one app, or of every app that is up.",
        Argument("slug", "string"),
    ),
    _write(
        "restart_lost", reboot.restart_lost,
        "Start again what the reboot ended, once or as a service with autostart.",
        Argument("id", "string", "Id from get_lost", required=True), Argument("slug", "string"),
        Argument("asService", "boolean", default=False),
    ),
    _write(
        "dismiss_lost", reboot.dismiss_lost,
        "Take one item off the notice of lost apps, or all.",
        Argument("id", "string", "All when left out", blank=True), **REPLACES,
    ),
)  # fmt: skip

REGISTRY = Registry()
for declared in OPERATIONS:
    REGISTRY.add(declared)
