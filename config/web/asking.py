"""How a part asks an agent to work in a directory: of the part that keeps chats, which the setting
SVC_CHATS names. What it offers is bound to what the caller could do there by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NotRequired, Protocol, TypedDict, cast

from django.conf import settings
from rest_framework.request import Request

from config.errors import Denied
from config.web import palette, surfaces

ELSEWHERE = "Agents cannot be asked from this port; sign in on the main port and ask there."


class OpenChat(TypedDict):
    """A chat that can be continued; `branch`: the one that it works on in a worktree of its own."""

    id: str
    name: str
    branch: NotRequired[str]


class Desk(TypedDict):
    """A project whose agents work in a directory, and its newest chats."""

    project: str
    name: str
    directory: str
    chats: list[OpenChat]


class Sent(TypedDict):
    """Where a message went; `url` is the page of the chat, seen from the caller."""

    project: str
    chat: str
    url: str


@dataclass(frozen=True, slots=True)
class Wish:
    """Where a message is to go: to a chat, else to a new one of the project, else to a new chat of
    a new project that works in `folder`."""

    project: str | None = None
    chat: str | None = None
    folder: Path | None = None


class Chats(Protocol):
    """What the module of SVC_CHATS has."""

    def desks(self, folders: Sequence[Path]) -> list[Desk]:
        """The projects that work in one of these directories or above it, the nearest first."""
        ...

    def send(self, principal: Any, wish: Wish, message: str, name: str) -> tuple[str, str, str]:
        """(project, chat, path of its page) of the chat that was sent the message; `name` is for a
        new one. Raises SvcError."""
        ...


def desks(request: Request, folders: Sequence[Path]) -> list[Desk]:
    """The projects that the caller could ask an agent in. Denied from a port that may not ask."""
    return _chats(request).desks(folders)


def send(request: Request, wish: Wish, message: str, *, name: str) -> Sent:
    """Send it to an agent. Denied from a port that may not ask."""
    principal = getattr(request._request, "principal", None)
    project, chat, path = _chats(request).send(principal, wish, message, name)
    scope = getattr(request._request, "scope", {})
    return {
        "project": project,
        "chat": chat,
        "url": surfaces.absolute_url(scope, surfaces.MAIN, path),
    }


def page(request: Request, project: str, chat: str) -> str:
    """The address of a chat's page, seen from the caller."""
    scope = getattr(request._request, "scope", {})
    return surfaces.absolute_url(scope, surfaces.MAIN, f"/projects/{project}/chats/{chat}")


def _chats(request: Request) -> Chats:
    """The port of a part may ask where nobody has to sign in, and only for this machine: what it
    lets through without a login would else act with the rights of one."""
    if not palette.reaches(request, surfaces.MAIN.name):
        raise Denied(ELSEWHERE)
    return cast("Chats", import_module(settings.SVC_CHATS))
