"""The tool calls of a turn that run at the moment: started, allowed, and still without a result.

A finished call is one line of the stream, sent with its result; until then this is all that is
known about the call. Built from records in file order.
"""

from __future__ import annotations

from typing import Any

from workspace.chats.lines import Record


class RunningCalls:
    """The running calls, in the order they began. A call that waits for a person does not run."""

    def __init__(self) -> None:
        self._uses: dict[str, dict[str, Any]] = {}
        self._asked: set[str] = set()

    def note(self, record: Record) -> None:
        call = str(record.get("call"))
        match record["type"]:
            case "turn_start" | "turn_end" | "turn_wait":
                self._uses, self._asked = {}, set()
            case "tool_use":
                self._uses[call] = {
                    "call": call,
                    "name": str(record.get("tool") or ""),
                    "target": str(record.get("target") or ""),
                    "startedAt": record.get("ts"),
                }
            case "tool_result":
                self._uses.pop(call, None)
                self._asked.discard(call)
            case "permission" if record.get("state") == "asked":
                self._asked.add(call)
            case "permission":
                self._asked.discard(call)
                if call in self._uses:
                    self._uses[call]["startedAt"] = record.get("ts")

    def view(self) -> list[dict[str, Any]]:
        """[{call, name, target, startedAt}]"""
        return [use for call, use in self._uses.items() if call not in self._asked]
