# ruff: noqa: N815 - the names are the JSON keys of the API
"""Bodies and answers of the chat routes."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from rest_framework import serializers as s

from config.web import rest
from workspace.api.answers import Page, Warned
from workspace.api.chatview import Chat
from workspace.chats import attachments
from workspace.chats.messages import Message
from workspace.chats.turns.queue import PROMPT_MAX, QueueRow
from workspace.projects.schema import PERMISSION_MODES
from workspace.worktrees.leaving import WorktreeLeft

CHAT_KEYS = frozenset(Chat.__annotations__)


def prompt(*, required: bool) -> rest.Text:
    return rest.Text(max_length=PROMPT_MAX, line=False, required=required, allow_null=not required)


class ListQuery(Page):
    archived = s.ChoiceField(("0", "1", "all"), default="0")
    q = rest.Text(required=False, allow_blank=True, help_text="part of the name, preview or id")


class MessagesQuery(s.Serializer[Any]):
    limit = s.IntegerField(min_value=1, max_value=500, default=100)
    before = s.IntegerField(min_value=0, max_value=2**63 - 1, required=False)
    turns = s.BooleanField(
        default=False, help_text="also the lines that begin and end turns, and permission questions"
    )


class ExportQuery(s.Serializer[Any]):
    format = s.ChoiceField(("md", "jsonl"), default="md")


def attachments_field() -> s.ListField:
    return s.ListField(
        child=rest.Text(max_length=300),
        max_length=attachments.MOST,
        required=False,
        help_text="`path` of attachments, named at the end of the prompt",
    )


def mode() -> s.ChoiceField:
    return s.ChoiceField(
        PERMISSION_MODES,
        required=False,
        allow_null=True,
        help_text="of the messages of this chat, at most the project's",
    )


class NewChat(s.Serializer[Any]):
    prompt = prompt(required=False)
    attachments = attachments_field()
    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    model = rest.Text(required=False, allow_null=True, allow_blank=True)
    preloadContext = s.BooleanField(required=False)
    permissionMode = mode()
    worktree = s.BooleanField(
        required=False, help_text="give it a git worktree and a branch of its own"
    )


class NewMessage(s.Serializer[Any]):
    prompt = prompt(required=True)
    attachments = attachments_field()
    model = rest.Text(required=False, allow_null=True, allow_blank=True)


class Change(s.Serializer[Any]):
    """null restores the automatic name, or the permission mode of the project."""

    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    permissionMode = mode()


class Archive(s.Serializer[Any]):
    archived = s.BooleanField(default=True)


class ReadTo(s.Serializer[Any]):
    """`offset` of the last message that was shown; without it the whole chat is read."""

    offset = s.IntegerField(min_value=0, max_value=2**63 - 1, required=False)


class Fork(s.Serializer[Any]):
    turn = rest.Text(
        required=False, allow_null=True, help_text="the last turn to copy; the last finished one"
    )
    prompt = prompt(required=False)
    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    model = rest.Text(required=False, allow_null=True, allow_blank=True)


class ChatList(TypedDict):
    chats: list[Chat]
    next: str | None
    omittedArchived: int


class OneChat(Warned):
    chat: Chat


Repeated = Annotated[bool, "the same request came before, with the same Idempotency-Key"]


class Started(OneChat):
    messageId: str | None
    state: str | None
    repeated: NotRequired[Repeated]


class Forked(OneChat):
    messageId: NotRequired[str]
    state: NotRequired[str]


class ChatPage(TypedDict):
    chat: Chat
    queue: list[QueueRow]


class MessagePage(TypedDict):
    messages: list[Message]
    total: int
    next: int | None
    turns: NotRequired[list[dict[str, Any]]]


class Sent(Warned):
    sent: bool
    messageId: str
    state: str
    position: int
    repeated: NotRequired[Repeated]


class Done(TypedDict):
    ok: bool


class Stopped(Done):
    stopped: bool


class Retried(Done):
    retried: bool


class Resumed(Done):
    resumed: int


class PutBack(Done):
    state: Annotated[str, "queued or held"]


class Archived(Warned):
    ok: bool
    archived: bool
    changed: bool
    worktree: NotRequired[Annotated[WorktreeLeft, "what became of its worktree, where it had one"]]
    worktreeProblem: NotRequired[Annotated[str, "why its worktree did not come back"]]


class Read(Warned):
    ok: bool
    unread: bool
    changed: bool


class Deleted(Done):
    sessionId: str
    deletedAt: str
    worktree: NotRequired[Annotated[WorktreeLeft, "what became of its worktree, where it had one"]]


class TrashedChat(TypedDict):
    sessionId: str
    name: str
    createdAt: str | None
    deletedAt: str


class Trash(TypedDict):
    chats: list[TrashedChat]
