"""When the gate is asked: after the call is a record, and in any case before it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from tests.workspace.engines.claude.conftest import Desk
from workspace.engines.base import Job, ToolUse, TurnIO
from workspace.engines.claude import conversation, setup
from workspace.engines.claude.conversation import Attempt
from workspace.engines.claude.memory import Start
from workspace.engines.mcp.hosting import Servers

READ: Any = {"tool_name": "Read", "tool_input": {"file_path": "a.txt"}}


class Asked:
    """A turn that notes what its gate is asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def gate(self, tool: str, args: dict[str, Any], call: str) -> str | None:
        self.calls.append(call)
        return "not today"


def attempt(job: Job, io: Asked) -> Attempt:
    Path(job.run_dir).mkdir(parents=True, exist_ok=True)
    return Attempt(job, cast("TurnIO", io), setup.TurnFiles(job), Start("Go"), Servers())


def test_the_gate_waits_until_the_call_is_a_record(desk: Desk):
    async def play() -> Any:
        asked = asyncio.ensure_future(one.gate(READ, "c1", cast("Any", None)))
        for _ in range(10):
            await asyncio.sleep(0)
        assert io.calls == []
        await one.tell(ToolUse("Read", "c1", READ["tool_input"]))
        return await asked

    io = Asked()
    one = attempt(desk.job(), io)

    answer = asyncio.run(play())["hookSpecificOutput"]

    assert io.calls == ["c1"]
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == (
        "deny",
        "not today",
    )


def test_a_call_that_is_never_told_is_judged_all_the_same(desk: Desk, monkeypatch):
    monkeypatch.setattr(conversation, "TOLD_S", 0.01)
    io = Asked()
    one = attempt(desk.job(), io)

    asyncio.run(one.gate(READ, "c1", cast("Any", None)))

    assert io.calls == ["c1"]
