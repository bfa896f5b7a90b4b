"""What the doctor says of engines and of the sandbox."""

from __future__ import annotations

import dataclasses

import pytest

from config.network import NetworkSetting
from workspace import doctor
from workspace.engines import select
from workspace.engines.base import Probe
from workspace.engines.sandbox import Sandbox


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Only the local models are there, and bubblewrap works."""
    found = {
        "runbook": Probe(True, version="1"),
        "claude": Probe(False, "not installed (make engine-claude)"),
        "builtin": Probe(True, None, "2.68.0", ("local:llama3",)),
        "acp": Probe(False, "not configured (engines.acp.agents)", "0.12.1"),
    }
    monkeypatch.setattr(select, "probe", found.get)
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("bwrap", "auto"))


def lines() -> dict[str, tuple[str, str]]:
    return {one.subject: (one.level, one.text) for one in doctor.engines()}


def test_each_engine_is_told_with_what_it_lacks_and_the_one_that_runs_with_why():
    found = lines()

    assert found["engine runbook"] == ("ok", "1")
    assert found["engine claude"] == ("hint", "not installed (make engine-claude)")
    assert found["engine builtin"] == ("ok", "2.68.0, local:llama3")
    assert found["engine acp"] == ("hint", "not configured (engines.acp.agents)")
    assert found["engine"][0] == "ok"
    assert found["engine"][1].startswith("builtin: the first model engine that can run here")
    assert found["sandbox"] == ("ok", "bubblewrap confines what agents run")


@pytest.mark.django_db
def test_projects_on_the_machines_own_network_are_a_hint(settings, tmp_path):
    assert "network" not in lines()
    settings.PROJECTS_DIR = tmp_path
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha/project.yaml").write_text("name: Alpha\n")
    settings.SVC = dataclasses.replace(settings.SVC, network=NetworkSetting("host"))

    level, text = lines()["network"]

    assert level == "hint"
    assert text.startswith("Commands of agents in alpha and every new project use this")


def test_a_sandbox_that_is_off_is_a_hint_and_a_missing_forced_one_a_fault(monkeypatch):
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("off", "auto", "not installed"))
    assert lines()["sandbox"][0] == "hint"

    missing = Sandbox("unavailable", "bwrap", "not installed")
    monkeypatch.setattr(select, "confinement", lambda: missing)
    assert lines()["sandbox"] == (
        "fault", "No turn can run, the sandbox is unavailable: not installed.",
    )  # fmt: skip
