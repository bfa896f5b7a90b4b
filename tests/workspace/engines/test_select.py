"""The ladder of engines, what /api/engines tells, and what is refused before a start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.workspace.turns import World
from workspace.engines import sandbox, select
from workspace.engines.sandbox import Sandbox
from workspace.engines.select import Choice, Rung, choose

MARKED = "#!runbook\n```Bash\nls\n```\n"
NOTHING = Choice(None, None, "only runbooks can run in this version")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    select.confinement.cache_clear()
    yield
    select.confinement.cache_clear()


def test_a_marked_prompt_is_a_runbook_whatever_else_is_named_and_pins_nothing():
    assert choose(prompt=MARKED) == Choice("runbook")
    assert choose(prompt=MARKED, asked="claude", pin=Rung("claude")) == Choice("runbook")


def test_plain_text_without_an_engine_has_none():
    assert choose(prompt="Fix it") == NOTHING


@pytest.mark.parametrize(
    "words",
    [
        {"asked": "runbook"},
        {"pin": Rung("runbook", None)},
        {"project": Rung("runbook")},
        {"project": Rung("", "runbook")},
    ],
)
def test_any_rung_may_name_the_runbook_engine_and_that_pins(words):
    assert choose(prompt="Fix it", **words) == Choice("runbook", None, "", True)


def test_an_upper_rung_wins_and_a_bare_word_is_a_model_of_the_next():
    assert choose(prompt="x", asked="runbook", pin=Rung("claude")).engine == "runbook"
    assert choose(prompt="x", asked="claude", pin=Rung("runbook")).engine is None
    found = choose(prompt="x", asked="big-one", project=Rung("runbook", "small"))
    assert (found.engine, found.model) == ("runbook", "big-one")


@pytest.mark.parametrize(
    ("word", "engine", "model"),
    [
        ("runbook", "runbook", None),
        ("claude", "claude", None),
        ("claude:opus", "claude", "opus"),
        ("anthropic:x", "builtin", "anthropic:x"),
        ("openai:gpt-5", "builtin", "openai:gpt-5"),
        ("local:llama3:8b", "builtin", "local:llama3:8b"),
        ("acp:codex:m", "acp", "codex:m"),
        ("claude-opus-4", "builtin", "anthropic:claude-opus-4"),
        ("gpt-5", "builtin", "openai:gpt-5"),
        ("o3-mini", "builtin", "openai:o3-mini"),
        ("llama3:8b", None, "llama3:8b"),
        ("", None, None),
    ],
)
def test_the_forms_of_a_model(word, engine, model):
    assert select.read(word) == (engine, model)


def test_a_named_engine_that_cannot_run_is_never_replaced():
    found = choose(prompt="x", asked="claude:opus", project=Rung("runbook"))
    assert found == Choice(None, "opus", "the engine claude is not part of this version")


def test_all_four_engines_are_listed_in_order(monkeypatch):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("off", "auto", "none here"))
    body = select.engines_listing()
    assert [engine["name"] for engine in body["engines"]] == ["runbook", "claude", "builtin", "acp"]
    assert [engine["available"] for engine in body["engines"]] == [True, False, False, False]
    assert body["engines"][0]["reason"] is None
    assert body["engines"][1]["reason"] == "not part of this version"
    assert [engine["allowListEnforced"] for engine in body["engines"]] == [True, True, True, False]
    assert [engine["maxTurnsEnforced"] for engine in body["engines"]] == [True, True, True, False]
    assert body["default"] == "runbook"
    assert body["sandbox"] == {"mode": "off", "requested": "auto", "reason": "none here"}


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (Sandbox("bwrap", "auto"), []),
        (
            Sandbox("off", "auto", "bubblewrap is not installed"),
            [
                "Agent commands run without a sandbox: bubblewrap is not installed. "
                "Install bubblewrap or set SVC_SANDBOX."
            ],
        ),
        (
            Sandbox("unavailable", "bwrap", "bubblewrap is not installed"),
            ["No turn can run, the sandbox is unavailable: bubblewrap is not installed."],
        ),
    ],
)
def test_every_page_says_when_commands_are_not_confined(monkeypatch, state, text):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: state)
    assert select.warnings() == text


def test_preflight_refuses_a_network_that_cannot_be_taken_away(tmp_path):
    job = World(tmp_path).job("x", network=False)
    refused = "network off needs bubblewrap and the runbook or builtin engine"
    assert select.preflight(job) == refused
    assert select.preflight(job._replace(sandbox=Sandbox("bwrap"))) is None
    assert select.preflight(job._replace(engine=None)) is None
