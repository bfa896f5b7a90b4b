"""How a part asks an agent to work in a directory, through the part that keeps chats, which the
setting SVC_CHATS names. A caller can ask only for what it could do in that part itself.
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
    """A chat that can be continued; `branch` is the branch of its own worktree, if it has one."""

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
    """Where a message went; `url` is the page of the chat as the caller reaches it."""

    project: str
    chat: str
    url: str


@dataclass(frozen=True, slots=True)
class Wish:
    """Where to send a message: to `chat`, else to a new chat of `project`, else to a new chat of a
    new project that works in `folder`."""

    project: str | None = None
    chat: str | None = None
    folder: Path | None = None


class Chats(Protocol):
    """The interface of the module that SVC_CHATS names."""

    def desks(self, folders: Sequence[Path]) -> list[Desk]:
        """The projects that work in one of these directories or above it, the nearest first."""
        ...

    def send(self, principal: Any, wish: Wish, message: str, name: str) -> tuple[str, str, str]:
        """Send the message; return (project, chat, path of the chat's page). `name` names a new
        chat. Raises SvcError."""
        ...


def desks(request: Request, folders: Sequence[Path]) -> list[Desk]:
    """The projects in which the caller can ask an agent. Denied on a port that may not ask."""
    return _chats(request).desks(folders)


def send(request: Request, wish: Wish, message: str, *, name: str) -> Sent:
    """Send a message to an agent. Denied on a port that may not ask."""
    principal = getattr(request._request, "principal", None)
    project, chat, path = _chats(request).send(principal, wish, message, name)
    scope = getattr(request._request, "scope", {})
    return {
        "project": project,
        "chat": chat,
        "url": surfaces.absolute_url(scope, surfaces.MAIN, path),
    }


def page(request: Request, project: str, chat: str) -> str:
    """The address of a chat's page as the caller reaches it."""
    scope = getattr(request._request, "scope", {})
    return surfaces.absolute_url(scope, surfaces.MAIN, f"/projects/{project}/chats/{chat}")


def _chats(request: Request) -> Chats:
    """The module of SVC_CHATS. Denied on the port of a part unless no login is required and the
    caller is on this machine: else a caller without a login would act with the rights of one."""
    if not palette.reaches(request, surfaces.MAIN.name):
        raise Denied(ELSEWHERE)
    return cast("Chats", import_module(settings.SVC_CHATS))
