"""Which firings stand behind something that happened, so that no trigger fires for what it did.

A hook is told by whom; a commit or a fallen app is not. There what a chain's turn does is taken to
be its doing while it runs, and for a moment after: watchers and probes come late. See
docs/design/workspace.md#what-a-chain-caused.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from config.errors import NotFound
from config.storage import homes
from workspace.chats import files
from workspace.chats.turns.states import BUSY
from workspace.models import Run, Turn
from workspace.projects import store

ANCESTORS = 32  # a chat descends from fewer chats than this, or its provenance is not believed
AFTER = timedelta(seconds=30)

Chain = tuple[str, ...]


def of_run(run: Run) -> Chain:
    """The triggers whose firings led to what this run does, its own last."""
    return (*run.chain, f"{run.project}/{run.trigger}")


def of_turn(turn: Turn) -> Chain:
    """The triggers whose firings led here, directly or through chats they started."""
    return of_run(turn.run) if turn.run is not None else of_chat(turn.project, turn.chat)


def of_chat(project: str, chat: str) -> Chain:
    """The chain of the newest run of this chat, or of the nearest ancestor that has one."""
    for _ in range(ANCESTORS):
        run = Run.objects.filter(session_id=chat).order_by("-id").first()
        if run is not None:
            return of_run(run)
        try:
            parent = files.read(store.get(project), chat).parent
        except NotFound:
            return ()
        if not parent:
            return ()
        project, chat = str(parent.get("project")), str(parent.get("sessionId"))
    return ()


def at_work(project: str, trigger: str, now: datetime) -> Chain:
    """The chain of what works now, or did a moment ago: one that this trigger is in, wherever its
    turn works; else the longest of this project; () where no firing is behind any turn."""
    key = f"{project}/{trigger}"
    busy = Q(state__in=BUSY) | Q(finished__gte=now - AFTER)
    longest: Chain = ()
    for turn in Turn.objects.filter(homes.mine(), busy).select_related("run"):
        chain = of_turn(turn)
        if key in chain:
            return chain
        if turn.project == project and len(chain) > len(longest):
            longest = chain
    return longest
