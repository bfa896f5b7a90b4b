"""Tool calls of an ACP agent as ours: one tool_use and one tool_result each.

An agent reports a call piece by piece. The pieces are merged here and become an event when the call
runs or when the agent asks permission for it.
"""

from __future__ import annotations

import difflib
import json
import time
from dataclasses import dataclass, field

from config.process.light_typing import Any
from workspace.engines.base import Args, ToolResult, ToolUse

TOOLS = {"read": "Read", "search": "Grep", "edit": "Edit", "execute": "Bash", "fetch": "WebFetch"}
ANYTHING = "Bash"  # calls of a kind that none of our tools stands for count as running commands
SHOWN = {"Read": "file_path", "Edit": "file_path", "Grep": "pattern", "Bash": "command"}
DIFF_LINES = 2000
FIELDS = ("title", "kind", "status", "locations", "content", "raw_input", "raw_output")
SUBAGENTS = ("Task", "Agent", "task")
UNKNOWN_END = "the agent did not say how this call ended"


@dataclass
class Call:
    """One call, as far as it is known. `name` is its id in our transcript, `own` the agent's name
    of the tool, if the agent gives it."""

    name: str
    known: dict[str, Any] = field(default_factory=dict)
    own: str = ""
    began: float = field(default_factory=time.monotonic)
    used: bool = False
    ended: bool = False
    denied: bool = False
    told: bool = False  # the chat knows that the agent went on despite a denial

    def merge(self, update: Any) -> None:
        for key in FIELDS:
            value = getattr(update, key, None)
            if value is not None:
                self.known[key] = value
        self.own = self.own or _own_name(update)

    @property
    def tool(self) -> str:
        """The tool as which the gate judges the call: decided by its kind, never by its name."""
        return TOOLS.get(self.known.get("kind") or "", ANYTHING)

    @property
    def shown(self) -> str:
        """The name of the tool in the chat."""
        if self.own.startswith("mcp__"):
            return self.own
        if self.own in SUBAGENTS and self.tool == ANYTHING:
            return "Task"
        return "Write" if self.tool == "Edit" and self._new_file() else self.tool

    def _new_file(self) -> bool:
        diffs = [item for item in self.known.get("content") or [] if item.type == "diff"]
        made = bool(diffs) and not any(item.old_text for item in diffs)
        return made or self.own.lower() in ("write", "write_file")

    @property
    def running(self) -> bool:
        """Whether enough is known to record the call."""
        return self.known.get("status") in ("in_progress", "completed", "failed")

    @property
    def done(self) -> bool:
        return self.known.get("status") in ("completed", "failed")

    @property
    def paths(self) -> list[str]:
        """Files the call is about, as the agent names them."""
        places = [place.path for place in self.known.get("locations") or []]
        raw = self.known.get("raw_input")
        raw = raw if isinstance(raw, dict) else {}
        given = [raw.get(key) for key in ("file_path", "path", "abs_path", "notebook_path")]
        edits = [item.path for item in self.known.get("content") or [] if item.type == "diff"]
        named = [*places, *(one for one in given if isinstance(one, str)), *edits]
        return list(dict.fromkeys(path for path in named if path))

    def arguments(self, path: str | None = None) -> Args:
        """The agent's own input, with the arguments that our records and the gate expect added."""
        raw = self.known.get("raw_input")
        args: Args = dict(raw) if isinstance(raw, dict) else {} if raw is None else {"input": raw}
        title = self.known.get("title") or ""
        shown = SHOWN.get(self.tool, "url")
        if shown == "file_path":
            args["file_path"] = path or (self.paths[0] if self.paths else title)
        elif shown == "command" and isinstance(args.get(shown), list):
            args[shown] = " ".join(str(word) for word in args[shown])
        else:
            args.setdefault(shown, title)
        if self.tool == "Edit":
            args = self._change() | args
        if self.tool == "Grep" and path:
            args["path"] = path
        if self.known.get("kind") not in TOOLS:
            args["kind"] = self.known.get("kind") or "other"
        if title and title not in args.values():
            args.setdefault("title", title)
        return args

    def _change(self) -> Args:
        """The one change of an edit as arguments of our own tools; {} if there is not just one."""
        diffs = [item for item in self.known.get("content") or [] if item.type == "diff"]
        if len(diffs) != 1:
            return {}
        new, old = diffs[0].new_text, diffs[0].old_text
        return {"old_string": old, "new_string": new} if old else {"content": new}

    def use(self) -> ToolUse:
        self.used = True
        return ToolUse(self.shown, self.name, self.arguments())

    def result(self, text: str | None = None) -> ToolResult:
        """How the call ended; `text` is the reason if it was denied or given up."""
        self.ended = True
        failed = text is not None or self.known.get("status") == "failed"
        ms = round((time.monotonic() - self.began) * 1000)
        return ToolResult(self.name, failed, self._output() if text is None else text, ms)

    def _output(self) -> str:
        texts = [told for item in self.known.get("content") or [] if (told := _text(item))]
        if texts:
            return "\n".join(texts)
        raw = self.known.get("raw_output")
        if raw is None or isinstance(raw, str):
            return raw or ""
        return json.dumps(raw, ensure_ascii=False, default=str)


class Calls:
    """The calls of one turn, by the agent's ids; ours are unique in the whole chat."""

    def __init__(self, turn: str, attempt: int = 1) -> None:
        self._prefix = f"call_{turn[-8:].lower()}" + (f"_{attempt}" if attempt > 1 else "")
        self._calls: dict[str, Call] = {}
        self._plans = 0

    def merge(self, update: Any) -> Call:
        """Merge the update into the call it is about, and return that call."""
        call = self._calls.get(update.tool_call_id)
        if call is None:
            call = Call(self._name())
            self._calls[update.tool_call_id] = call
        call.merge(update)
        return call

    def _name(self) -> str:
        return f"{self._prefix}_{len(self._calls) + self._plans + 1}"

    def plan(self, entries: Any) -> ToolUse:
        """The agent's plan as a TodoWrite call."""
        name = self._name()
        self._plans += 1
        todos = [{"content": one.content, "status": one.status} for one in entries]
        return ToolUse("TodoWrite", name, {"todos": todos})

    def open(self) -> list[Call]:
        return [call for call in self._calls.values() if call.used and not call.ended]


def _own_name(update: Any) -> str:
    """The tool's name: Claude Code sends it in `_meta`, other agents as the first title."""
    for told in (getattr(update, "field_meta", None) or {}).values():
        if isinstance(told, dict) and isinstance(told.get("toolName"), str):
            return str(told["toolName"])
    title = getattr(update, "title", None) or ""
    return title if title and " " not in title else ""


def text_of(block: Any) -> str:
    """A content block as text; a block that is not text is represented by its kind or address."""
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case "resource":
            return str(getattr(block.resource, "text", "") or f"[{block.resource.uri}]")
        case kind:
            return f"[{kind}]"


def _text(item: Any) -> str:
    match item.type:
        case "content":
            return text_of(item.content)
        case "diff":
            return _diff(item.path, item.old_text or "", item.new_text)
        case _:
            return ""


def _diff(path: str, old: str, new: str) -> str:
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > DIFF_LINES:
        return f"{path}: {len(before)} lines before, {len(after)} after"
    return "\n".join(difflib.unified_diff(before, after, path, path, lineterm=""))
