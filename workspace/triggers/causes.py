"""What caused something that happened: the firings behind it, so that no trigger fires for its own
effects, and the management clients behind it, whose scopes bound what it fires.

A hook states who caused it; a commit or a fallen app does not. Such a happening is attributed to
the turns that work while it happens or did a moment before, because watchers and probes notice
late. See docs/design/workspace.md#what-a-chain-caused.
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
    """The firings and clients behind something. `spawn_cap`: what the clients leave of the spawn
    limit; None = no bound, as if there were no clients."""

    chain: Chain = ()
    clients: tuple[str, ...] = ()
    spawn_cap: int | None = None

    def beside(self, other: Cause) -> Cause:
        """Both causes as one: the longer chain, and everything that bounds either of them."""
        caps = [one for one in (self.spawn_cap, other.spawn_cap) if one is not None]
        names = tuple(dict.fromkeys((*self.clients, *other.clients)))
        return Cause(max(self.chain, other.chain, key=len), names, min(caps, default=None))


def of_run(run: Run) -> Chain:
    """The triggers whose firings led to what this run does; its own trigger is last."""
    return (*run.chain, f"{run.project}/{run.trigger}")


def of_failed(run: Run) -> Cause:
    """The cause of a run's failure: what is behind its turn and its start."""
    names = clients_of([run])
    cause = Cause(of_run(run), tuple(names), run.spawn_cap if names else None)
    turn = Turn.objects.filter(run=run).order_by("-id").first()
    return cause if turn is None else cause.beside(_cause(turn, ()))


def clients_of(rows: Iterable[Run | Turn]) -> list[str]:
    """Every client behind these runs or turns, without duplicates."""
    names = (name for row in rows for name in (row.client, *row.clients))
    return [*dict.fromkeys(filter(None, names))]


def _cause(turn: Turn, chain: Chain) -> Cause:
    """The cause of what a turn does; a hook counts as something that the turn starts."""
    names = tuple(clients_of([turn]))
    left = max(0, clients.bounds(names).depth(turn.spawn_limit) - 1)
    return Cause(chain, names, left if names else None)


def at_work(project: str, trigger: str, now: datetime, there: Callable[[str], bool]) -> Cause:
    """The cause according to the turns that work now or did a moment ago. If this trigger is in the
    chain of one, wherever it works, that turn is the cause. Otherwise it is the longest chain, and
    all clients, of the turns of this project and of those that work `there`, where it happened."""
    key = f"{project}/{trigger}"
    busy = Q(state__in=BUSY) | Q(finished__gte=now - AFTER)
    found = Cause()
    for turn in Turn.objects.filter(homes.mine(), busy):
        aside = retries.aside_since(turn)
        if aside is not None and aside < now - AFTER:
            continue  # waits for its provider, perhaps for hours, and does nothing in that time
        cause = _cause(turn, tuple(turn.chain))
        if key in cause.chain:
            return cause
        behind = cause.chain or cause.clients
        if turn.project == project or (behind and there(turn.project)):
            found = found.beside(cause)
    return found
