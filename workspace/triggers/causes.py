"""What stands behind something that happened: firings, so that no trigger fires for what it did,
and management clients, within whose scopes stays what it fires.

A hook is told by whom; a commit or a fallen app is not. There what a turn does is taken to be its
doing while it runs, and for a moment after: watchers and probes come late. See
docs/design/workspace.md#what-a-chain-caused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from config.storage import homes
from workspace.access import clients
from workspace.chats.turns import retries
from workspace.chats.turns.states import BUSY
from workspace.models import Run, Turn

AFTER = timedelta(seconds=30)

Chain = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """`spawn_cap`: what the clients leave of the spawn limit; None = no bound, as without any."""

    chain: Chain = ()
    clients: tuple[str, ...] = ()
    spawn_cap: int | None = None

    def beside(self, other: Cause) -> Cause:
        """Both as one: the longer chain, and all that bounds either."""
        caps = [one for one in (self.spawn_cap, other.spawn_cap) if one is not None]
        names = tuple(dict.fromkeys((*self.clients, *other.clients)))
        return Cause(max(self.chain, other.chain, key=len), names, min(caps, default=None))


def of_run(run: Run) -> Chain:
    """The triggers whose firings led to what this run does, its own last."""
    return (*run.chain, f"{run.project}/{run.trigger}")


def of_failed(run: Run) -> Cause:
    """Who is behind the failure of a run: those behind its turn and its start."""
    names = clients_of([run])
    cause = Cause(of_run(run), tuple(names), run.spawn_cap if names else None)
    turn = Turn.objects.filter(run=run).order_by("-id").first()
    return cause if turn is None else cause.beside(_cause(turn, ()))


def clients_of(rows: Iterable[Run | Turn]) -> list[str]:
    """Every client behind these, once."""
    names = (name for row in rows for name in (row.client, *row.clients))
    return [*dict.fromkeys(filter(None, names))]


def _cause(turn: Turn, chain: Chain) -> Cause:
    """A hook counts as something that the turn starts."""
    names = tuple(clients_of([turn]))
    left = max(0, clients.bounds(names).depth(turn.spawn_limit) - 1)
    return Cause(chain, names, left if names else None)


def at_work(project: str, trigger: str, now: datetime, there: Callable[[str], bool]) -> Cause:
    """The cause by what works now, or did a moment ago: one whose chain this trigger is in,
    wherever its turn works; else the longest chain of this project and of those that work `there`,
    where it happened, and all clients behind these turns."""
    key = f"{project}/{trigger}"
    busy = Q(state__in=BUSY) | Q(finished__gte=now - AFTER)
    found = Cause()
    for turn in Turn.objects.filter(homes.mine(), busy):
        aside = retries.aside_since(turn)
        if aside is not None and aside < now - AFTER:
            continue  # it may wait for its provider for hours, and does nothing meanwhile
        cause = _cause(turn, tuple(turn.chain))
        if key in cause.chain:
            return cause
        behind = cause.chain or cause.clients
        if turn.project == project or (behind and there(turn.project)):
            found = found.beside(cause)
    return found
