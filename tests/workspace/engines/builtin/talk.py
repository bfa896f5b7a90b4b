"""A chat of the builtin engine with a scripted model: each turn is a real turn process."""

from __future__ import annotations

from typing import Any

from tests.stubs import anthropic, openai
from tests.workspace.chats.turns.world import Running, World, only
from workspace.engines.builtin import servers

KEY = "sk-dummy-0123456789abcdef"
Record = dict[str, Any]


class Talk:
    """One chat. `model` is local:m at an OpenAI-compatible stub unless another is named."""

    def __init__(self, world: World, stub: openai.Stub | anthropic.Stub, model: str) -> None:
        self.world, self.stub, self.model = world, stub, model
        self.settings: dict[str, Any] = {}
        server = model.partition(":")[0]
        self.keys = {servers.KEYS[server]: KEY} if server in servers.KEYS else {}
        if self.keys:
            self.settings[server] = {"baseUrl": stub.url}

    def fields(self, **more: Any) -> dict[str, Any]:
        """What the worker puts into a job of this engine."""
        cfg = {"tools": {}, "keys": self.keys, "settings": self.settings, "local_url": ""}
        if not self.keys:
            cfg["local_url"] = self.stub.url
        standard = {
            "engine": "builtin",
            "model": self.model,
            "engine_cfg": cfg,
            "secrets": tuple(self.keys.values()),
            "may_spawn": True,
        }
        return standard | more

    def run(self, prompt: str = "Go on", **more: Any) -> list[Record]:
        """The records of one turn that ends by itself."""
        return self.world.run(prompt, **self.fields(**more))

    def start(self, prompt: str = "Go on", **more: Any) -> Running:
        return self.world.start(self.world.job(prompt, **self.fields(**more)))


def end(records: list[Record]) -> tuple[str, str | None]:
    return records[-1]["status"], records[-1]["reason"]


def of(records: list[Record], kind: str) -> list[Record]:
    return [record for record in records if record["type"] == kind]


def result(records: list[Record]) -> tuple[bool, str]:
    """(is_error, text) of the only tool result."""
    found = only(records, "tool_result")
    return found["is_error"], found["text"]


def notices(records: list[Record]) -> list[str]:
    return [record["code"] for record in of(records, "notice")]
