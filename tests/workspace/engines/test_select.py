"""The ladder of engines, what /api/engines tells, and what is refused before a start."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import pytest

from config import readers
from tests.workspace.chats.turns.world import World
from workspace.engines import sandbox, select
from workspace.engines.base import NAMES, Probe
from workspace.engines.network import Network
from workspace.engines.sandbox import Sandbox
from workspace.engines.select import Choice, Rung, choose

MARKED = "#!runbook\n```Bash\nls\n```\n"


class Fake:
    """An engine that can run, or says why not."""

    looped = True

    def __init__(self, name: str, reason: str | None = None, model: str | None = None) -> None:
        self.name, self.reason, self.model = name, reason, model
        self.probed = 0

    def probe(self, cfg):
        self.probed += 1
        return Probe(self.reason is None, self.reason)

    def default_model(self, cfg):
        return self.model

    def preflight(self, job):
        return None


@pytest.fixture(autouse=True)
def fresh(monkeypatch) -> Iterator[None]:
    """No engine is there but the runbook, whatever is installed on this machine."""
    for name in NAMES[1:]:
        monkeypatch.setitem(select.ENGINES, name, Fake(name, "not installed"))
    select.probe_again()
    yield
    select.probe_again()


def there(monkeypatch, name: str, model: str | None = None) -> Fake:
    engine = Fake(name, model=model)
    monkeypatch.setitem(select.ENGINES, name, engine)
    return engine


def test_a_marked_prompt_is_a_runbook_whatever_else_is_named_and_pins_nothing():
    assert choose(prompt=MARKED) == Choice("runbook")
    assert choose(prompt=MARKED, asked="claude", pin=Rung("claude")) == Choice("runbook")


def test_plain_text_without_an_engine_has_none():
    assert choose(prompt="Fix it") == Choice(None, None, select.NO_MODEL)


def test_without_a_word_the_first_engine_that_can_run_is_taken_and_pinned(monkeypatch):
    there(monkeypatch, "acp", "codex")
    assert choose(prompt="x") == Choice("acp", "codex", pins=True)
    there(monkeypatch, "builtin", "openai:gpt-5")
    assert choose(prompt="x") == Choice("builtin", "openai:gpt-5", pins=True)
    there(monkeypatch, "claude")
    assert choose(prompt="x") == Choice("claude", None, pins=True)
    assert choose(prompt="x", asked="opus") == Choice("claude", "opus", pins=True)


def test_of_several_acp_agents_none_is_taken_without_a_name(monkeypatch):
    there(monkeypatch, "acp", None)
    assert choose(prompt="x").engine is None
    assert choose(prompt="x").reason == select.UNNAMED
    assert choose(prompt="x", asked="acp:codex") == Choice("acp", "codex", pins=True)


def test_an_engine_that_takes_any_model_is_a_choice_by_its_own_name(monkeypatch):
    there(monkeypatch, "claude")
    there(monkeypatch, "builtin", "openai:gpt-5")
    monkeypatch.setattr(select.ENGINES["acp"], "probe", lambda cfg: Probe(True, models=("acp:x",)))
    rows = [(one["id"], one["label"], one["engine"]) for one in select.models_listing()["models"]]
    assert rows == [
        ("runbook", "Runbook", "runbook"),
        ("claude", "claude", "claude"),
        ("builtin", "builtin (openai:gpt-5)", "builtin"),
        ("acp:x", "acp:x", "acp"),
    ]
    assert [select.read(word)[0] for word, _, _ in rows] == ["runbook", "claude", "builtin", "acp"]


def test_a_bare_claude_model_goes_to_claude_where_it_can_run(monkeypatch):
    there(monkeypatch, "claude")
    assert select.read("claude-opus-4") == ("claude", "claude-opus-4")


def test_an_engine_is_asked_once_a_minute_whether_it_can_run(monkeypatch):
    engine = there(monkeypatch, "claude")
    for _ in range(3):
        select.probe("claude")
    assert engine.probed == 1
    monkeypatch.setattr(select, "PROBED_S", 0.0)  # the minute is over
    select.probe("claude")
    assert engine.probed == 2


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
    assert bool(readers.engine_fault(word)) == bool(word and not engine)


def test_an_engine_that_is_not_known_is_never_replaced(monkeypatch):
    there(monkeypatch, "builtin", "local:llama3")
    there(monkeypatch, "claude")
    told = readers.engine_fault("claud")

    for project in (Rung("claud"), Rung("claud", "opus")):
        assert choose(prompt="x", project=project) == Choice(None, reason=told)
        assert choose(prompt="x", asked="small", project=project) == Choice(None, reason=told)
    assert choose(prompt="x", asked="claude", project=Rung("claud")).engine == "claude"
    assert choose(prompt="x", pin=Rung("claude"), project=Rung("claud")).engine == "claude"
    assert 'did you mean "claude"?' in told


def test_a_named_engine_that_cannot_run_is_never_replaced():
    found = choose(prompt="x", asked="claude:opus", project=Rung("runbook"))
    assert found == Choice(None, "opus", "the engine claude is not installed")


def test_a_pinned_model_stays_with_its_engine_whatever_it_looks_like(monkeypatch):
    there(monkeypatch, "acp")
    there(monkeypatch, "claude")
    pin = Rung("acp", "claude-code")
    assert choose(prompt="x", pin=pin) == Choice("acp", "claude-code", pins=True)
    assert choose(prompt="x", asked="acp:codex", pin=pin) == Choice("acp", "codex", pins=True)


def test_a_model_outside_a_closed_catalogue_is_told_what_there_is(monkeypatch):
    engine = there(monkeypatch, "acp")
    monkeypatch.setattr(engine, "probe", lambda cfg: Probe(True, models=("acp:codex",)))
    assert select.instead_of("acp:codex") == ()
    assert select.instead_of("acp:codex:large") == ()
    assert select.instead_of("acp:gemini") == ("acp:codex",)
    assert select.instead_of("openai:anything") == ()
    assert {"id": "acp:codex", "label": "acp:codex", "engine": "acp", "contextLimit": None} in (
        select.models_listing()["models"]
    )


def test_the_default_engine_comes_with_its_reason(monkeypatch, settings):
    lacking = "claude is not installed; builtin is not installed; acp is not installed"
    assert select.default_engine() == (
        "runbook", f"no model engine can run here, only prompts marked #!runbook: {lacking}",
    )  # fmt: skip
    there(monkeypatch, "builtin", "local:llama3")
    assert select.default_engine() == (
        "builtin", "the first model engine that can run here, with local:llama3",
    )  # fmt: skip
    settings.SVC = dataclasses.replace(settings.SVC, model="qwen3")
    assert select.default_engine() == (
        "builtin", "the first model engine that can run here, with qwen3",
    )  # fmt: skip
    settings.SVC = dataclasses.replace(settings.SVC, model="", engine="claude")
    assert select.default_engine() == (
        "claude",
        'SVC_ENGINE is "claude", but claude is not installed: messages for it cannot run',
    )


def test_all_four_engines_are_listed_in_order(monkeypatch):
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("off", "auto", "none here"))
    body = select.engines_listing()
    assert [engine["name"] for engine in body["engines"]] == ["runbook", "claude", "builtin", "acp"]
    assert [engine["available"] for engine in body["engines"]] == [True, False, False, False]
    assert body["engines"][0]["reason"] is None
    assert body["engines"][1]["reason"] == "not installed"
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
                "Commands of agents run without a sandbox (bubblewrap is not installed): a command "
                "of a turn can do all that its user can, through this service as well."
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
    job = World(tmp_path).job("x", network=Network("off"))
    refused = "network off needs a sandbox (bubblewrap), and there is none here"
    assert select.preflight(job) == refused
    assert select.preflight(job._replace(sandbox=Sandbox("bwrap"))) is None
    assert select.preflight(job._replace(engine=None)) is None


def test_a_sandbox_that_could_not_be_asked_is_asked_again_and_no_turn_goes_without(monkeypatch):
    now, answers = [100.0], [Sandbox("unavailable", "auto", "slow"), Sandbox("bwrap", "auto")]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sandbox, "probe", lambda *_, **__: answers.pop(0))
    assert select.confinement().mode == "unavailable"
    assert select.confinement().mode == "unavailable"
    now[0] += select.LACKED_S
    assert select.confinement().mode == "bwrap"
    now[0] += 1e6
    assert select.confinement().mode == "bwrap"
