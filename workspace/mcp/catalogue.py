"""The catalogue of MCP operations: what /mcp and running turns may call, by name.

Principals decide permissions (access/), nouns the behaviour (projects, chats/, triggers/); this
module only connects names to both. What is not in the catalogue only people can do, over REST.

The operations are in the order of tools/list. Each declares its group and whether it can lead to
code being run (docs/design/workspace.md#scope-and-operations). All descriptions and schemas
together stay under 10 KB.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from config.mcp import brief
from config.mcp.operations import Argument, Operation, Registry
from config.network import MODES
from workspace.mcp import chats, projects, triggers, waiting
from workspace.projects.schema import PERMISSION_MODES, STATUSES
from workspace.triggers.entries.catalogue import EVENTS, TRIGGER_TYPES

NO_PROJECT, NO_CHAT = ("there is no current " + what + " over /mcp" for what in ("project", "chat"))
PROJECT = Argument("project", "string", "Project slug", required=True, absent=NO_PROJECT)
SESSION = Argument("session_id", "string", "Chat id", required=True, absent=NO_CHAT)
MODEL = Argument("model", "string", "Model or engine, from now on in this chat")
NAME = Argument("name", "name", "Its name; automatic when left out")
PROMPT = Argument("prompt", "text", required=True)
TRIGGER = Argument("name", "string", "Name of the trigger", required=True)
KEY = Argument("key", "string", "Sent again: done once")
ON_ASK = Argument("on_ask", "string", "What a person must approve", choices=("deny", "wait"))

OPERATIONS = (
    Operation(
        name="list_projects",
        group="read",
        description="List the projects of this workspace.",
        run=projects.list_projects,
        read_only=True,
        project_argument=None,
    ),
    Operation(
        name="list_chats",
        group="read",
        description="List chats, newest first: of one project, or of all. "
        "`running` tells whether a turn is in progress.",
        run=chats.list_chats,
        pause=waiting.for_list,
        read_only=True,
        arguments=(
            Argument("project", "string", "Only this project"),
            Argument("include_archived", "boolean", default=False),
            Argument("running", "boolean", "Only with a live turn", default=False),
            Argument("limit", "integer", default=chats.LISTED, least=1, most=500),
            Argument("before", "string", "Older ones: `next` of the page before"),
            brief.FIELDS,
            replace(
                waiting.WAIT,
                meaning="Wait so long for a turn to begin or end, or for a chat newer than `after`",
            ),
            Argument("after", "string", "An updatedAt"),
        ),
    ),
    Operation(
        name="read_chat",
        group="read",
        description="Read the last messages of a chat, oldest first, with one line per tool used. "
        "Texts are cut to 2000 characters unless `full`.",
        run=chats.read_chat,
        pause=waiting.for_chat,
        read_only=True,
        arguments=(
            PROJECT,
            SESSION,
            Argument("limit", "integer", default=chats.READ, least=1, most=200, clamp=True),
            Argument("before", "integer", "Older ones: `next` of an earlier answer", least=0),
            Argument("after", "integer", "Later ones: `after` of an earlier answer", least=0),
            Argument("full", "boolean", "Whole texts", default=False),
            replace(
                waiting.WAIT,
                meaning="Wait so long for the end of its turns, or for what comes `after`",
            ),
        ),
    ),
    Operation(
        name="create_chat",
        group="write",
        description="Start a chat: its first turn begins at once, or waits for a free slot. "
        "Returns before the turn ends; read_chat tells the rest.",
        run=chats.create_chat,
        open_world=True,
        code_execution=True,
        arguments=(
            PROJECT,
            PROMPT,
            NAME,
            Argument("preload_context", "boolean", "Curated documents first", default=False),
            MODEL,
            ON_ASK,
            KEY,
        ),
    ),
    Operation(
        name="fork_chat",
        group="write",
        description="Copy a chat up to its last finished turn. "
        "With a prompt the copy goes on at once.",
        run=chats.fork_chat,
        open_world=True,
        code_execution=True,
        arguments=(
            PROJECT,
            SESSION,
            Argument("prompt", "text", "Its own task; without one no turn starts"),
            NAME,
            MODEL,
        ),
    ),
    Operation(
        name="send_message",
        group="write",
        description="Send a message to a chat. It is queued after what runs or waits there.",
        run=chats.send_message,
        open_world=True,
        code_execution=True,
        arguments=(PROJECT, SESSION, PROMPT, MODEL, ON_ASK, KEY),
    ),
    Operation(
        name="archive_chat",
        group="write",
        description="Archive a chat. A real change fires onArchive triggers.",
        run=partial(chats.set_archived, archived=True),
        idempotent=True,
        arguments=(PROJECT, SESSION),
    ),
    Operation(
        name="unarchive_chat",
        group="write",
        description="Bring an archived chat back.",
        run=partial(chats.set_archived, archived=False),
        idempotent=True,
        arguments=(PROJECT, SESSION),
    ),
    Operation(
        name="fork_chat_batch",
        group="write",
        description="Fork a chat once per prompt, at most 20, all running side by side.",
        run=chats.fork_chat_batch,
        open_world=True,
        code_execution=True,
        needs="fork_chat",
        arguments=(
            PROJECT,
            SESSION,
            Argument(
                "prompts",
                "prompts",
                "One task per fork",
                required=True,
                absent="one prompt per line, or a JSON array of strings",
            ),
            Argument("name_prefix", "name", "Forks are called `<name_prefix> <n>`"),
            MODEL,
        ),
    ),
    Operation(
        name="create_project",
        group="write",
        description="Make a project: an empty directory, or a clone of `repo`.",
        run=projects.create_project,
        open_world=True,
        code_execution=True,
        project_argument=None,
        arguments=(
            Argument("name", "name", "Display name", required=True),
            Argument("slug", "string", "Directory name; from the name when left out"),
            Argument("repo", "string", "URL to clone"),
            Argument("summary", "string", "One line"),
            Argument("area", "string", "Group it is listed under"),
            Argument("status", "string", choices=STATUSES, judged=True),
        ),
    ),
    Operation(
        name="list_triggers",
        group="trigger",
        description="List triggers (schedules, event hooks) with state, next times, last run; "
        "legacy schedules; entries that are not valid.",
        run=triggers.list_triggers,
        read_only=True,
        arguments=(
            PROJECT,
            Argument("name", "string", "Only this one, whole"),
            brief.FIELDS,
            Argument("limit", "integer", default=triggers.LISTED, least=1, most=1000),
        ),
    ),
    Operation(
        name="set_trigger",
        group="trigger",
        description="Create or change a trigger. What is left out stays; null clears. "
        "New ones are off unless enabled.",
        run=triggers.set_trigger,
        destructive=True,
        idempotent=True,
        code_execution=True,
        arguments=(
            PROJECT,
            TRIGGER,
            Argument("type", "string", choices=TRIGGER_TYPES),
            Argument("event", "string", choices=EVENTS),
            Argument("cron", "string", "Schedule: 5 fields or @daily"),
            Argument("timezone", "string", "Of cron; null: the project's", nullable=True),
            Argument("interval", "string", "Schedule: 30m, 1h"),
            Argument("path", "string", "Webhook (stored, never fired)"),
            Argument("prompt", "text", "Or prompt_file; one clears the other"),
            Argument("prompt_file", "string", ".md below .svc/triggers/, read at each firing"),
            Argument("session", "string", choices=("new", "resume")),
            Argument("tools", "list", "Allow-list. Empty: schedule all tools, event none"),
            Argument("model", "string", nullable=True),
            Argument("permission_mode", "string", choices=PERMISSION_MODES, nullable=True),
            Argument("network", "string", choices=MODES, judged=True, nullable=True),
            Argument("max_spawn_depth", "integer", "0 = may not start chats", nullable=True),
            Argument("max_turns", "integer", "Default 30", nullable=True),
            Argument("overlap", "string", choices=("skip", "queue", "parallel"), nullable=True),
            Argument("catch_up", "string", choices=("skip", "once"), nullable=True),
            Argument("debounce", "string", "Event. Default 30s"),
            Argument("match", "list", "Event: only these"),
            replace(ON_ASK, nullable=True),
            Argument("enabled", "boolean"),
        ),
    ),
    Operation(
        name="remove_trigger",
        group="trigger",
        description="Delete a trigger. Runs already started go on.",
        run=triggers.remove_trigger,
        idempotent=True,
        destructive=True,
        arguments=(PROJECT, TRIGGER),
    ),
    Operation(
        name="run_trigger",
        group="trigger",
        description="Fire a trigger now, enabled or not: starts a real turn.",
        run=triggers.run_trigger,
        open_world=True,
        code_execution=True,
        arguments=(PROJECT, TRIGGER),
    ),
)

REGISTRY = Registry()
for _operation in OPERATIONS:
    REGISTRY.add(_operation)
