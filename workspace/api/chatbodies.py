# ruff: noqa: N815 - the names are the JSON keys of the contract
"""What the chat routes take and answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers as s

from config.kernel.web import rest
from workspace.api import shapes
from workspace.api.answers import Page
from workspace.chats import attachments
from workspace.chats.turns.queue import PROMPT_MAX

CHAT_KEYS = frozenset(shapes.Chat().fields)


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


def attached() -> s.ListField:
    return s.ListField(
        child=rest.Text(max_length=300),
        max_length=attachments.MOST,
        required=False,
        help_text="`path` of attachments, named at the end of the prompt",
    )


class NewChat(s.Serializer[Any]):
    prompt = prompt(required=False)
    attachments = attached()
    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    model = rest.Text(required=False, allow_null=True, allow_blank=True)
    preloadContext = s.BooleanField(required=False)


class NewMessage(s.Serializer[Any]):
    prompt = prompt(required=True)
    attachments = attached()
    model = rest.Text(required=False, allow_null=True, allow_blank=True)


class Rename(s.Serializer[Any]):
    """null = the automatic name."""

    name = rest.Text(required=False, allow_null=True, allow_blank=True)


class Archive(s.Serializer[Any]):
    archived = s.BooleanField(default=True)


class ReadTo(s.Serializer[Any]):
    """`offset` of the last message that was shown; left out = the whole chat."""

    offset = s.IntegerField(min_value=0, max_value=2**63 - 1, required=False)


class Fork(s.Serializer[Any]):
    turn = rest.Text(
        required=False, allow_null=True, help_text="the last turn to copy; the last finished one"
    )
    prompt = prompt(required=False)
    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    model = rest.Text(required=False, allow_null=True, allow_blank=True)


class Permit(s.Serializer[Any]):
    allow = s.BooleanField()


class ChatList(shapes.Shape):
    chats = shapes.Chat(many=True)
    next = s.CharField(allow_null=True)
    omittedArchived = s.IntegerField()


class OneChat(shapes.Warned):
    chat = shapes.Chat()


class Started(OneChat):
    messageId = s.CharField(allow_null=True)
    state = s.CharField(allow_null=True)


class Forked(OneChat):
    messageId = s.CharField(required=False)
    state = s.CharField(required=False)


class ChatPage(shapes.Shape):
    chat = shapes.Chat()
    queue = shapes.QueueRow(many=True)


class MessagePage(shapes.Shape):
    messages = shapes.Message(many=True)
    total = s.IntegerField()
    next = s.IntegerField(allow_null=True)
    turns = s.ListField(child=s.DictField(), required=False)


class Sent(shapes.Warned):
    sent = s.BooleanField()
    messageId = s.CharField()
    state = s.CharField()
    position = s.IntegerField()


class Done(shapes.Shape):
    ok = s.BooleanField()


class Stopped(Done):
    stopped = s.BooleanField()


class Resumed(Done):
    resumed = s.IntegerField()


class Archived(shapes.Warned):
    ok = s.BooleanField()
    archived = s.BooleanField()
    changed = s.BooleanField()


class Read(shapes.Warned):
    ok = s.BooleanField()
    unread = s.BooleanField()
    changed = s.BooleanField()


class Deleted(Done):
    sessionId = s.CharField()
    deletedAt = s.CharField()


class TrashedChat(shapes.Shape):
    sessionId = s.CharField()
    name = s.CharField()
    createdAt = s.CharField(allow_null=True)
    deletedAt = s.CharField()


class Trash(shapes.Shape):
    chats = TrashedChat(many=True)


class Permitted(shapes.Warned):
    ok = s.BooleanField()
    allow = s.BooleanField()
