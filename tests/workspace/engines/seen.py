"""Pictures as a message brings them along, and as a request to a model holds them."""

from __future__ import annotations

import base64
from typing import Any

from tests.stubs.anthropic import Asked
from tests.workspace.chats.turns.world import World

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
DATA = base64.b64encode(PNG).decode()


def attached(world: World, name: str = "shot-0a1b2c3d4e5f.png", data: bytes = PNG) -> str:
    """Where a file lies that goes along with a message."""
    folder = world.project / ".svc/attachments"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return str(folder / name)


def pictures(asked: Asked) -> list[str]:
    """The pictures of a request to an OpenAI-compatible server, as their URLs."""
    parts: list[Any] = [
        part
        for message in asked.body["messages"]
        if isinstance(message.get("content"), list)
        for part in message["content"]
    ]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
