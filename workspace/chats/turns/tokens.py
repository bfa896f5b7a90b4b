"""The caller that the token of a running turn stands for.

The token becomes invalid the moment its row leaves `running`; only its digest is stored. See
docs/design/engines.md#the-tools-of-the-service-for-a-turn.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any

from django.conf import settings

from config.errors import NotFound
from config.web.guard import Headers
from config.web.hosts import loopback
from workspace.access import clients, proxies
from workspace.access.policy import Gates
from workspace.access.principals import Agent
from workspace.chats import files
from workspace.models import Chat, Turn
from workspace.projects import store

_BEARER = re.compile(r"bearer +(svct_[0-9a-f]{64})", re.IGNORECASE)


def new_token() -> tuple[str, str]:
    """A random token, and the digest that the row stores."""
    token = f"svct_{secrets.token_hex(32)}"
    return token, digest(token)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def token_of(scope: dict[str, Any]) -> str | None:
    """The token of a request that comes from this machine and through no proxy, else None."""
    headers = Headers(scope)
    found = _BEARER.fullmatch(headers.only(b"authorization"))
    if found is None or headers.forwarding() or not loopback(proxies.peer(scope)):
        return None
    return found[1]


def caller(token: str) -> Agent | None:
    """The agent of the running turn with this token, or None. Reads the database and the record.

    The scopes of its clients are read at each call, so narrowing a scope affects running turns."""
    turn = Turn.objects.filter(token_hash=digest(token), state="running").first()
    if turn is None:
        return None
    tools = None if turn.tools is None else tuple(turn.tools)
    if tools == () or not settings.SVC.self_mcp:
        return None  # such a turn is offered no server
    bounds = clients.bounds((turn.client, *turn.clients))
    return Agent(
        turn=turn.id,
        project=turn.project,
        chat=turn.chat,
        chat_name=_name(turn.chat),
        depth=_depth(turn),
        spawn_limit=bounds.depth(turn.spawn_limit),
        client=turn.client,
        tools=tools,
        plan=turn.mode == "plan",
        gates=gates(turn.project),
        bounds=bounds,
        chain=tuple(turn.chain),
    )


def gates(project: str) -> Gates:
    """The switches of this process, with the turn's project's switch as it is now."""
    options, own = settings.SVC, _project_hooks(project)
    return Gates(
        read=options.self_mcp,
        write=options.self_mcp_write,
        projects=options.self_mcp_projects,
        hooks=options.hooks_mcp,
        project_hooks=lambda slug: own if slug == project else _project_hooks(slug),
    )


def _project_hooks(slug: str) -> bool | None:
    try:
        value = store.get(slug).written("hooksMcpEnabled")
    except NotFound:
        return None
    return value if isinstance(value, bool) else None


def _name(chat: str) -> str:
    return Chat.objects.filter(id=chat).values_list("name", flat=True).first() or chat[:8]


def _depth(turn: Turn) -> int:
    return files.read(store.get(turn.project), turn.chat).depth
