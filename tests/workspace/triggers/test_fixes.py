"""The sentences from which the page of triggers makes its buttons (workspace/triggers/fixes.js):
tests/fixtures/trigger_fixes.json, which the test of that file reads too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from config.errors import Invalid
from tests.workspace.access.world import configure
from tests.workspace.triggers.world import World, schedule
from workspace.access.policy import Scope

SAID = json.loads((Path(__file__).parents[2] / "fixtures/trigger_fixes.json").read_text())


@pytest.mark.parametrize("case", SAID["errors"], ids=lambda case: case["error"]["reason"])
def test_a_refusal_is_worded_as_the_page_reads_it(world: World, case: dict[str, Any]):
    body = schedule(**case["sent"]["trigger"])
    body["run"] |= case["sent"]["run"]

    with pytest.raises(Invalid) as refused:
        world.put("t", body)

    [problem] = refused.value.problems
    error = {"field": problem.field, "reason": problem.reason, "example": problem.example}
    assert error == {"example": None} | case["error"]


@pytest.mark.parametrize("case", SAID["warnings"], ids=lambda case: case["warning"])
def test_a_warning_is_worded_as_the_page_reads_it(
    world: World, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
):
    configure(monkeypatch, ci=Scope(("alpha",), ("*",)))
    body = schedule(interval="1h") | {"clients": case["clients"]}
    if "promptFile" in case["run"]:
        del body["run"]["prompt"]
    body["run"] |= case["run"]

    assert world.put("t", body).seen.warnings == [case["warning"]]
