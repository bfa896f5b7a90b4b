"""A lost item is started again: once, or from then on as a service of its app."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TypedDict

from config.errors import Conflict, Invalid
from dashboard.files import layout, store
from dashboard.listeners import names
from dashboard.reboot import block
from dashboard.reboot.entry import JournalEntry
from dashboard.reboot.notice import Item
from dashboard.services.actions import Outcome
from dashboard.services.definition import Service
from dashboard.services.errors import services_off
from dashboard.services.supervise import Supervisor

PORT_S, ANSWER_S = 15.0, 10.0  # wait for the port, and the action's share of it
STATES = {
    "running": "up",
    "starting": "starting",
    "backoff": "starting",
    "stopping": "stopping",
    "stopped": "stopped",
    "failed": "down",
}


class Restarted(TypedDict):
    ok: bool
    id: str
    slug: str | None
    state: str | None
    reason: str | None
    message: str | None
    log: list[str]


async def slug_for(
    entry: JournalEntry, wanted: str | None, services: Supervisor, *, as_service: bool
) -> str:
    """The slug to run it under: `wanted`, else its own, else a free one.

    400 `bad_slug`, and 400 `invalid` if it cannot be that one. As a service it may be that of
    another declared app, which then gets the block.
    """
    if wanted is not None:
        layout.place("apps", wanted)
    declared = set(await asyncio.to_thread(store.apps))
    taken = declared | services.slugs()
    if wanted is None or wanted == entry.slug:
        base = names.make_slug(entry.name) or f"app-{entry.port}"
        return entry.slug or names.free(base, taken)
    if entry.slug in declared:
        raise Invalid(f'slug: must be "{entry.slug}", the app that was lost.')
    if wanted in taken and not (as_service and wanted in declared):
        raise Invalid(f'slug: "{wanted}" is another app; choose a name that is free.')
    return wanted


async def once(entry: JournalEntry, slug: str, services: Supervisor) -> Outcome:
    """Start its service as the file has it, else the stored command."""
    return await _wait_for_start(services, slug, services.once(slug, _definition(entry)))


async def as_service(entry: JournalEntry, slug: str, services: Supervisor) -> Outcome:
    """Write the service block, then start it. 409 `exists`, `services_off`, and those of the
    write."""
    if not services.world.limits().enabled:
        raise services_off()
    app = await asyncio.to_thread(block.write, entry, slug)
    assert app.service is not None  # just written, and read again
    services.declare(slug, Service.of(app.service, app.port, app.host))
    return await _wait_for_start(services, slug, services.act(slug, "start"))


def answer(item: Item, slug: str | None, outcome: Outcome) -> Restarted:
    """The answer of a restart; `message` explains for people what `reason` says in a word."""
    came_up = outcome.ok and outcome.status == "running"
    return {
        "ok": came_up,
        "id": item.id,
        "slug": slug,
        "state": "down" if outcome.reason == "start-timeout" else STATES[outcome.status],
        "reason": outcome.reason,
        "message": None if came_up else outcome.message or _message(item.entry, outcome),
        "log": outcome.log,
    }


def not_started(reason: str, message: str) -> Outcome:
    return Outcome(
        ok=False, action="start", status="stopped", pid=None, reason=reason, message=message
    )


async def _wait_for_start(services: Supervisor, slug: str, start: Awaitable[Outcome]) -> Outcome:
    """Wait for a start. A refused start counts as one that did not come up, and is answered with
    200."""
    try:
        outcome = await start
    except Conflict as error:
        return not_started(error.code, error.text)
    if outcome.status == "starting":
        return await services.wait_for_start(slug, PORT_S - ANSWER_S)
    return outcome


def _message(entry: JournalEntry, outcome: Outcome) -> str:
    if outcome.status in ("starting", "running"):
        return f"Port {entry.port} is silent after {PORT_S:.0f} s; the command still runs."
    return "The command ended before its port answered; its last lines tell why."


def _definition(entry: JournalEntry) -> Service:
    return Service(
        command=entry.argv, cwd=Path(entry.cwd), env=block.environment(entry), port=entry.port
    )
