"""When the claude engine is available, and what its program is given: without starting it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import World
from workspace.engines.base import Job
from workspace.engines.claude import ENGINE, setup

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-stub"}


@pytest.fixture
def installed() -> None:
    if importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip("claude-agent-sdk is not installed: requirements-claude.txt")


def cfg(tmp_path: Path, keys: dict[str, str] | None = None, **settings: Any) -> dict[str, Any]:
    return {"settings": settings, "keys": keys or {}, "home": str(tmp_path)}


@pytest.mark.parametrize(
    ("keys", "settings", "reason"),
    [
        (KEYS, {}, None),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "t"}, {}, None),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, {}, None),
        ({}, {}, "without a key: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN"),
        ({"AWS_REGION": "x"}, {}, "without a key"),
        ({}, {"baseUrl": "http://127.0.0.1:1"}, "without a key"),
        (KEYS, {"passKey": False}, "without a login: passKey is off"),
        ({}, {"passKey": False, "baseUrl": "http://127.0.0.1:1"}, None),
        (KEYS, {"baseUrl": "ftp://x"}, "not usable: engines.claude.baseUrl"),
        (KEYS, {"useHostLogin": True}, "without a login: no one has run claude"),
    ],
)
def test_it_is_available_with_a_way_to_log_in(installed, tmp_path, keys, settings, reason):
    found = ENGINE.probe(cfg(tmp_path, keys, **settings))

    assert found.available == (reason is None)
    assert (found.reason or "").startswith(reason or "")
    assert found.version


def test_the_login_of_the_host_is_used_only_when_it_is_asked_for(installed, tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/.credentials.json").write_text("{}")

    assert not ENGINE.probe(cfg(tmp_path)).available
    assert ENGINE.probe(cfg(tmp_path, useHostLogin=True)).available

    own = cfg(tmp_path, KEYS, useHostLogin=True) | {"data": str(tmp_path / "data")}
    place = setup.TurnFiles(World(tmp_path).job("Go", engine_cfg=own))
    assert (place.config / ".credentials.json").resolve() == setup.login(own)
    assert "ANTHROPIC_API_KEY" not in place.environment()


def test_it_is_not_available_without_its_package(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = ENGINE.probe(cfg(tmp_path, KEYS))
    assert (found.available, found.reason) == (False, "not installed (make engine-claude)")


def job(world: World, **fields: Any) -> Job:
    return world.job("Go", **fields)


@pytest.mark.parametrize(
    ("fields", "tools"),
    [
        ({"tools": []}, []),
        ({"tools": ["Read", "Read", "Nothing", "mcp__x__y", "Monitor"]}, ["Read", "Monitor"]),
        ({"tools": ["CronCreate", "ScheduleWakeup", "Workflow", "default", "*"]}, []),
        ({"tools": ["Task", "Read"]}, ["Read"]),
        ({"tools": ["Task", "Read"], "may_spawn": True}, ["Task", "Read"]),
        ({"mode": "plan"}, ["Read", "Glob", "Grep", "WebFetch", "WebSearch"]),
        ({"mode": "plan", "tools": ["Write", "Skill", "Task"], "may_spawn": True}, []),
    ],
)
def test_the_tools_it_is_started_with_are_the_turns_own(tmp_path, fields, tools):
    assert setup.tools(job(World(tmp_path), **fields)) == tools


@pytest.mark.parametrize("model", ["-p", "--model=x", "a b", "", "x" * 300, "a\nb", "a;b"])
def test_what_is_no_name_of_a_model_is_refused(tmp_path, model):
    assert "is not the name of a model" in (
        ENGINE.preflight(job(World(tmp_path), model=model)) or ""
    )


@pytest.mark.parametrize(
    "model", [None, "opus", "claude-opus-5-5", "sonnet[1m]", "eu.anthropic.claude-x-v1:0", "a/b@1"]
)
def test_names_of_models_are_taken(tmp_path, model):
    assert ENGINE.preflight(job(World(tmp_path), model=model)) is None


def test_conversations_are_kept_where_only_the_service_user_looks(tmp_path):
    own = cfg(tmp_path) | {"data": str(tmp_path / "engines" / "claude")}

    place = setup.TurnFiles(World(tmp_path).job("Go", engine_cfg=own))

    assert place.store == tmp_path / "engines/claude/alpha"
    modes = [path.stat().st_mode & 0o777 for path in (place.store, place.store.parent)]
    assert modes == [0o700, 0o700]
