"""A world and a scripted model for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stubs import openai
from tests.workspace.engines.builtin.talk import Talk
from tests.workspace.turns import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def stub() -> Iterator[openai.Stub]:
    with openai.serve() as served:
        yield served
        assert served.unscripted == []


@pytest.fixture
def talk(world: World, stub: openai.Stub) -> Talk:
    return Talk(world, stub, "local:m")
