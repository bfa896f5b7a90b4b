"""Lifecycle events that fire triggers: a chat was archived. What ends a chain of them:
docs/design/workspace.md#hooks.
"""

from __future__ import annotations

from workspace.chats import actions, index
from workspace.chats.files import ChatRecord
from workspace.projects import store
from workspace.triggers import firing, runs
from workspace.triggers.entries import files as trigger_files
from workspace.triggers.entries.schema import Event


def chat_archived(record: ChatRecord, principal: actions.Sender) -> None:
    """Fire every enabled onArchive trigger of the chat's project, each as a run of its own.

    Called after the flag is committed, and only if it really changed."""
    project = store.get(record.project)
    event = {"type": "onArchive", "sessionId": record.id, "name": _name(record)}
    fired = []
    for trigger in trigger_files.read(project).triggers.values():
        if trigger.enabled and isinstance(trigger.when, Event) and trigger.when.on == "onArchive":
            run = firing.fire(
                project=project,
                trigger=trigger,
                cause="event",
                actor=_actor(principal),
                client=principal.client,
                clients=principal.clients,
                spawn_cap=principal.spawn_cap if principal.clients else None,
                event=event,
                chain=principal.chain,
            )
            fired.append(run)
    for run in fired:
        if run.status == "queued":
            runs.deliver(run)


def _name(record: ChatRecord) -> str:
    return record.name or index.get(store.get(record.project), record.id).name


def _actor(principal: actions.Sender) -> dict[str, str]:
    here = principal.sender()
    if principal.kind == "agent":
        return {"kind": "chat", "id": here["sessionId"]}
    return {key: here[key] for key in ("kind", "id") if key in here}
