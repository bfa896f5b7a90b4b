"""What the server says of agents when it starts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import pytest

from config.network import NetworkSetting
from workspace import boot, doctor
from workspace.engines import sandbox, select
from workspace.engines.sandbox import Sandbox


@pytest.fixture(autouse=True)
def ordinary(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    select.probe_again()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    yield
    select.probe_again()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Sandbox("bwrap", "auto"), []),
        (
            Sandbox("off", "auto", "bubblewrap is not installed"),
            [
                "Commands of agents run without a sandbox (bubblewrap is not installed): a command "
                "of a turn can do all that its user can, through this service as well."
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


def test_projects_on_the_machines_own_network_are_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, settings, tmp_path, db
):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("bwrap", "auto"))
    settings.PROJECTS_DIR = tmp_path
    for name, network in (("alpha", ""), ("beta", "guarded"), ("gamma", "host")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "project.yaml").write_text(f"name: One\nnetwork: {network}\n")
    listed = NetworkSetting("host", ports=(8190,))
    settings.SVC = dataclasses.replace(settings.SVC, network=listed, port=8190)

    boot.Agents().start()

    assert caplog.messages == [
        "Commands of agents in alpha, gamma and every new project use this machine's own network "
        "(network: host): they can reach this service and everything that listens here.",
        "engines.network: hostPorts: 8190 is this service's own port (main), which nothing opens: "
        "not used",
    ]


def test_what_the_settings_name_and_is_not_used_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, settings
):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("bwrap", "auto"))
    agents = {"good": {"command": ["sh"]}, "bad": {"comand": ["sh"]}}
    notify = [{"name": "desk", "comand": ["sh"], "command": ["sh"], "events": ["asked"]}]
    settings.SVC = dataclasses.replace(
        settings.SVC, engines={"acp": {"agents": agents}}, notify=notify
    )

    boot.Agents().start()

    agent, channel = caplog.messages
    assert agent.startswith("engines.acp.agents.bad.comand is not known; use command, env,")
    assert agent.endswith("ownInstructions: not used")
    assert channel == (
        "notify desk: comand: is not a key of a command channel "
        "(name, events, command, env); not used"
    )
    hints = [one.text for one in doctor.engines() if one.subject == "ACP agents"]
    assert hints == [agent]


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
