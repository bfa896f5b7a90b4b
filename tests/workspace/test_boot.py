"""What the server says of agents when it starts (engine.md 11 and 12)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from workspace import boot
from workspace.engines import sandbox, select
from workspace.engines.sandbox import Sandbox


@pytest.fixture(autouse=True)
def ordinary(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    select.confinement.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    yield
    select.confinement.cache_clear()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Sandbox("bwrap", "auto"), []),
        (
            Sandbox("off", "auto", "bubblewrap is not installed"),
            [
                "Agent commands run without a sandbox: bubblewrap is not installed. "
                "Install bubblewrap or set SVC_SANDBOX."
            ],
        ),
    ],
)
def test_a_missing_sandbox_is_one_warning_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    state: Sandbox,
    said: list[str],
):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: state)

    boot.Agents().start()

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", line) for line in said
    ]


def test_a_service_of_root_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("bwrap", "auto"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    boot.Agents().start()

    assert caplog.messages == [
        "The service runs as root, and so do its agents: run it as a user of its own."
    ]


@pytest.mark.parametrize("passed", [True, False])
def test_a_key_that_commands_can_see_is_warned_about(monkeypatch, caplog, passed):
    pytest.importorskip("claude_agent_sdk", reason="the claude extra is not installed")
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("bwrap", "auto"))
    own = {"passKey": passed, "baseUrl": "http://127.0.0.1:1"}
    cfg = {"settings": own, "keys": {"ANTHROPIC_API_KEY": "sk-ant-stub"}}
    monkeypatch.setattr(select, "engine_cfg", lambda engine: cfg)

    boot.Agents().start()

    seen = "claude: the model key is visible to commands the agent runs (engines.claude.passKey); "
    assert caplog.messages == ([f"{seen}use a key with a spending limit"] if passed else [])


def test_the_server_starts_it(settings):
    assert "workspace.boot.Agents" in settings.SVC_BACKGROUND
