"""Turns of a scripted ACP agent in real turn processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import BASE, Running, World
from workspace.engines import sandbox

STUB = BASE / "tests" / "stubs" / "acp_agent.py"
BWRAP = sandbox.probe("auto", hide=(), scratch="/tmp")


class Agents(World):
    """A project whose engine is the scripted agent `stub`."""

    def script(self, *prompts: list[dict[str, Any]], **can: Any) -> None:
        """What the agent does at each prompt of a session, and what it is able to."""
        self.path.write_text(json.dumps({"can": can, "prompts": prompts}))

    @property
    def path(self) -> Path:
        return self.root / "script.json"

    @property
    def offers(self) -> Path:
        """Where the engine keeps what is its own."""
        return self.root / "engines" / "acp"

    def fields(self, **given: Any) -> dict[str, Any]:
        agent = {"command": [sys.executable, str(STUB), str(self.path)]} | given.pop("agent", {})
        keys = given.pop("keys", {})
        cfg = {"settings": {"agents": {"stub": agent}}, "keys": keys, "data": str(self.offers)}
        standard: dict[str, Any] = {"engine": "acp", "model": "stub", "engine_cfg": cfg}
        if given.get("mode", "bypassPermissions") != "bypassPermissions":
            standard["attended"] = True  # below it no agent runs without a person
        return standard | given

    def play(self, *steps: dict[str, Any], prompt: str = "Hello", **given: Any) -> list[Any]:
        """The records of one turn in which the agent does these steps."""
        if steps:
            self.script([*steps], **given.pop("can", {}))
        return self.run(prompt, **self.fields(**given))

    def begin(self, *steps: dict[str, Any], **given: Any) -> Running:
        """A turn that is left running."""
        self.script([*steps], **given.pop("can", {}))
        return self.start(self.job("Hello", **self.fields(**given)))

    def log(self, method: str) -> list[dict[str, Any]]:
        """The requests of that kind that agents were sent."""
        path = self.home / ".acp-stub" / "log.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [entry for line in lines if (entry := json.loads(line))["method"] == method]

    def session(self) -> str:
        """The session that the last turn kept."""
        found: str = [one["state"] for one in self.records() if one["type"] == "engine"][-1][
            "session"
        ]
        return found

    def live(self) -> str:
        """What a reader sees of the answer so far."""
        path = self.transcript.with_suffix(".live")
        lines = path.read_text().splitlines() if path.exists() else []
        return "".join(json.loads(line)["s"] for line in lines)


@pytest.fixture
def world(tmp_path: Path) -> Agents:
    pytest.importorskip("acp", reason="agent-client-protocol is not installed (make engine-acp)")
    return Agents(tmp_path)
