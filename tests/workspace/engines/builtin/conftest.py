"""A world and a scripted model for each test."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from tests.stubs import openai
from tests.workspace.chats.turns.world import World
from tests.workspace.engines.builtin.talk import Talk
from workspace.engines.builtin import PACKAGES


@pytest.fixture(autouse=True)
def the_extra_is_installed() -> None:
    if not all(util.find_spec(package) for package in PACKAGES):
        pytest.skip("the builtin engine is not installed (requirements-models.txt)")


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
