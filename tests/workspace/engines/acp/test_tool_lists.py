"""T7 for ACP agents: what needs a list is refused, what asks is held to the mode."""

from __future__ import annotations

import pytest

from tests.promises.rings import few
from tests.workspace.engines.acp.conftest import BWRAP
from workspace.engines import policy
from workspace.engines.sandbox import Sandbox

KINDS = {"read": "R", "search": "R", "edit": "E", "fetch": "N", "execute": "X", "delete": "X",
         "move": "X", "switch_mode": "X", "think": "X", "other": "X"}  # fmt: skip
GRANTED = {"default": "R", "acceptEdits": "RE", "bypassPermissions": "REXN", "plan": "R"}
LISTS = [[], ["Read"], ["Bash"], ["Read", "Edit", "Write", "Bash", "WebFetch"]]


@pytest.mark.promise("T7")
@pytest.mark.parametrize("mode", few(policy.MODES, 1))
def test_a_turn_with_any_list_is_refused_before_the_agent_is_started(world, mode):
    target = world.project / "written"
    for tools in LISTS:
        end = world.play({"write": [str(target), "x"]}, tools=tools, mode=mode)[-1]
        assert (end["status"], end["reason"]) == ("error", "refused")
        assert end["text"] == 'the engine "acp" cannot enforce a tool list'

    assert world.log("initialize") == []
    assert not target.exists()


@pytest.mark.promise("T7")
@pytest.mark.parametrize("mode", few(policy.MODES, 2))
def test_without_a_list_only_what_the_mode_allows_has_an_effect(world, mode):
    if mode == "plan" and BWRAP.mode != "bwrap":
        pytest.skip(f"{BWRAP.reason}: apt-get install bubblewrap")
    confined = {"sandbox": Sandbox("bwrap", "auto")} if mode == "plan" else {}
    made = {kind: world.home / kind for kind in KINDS}
    steps = [
        {"tool": {"kind": kind, "title": kind, "path": "a.txt"}, "ask": True,
         "then": {"write": [str(path), "x"]}}
        for kind, path in made.items()
    ]  # fmt: skip

    records = world.play(*steps, mode=mode, ask_seconds=0, **confined)

    expected = {kind for kind, word in KINDS.items() if word in GRANTED[mode]}
    assert {kind for kind, path in made.items() if path.exists()} == expected
    states = [record["state"] for record in records if record["type"] == "permission"]
    assert states.count("denied") == len(KINDS) - len(expected)
    assert set(states) <= {"asked", "denied"}
    assert records[-1]["status"] == "ok"
