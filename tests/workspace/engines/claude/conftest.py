"""Turns of the real Claude Code, asking a scripted model: one place for all tests of the engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stubs import anthropic
from tests.workspace.turns import Running, World
from workspace.engines.base import Job

KEY = "sk-ant-stub-0123456789"
AWAY = "claude-agent-sdk is not installed (requirements-claude.txt)"


class Desk:
    """A project, a scripted model, and turns of the claude engine on one chat after the other."""

    def __init__(self, root: Path, stub: anthropic.Stub) -> None:
        self.world, self.stub = World(root), stub

    @property
    def project(self) -> Path:
        return self.world.project

    @property
    def conversations(self) -> list[Path]:
        return sorted((self.world.root / "data/engines/claude").glob("alpha/*/*.jsonl"))

    def job(self, prompt: str = "Go", **fields: Any) -> Job:
        """A turn that may use Read, in default mode, with a key; `settings` = engines.claude."""
        own = {"baseUrl": self.stub.url} | fields.pop("settings", {})
        keys = fields.pop("keys", {"ANTHROPIC_API_KEY": KEY})
        cfg = {
            "tools": {},
            "keys": keys,
            "settings": own,
            "data": str(self.world.root / "data/engines/claude"),
            "home": str(self.world.root / "home"),
            "local_url": "",
        }
        standard = {"tools": ["Read"], "mode": "default", "sender": {"kind": "trigger"}}
        told = standard | {"engine_cfg": cfg, "secrets": tuple(keys.values())} | fields
        return self.world.job(prompt, engine="claude", **told)

    def start(self, prompt: str = "Go", **fields: Any) -> Running:
        return self.world.start(self.job(prompt, **fields))

    def run(self, prompt: str = "Go", **fields: Any) -> list[dict[str, Any]]:
        """The records of a turn that ends by itself."""
        running = self.start(prompt, **fields)
        code, log = running.end()
        assert code == 0, log
        assert self.stub.unscripted == [], log
        return self.world.records(running.job.turn)

    def chat(self) -> str:
        """From here on another, empty chat."""
        from workspace import ids

        self.world.chat = ids.session_id()
        return self.world.chat


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    if importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip(AWAY)
    with anthropic.serve() as stub:
        yield Desk(tmp_path, stub)
