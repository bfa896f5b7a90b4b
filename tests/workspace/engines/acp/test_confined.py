"""An ACP agent is wrapped whole: what the protocol cannot hold, the sandbox does."""

from __future__ import annotations

import pwd
import sys
from typing import Any

import pytest

from tests.workspace.chats.turns.world import kinds, only, until
from tests.workspace.engines.acp.conftest import BWRAP, Agents
from tests.workspace.engines.test_sandbox import failing_once
from workspace.engines.acp import agents
from workspace.engines.sandbox import Sandbox

pytestmark = pytest.mark.skipif(
    BWRAP.mode != "bwrap", reason=f"{BWRAP.reason}: apt-get install bubblewrap"
)


def confined(world: Agents) -> dict[str, Any]:
    hide = tuple(str(world.root / name) for name in ("user", "data", "projects"))
    return {"sandbox": Sandbox("bwrap", "auto", None, hide)}


def test_the_agent_reads_its_project_and_nothing_of_others(world):
    for name in ("user/.ssh/id", "data/svc.sqlite3", "projects/beta/secret"):
        (world.root / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / name).write_text("secret")
    (world.project / "mine").write_text("mine")
    look = f"cat mine; cd {world.root}; cat user/.ssh/id data/svc.sqlite3 projects/beta/secret"
    records = world.play({"run": look}, **confined(world))

    told = only(records, "assistant")["text"]
    assert told.startswith("mine")
    assert told.count("No such file or directory") == 3
    assert "notice" not in kinds(records)  # bypass as root, and confined
    assert records[0]["sandbox"] == "bwrap"


def test_the_agent_writes_its_project_and_home_and_no_transcript(world):
    (world.project / "project.yaml").write_text("name: Alpha\n")
    steps = [
        {"write": [str(world.project / "made"), "x"]},
        {"write": [str(world.home / "made"), "x"]},
        {"write": [str(world.chats / f"{world.chat}.jsonl"), "forged"]},
        {"write": [str(world.project / "project.yaml"), "name: Mine"]},
        {"write": ["/usr/local/made", "x"]},
    ]
    records = world.play(*steps, mode="default", **confined(world))

    assert only(records, "assistant")["text"].count("not written: Read-only file system") == 3
    assert (world.project / "made").exists()
    assert (world.home / "made").exists()
    assert (world.project / "project.yaml").read_text() == "name: Alpha\n"


@pytest.mark.slow
def test_plan_mode_holds_whatever_the_agent_does(world):
    target = world.project / "a.txt"
    steps = [
        {"write": [str(target), "x"]},
        {"tool": {"kind": "edit", "title": "Edit", "path": str(target)}, "ask": True,
         "stubborn": True, "then": {"write": [str(target), "x"]}},
    ]  # fmt: skip
    can = {"modes": ["code", "plan"]}
    records = world.play(*steps, mode="plan", can=can, **confined(world))

    assert not target.exists()
    assert only(records, "permission")["reason"] == "Edit is not permitted in plan mode"
    assert "not written: Read-only file system" in only(records, "assistant")["text"]
    assert [entry["mode"] for entry in world.log("set_session_mode")] == ["plan"]


@pytest.mark.slow
def test_a_session_outlives_its_confined_process(world):
    world.script([{"say": "One."}], [{"echo": True}], resume=True)
    world.play(prompt="first", **confined(world))
    ref = {"agent": "stub", "session": world.session(), "cost": 0.0}

    records = world.play(prompt="second", engine_ref=ref, **confined(world))

    assert only(records, "assistant")["text"] == "second"


def test_a_stop_ends_the_agent_and_its_daemons_in_their_own_namespace(world):
    start = "setsid sleep 4321 >/dev/null 2>&1 & echo started"
    turn = world.begin({"run": start}, {"deaf": True}, **confined(world))
    until(world.live, lambda text: "started" in text)

    turn.stop()
    turn.end()

    assert world.records()[-1]["status"] == "stopped"
    assert only(world.records(), "assistant")["partial"] is True


def test_a_forced_sandbox_that_is_missing_starts_no_agent(world):
    missing = Sandbox("unavailable", "bwrap", "bubblewrap is not installed")
    end = world.play({"say": "x"}, sandbox=missing)[-1]

    assert (end["status"], end["reason"]) == ("error", "sandbox_unavailable")
    assert world.log("initialize") == []


def test_a_wrapper_that_fails_later_is_no_crash_of_the_agent(world, tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    end = world.play({"say": "x"}, **confined(world))[-1]

    assert (end["status"], end["reason"]) == ("error", "sandbox_unavailable")


def test_a_socket_that_goes_away_while_the_sandbox_starts_costs_no_turn(
    world, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", failing_once(tmp_path))
    records = world.play({"say": "here"}, **confined(world))

    assert only(records, "turn_end")["status"] == "ok"
    assert only(records, "assistant")["text"] == "here"
    assert (tmp_path / "tried").exists()


def test_an_agent_is_found_for_a_user_whom_the_system_does_not_know(monkeypatch):
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert agents.needed_paths(agents.Agent("x", ("git",))) == ["/usr/bin/git"] * 2


def test_what_an_agent_needs_is_its_installation_and_no_home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    package = home / ".nvm/v20/lib/node_modules/@x/agent/dist/index.js"
    package.parent.mkdir(parents=True)
    package.write_text("#!/usr/bin/env node\n")
    package.chmod(0o755)
    (home / ".nvm/v20/bin").mkdir()
    (home / ".nvm/v20/bin/node").write_text("")
    (home / ".nvm/v20/bin/node").chmod(0o755)
    (home / ".nvm/v20/bin/agent").symlink_to(package)
    monkeypatch.setenv("PATH", f"{home}/.nvm/v20/bin:/usr/bin")

    needed = agents.needed_paths(
        agents.Agent("x", ("agent", "--acp", "/opt/rules"), reads=("/srv/ref",))
    )

    assert set(needed) == {
        f"{home}/.nvm/v20/bin/agent", str(package), f"{home}/.nvm/v20/lib/node_modules",
        f"{home}/.nvm/v20/bin/node", f"{home}/.nvm/v20", "/opt/rules", "/srv/ref",
    }  # fmt: skip
    assert str(home) not in needed
    assert sys.prefix in agents.needed_paths(agents.Agent("y", (sys.executable,)))
