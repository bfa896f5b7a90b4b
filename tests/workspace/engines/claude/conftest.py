"""Turns of the real Claude Code, asking a scripted model: one place for all tests of the engine."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stubs import anthropic
from tests.workspace.chats.turns.world import BASE, Running, World
from workspace import ids
from workspace.engines.base import Job

KEY = "sk-ant-stub-0123456789"
AWAY = "claude-agent-sdk is not installed: requirements-claude.txt"
PATCHED = """\
import sys
from workspace.chats.turns import process
{patch}
sys.exit(process.main(sys.argv))
"""
Record = dict[str, Any]


class Desk:
    """A project, a scripted model, and turns of the claude engine in one chat after the other."""

    def __init__(self, root: Path, stub: anthropic.Stub) -> None:
        self.world, self.stub = World(root), stub

    @property
    def project(self) -> Path:
        return self.world.project

    @property
    def store(self) -> Path:
        """What the engine keeps, one conversation per file."""
        return self.world.root / "data/engines/claude"

    @property
    def conversations(self) -> dict[str, Path]:
        return {path.stem: path for path in self.store.glob("alpha/*/*.jsonl")}

    def job(self, prompt: str = "Go", **fields: Any) -> Job:
        """A turn that may use Read, unattended, with a key; `settings` = engines.claude."""
        keys = fields.pop("keys", {"ANTHROPIC_API_KEY": KEY})
        cfg = {
            "tools": {},
            "keys": keys,
            "settings": {"baseUrl": self.stub.url} | fields.pop("settings", {}),
            "data": str(self.store),
            "home": str(self.world.root / "user"),
            "local_url": "",
        }
        standard = {"tools": ["Read"], "mode": "default", "sender": {"kind": "trigger"}}
        cwd = fields.pop("cwd", str(self.project))
        told = standard | {"engine_cfg": cfg, "secrets": tuple(keys.values())} | fields
        return self.world.job(prompt, engine="claude", **told)._replace(cwd=cwd)

    def start(self, prompt: str = "Go", *, patch: str = "", **fields: Any) -> Running:
        """A turn process; `patch` is code that runs in it before the turn."""
        job = self.job(prompt, **fields)
        if not patch:
            return self.world.start(job)
        script = self.world.root / "patched.py"
        script.write_text(PATCHED.format(patch=patch))
        child = subprocess.Popen(
            [sys.executable, str(script), job.chat, job.turn],
            env=self.world.environ(job) | {"PYTHONPATH": str(BASE)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        running = Running(self.world, job, child)
        running.send(job.to_json())
        return running

    def end(self, running: Running) -> list[Record]:
        """Its records, once it has ended by itself; the model was asked nothing unforeseen."""
        code, log = running.end()
        assert code == 0, log
        assert self.stub.unscripted == [], log
        return self.world.records(running.job.turn)

    def run(self, prompt: str = "Go", **fields: Any) -> list[Record]:
        return self.end(self.start(prompt, **fields))

    def new_chat(self) -> str:
        """From here on another, empty chat."""
        self.world.chat = ids.session_id()
        return self.world.chat

    def fork(self) -> str:
        """From here on a fork of the chat: the same bytes under another name."""
        data = self.world.transcript.read_bytes()
        chat = self.new_chat()
        self.world.transcript.write_bytes(data)
        return chat

    def live(self) -> str:
        """What a watcher of the chat has been shown of the running turn."""
        path = self.world.transcript.with_suffix(".live")
        lines = path.read_text().splitlines() if path.exists() else []
        return "".join(json.loads(line)["s"] for line in lines)


def of(records: list[Record], kind: str) -> list[Record]:
    return [record for record in records if record["type"] == kind]


def ended(records: list[Record]) -> tuple[str, str | None]:
    return records[-1]["status"], records[-1]["reason"]


def results(records: list[Record]) -> dict[str, tuple[bool, str]]:
    """tool -> (is_error, text), for turns that call each tool once."""
    uses = {record["call"]: record["tool"] for record in of(records, "tool_use")}
    return {uses[r["call"]]: (r["is_error"], r["text"]) for r in of(records, "tool_result")}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    if importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip(AWAY)
    with anthropic.serve() as stub:
        yield Desk(tmp_path, stub)
