"""The fourteen operations, declared once: REST, /mcp and running turns all go through REGISTRY.

Order is that of tools/list (workspace.md 6.3). Permission is the principal's (access/), behaviour
the nouns' (projects, chats/, triggers/); here is only what joins a name to both.
"""

from __future__ import annotations

from config.kernel.operations import Registry
from workspace.operations import chats, projects, triggers

REGISTRY = Registry()
for _operation in (
    projects.LIST_PROJECTS,
    chats.LIST_CHATS,
    chats.READ_CHAT,
    chats.CREATE_CHAT,
    chats.FORK_CHAT,
    chats.SEND_MESSAGE,
    chats.ARCHIVE_CHAT,
    chats.UNARCHIVE_CHAT,
    chats.FORK_CHAT_BATCH,
    projects.CREATE_PROJECT,
    triggers.LIST_TRIGGERS,
    triggers.SET_TRIGGER,
    triggers.REMOVE_TRIGGER,
    triggers.RUN_TRIGGER,
):
    REGISTRY.add(_operation)
