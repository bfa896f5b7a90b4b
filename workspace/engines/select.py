"""Which engine runs a message (engine.md 9), and what /api/engines tells about them.

The only engine file that reads settings. A named or pinned engine that cannot run is never
replaced by another: the choice then has no engine and a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from workspace.engines import grammar, sandbox
from workspace.engines.base import Engine, Job, Probe
from workspace.engines.runbook import Runbook

NAMES = ("runbook", "claude", "builtin", "acp")
ENGINES: dict[str, Engine] = {"runbook": Runbook()}
ABSENT = Probe(False, "not part of this version")
_BUILTIN = ("anthropic", "openai", "local")


@dataclass(frozen=True, slots=True)
class Choice:
    """`engine` None = needs_engine, for `reason`. `pins`: written to the chat's record (9.1, 3)."""

    engine: str | None
    model: str | None = None
    reason: str = ""
    pins: bool = False


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: the engine and the model that one place names, both optional."""

    engine: str | None = None
    model: str | None = None


def choose(
    *, prompt: str, asked: str = "", pin: Rung | None = None, project: Rung | None = None
) -> Choice:
    """Walk the ladder of 9.1: marker, message or trigger model, pin, project, instance, auto."""
    if grammar.is_runbook(prompt):
        return Choice("runbook")
    model: str | None = None
    for rung in (Rung(model=asked), pin or Rung(), project or Rung(), _instance()):
        for word in (rung.model, rung.engine):
            engine, named = read(word or "")
            model = model or named
            if engine:
                return _named(engine, model)
    return Choice(None, model, "only runbooks can run in this version")


def _named(engine: str, model: str | None) -> Choice:
    found = probe(engine)
    if found.available:
        return Choice(engine, model, pins=True)
    return Choice(None, model, f"the engine {engine} is {found.reason}")


def read(word: str) -> tuple[str | None, str | None]:
    """The engine and the model that a word names; a bare word is a model of the next rung."""
    head, colon, rest = word.partition(":")
    match head:
        case "runbook" | "builtin" if not colon:
            return head, None
        case "claude" | "acp":
            return head, rest or None
        case _ if head in _BUILTIN and colon:
            return "builtin", word
        case _ if word.startswith("claude-"):
            own = probe("claude").available
            return ("claude", word) if own else ("builtin", f"anthropic:{word}")
        case _ if re.match(r"gpt-|o[0-9]", word):
            return "builtin", f"openai:{word}"
        case _:
            return None, word or None


def probe(name: str) -> Probe:
    engine = ENGINES.get(name)
    return engine.probe(settings.SVC.engines.get(name, {})) if engine else ABSENT


def preflight(job: Job) -> str | None:
    """One sentence refuses the job before anything is started (9.6)."""
    engine = ENGINES.get(job.engine or "")
    return engine.preflight(job) if engine else None


def engine_cfg() -> dict[str, Any]:
    """What an engine is told of the settings: the per-tool ones, no key, no path."""
    return {"tools": settings.SVC.tools}


@cache
def confinement() -> sandbox.Sandbox:
    """SVC_SANDBOX as it works on this machine; probed once per process."""
    scratch = Path(settings.DATA_DIR) / "run"
    hide = (str(Path.home()), str(settings.DATA_DIR), str(settings.PROJECTS_DIR))
    return sandbox.probe(settings.SVC.sandbox, hide=hide, scratch=str(scratch))


def warnings() -> list[str]:
    """What stands on every page while commands of agents are not confined (11)."""
    confined = confinement()
    if confined.mode == "bwrap":
        return []
    if confined.mode == "unavailable":
        return [f"No turn can run, the sandbox is unavailable: {confined.reason}."]
    text = f"Agent commands run without a sandbox: {confined.reason}."
    return [f"{text} Install bubblewrap or set SVC_SANDBOX."]


def engines_listing() -> dict[str, Any]:
    """The body of GET /api/engines (9.4): always the four, in this order."""
    confined = confinement()
    return {
        "engines": [_listed(name, probe(name)) for name in NAMES],
        "default": _default(),
        "sandbox": {
            "mode": confined.mode,
            "requested": confined.requested,
            "reason": confined.reason,
        },
    }


def _listed(name: str, found: Probe) -> dict[str, Any]:
    exact = name != "acp"
    return {
        "name": name,
        "available": found.available,
        "reason": found.reason,
        "version": found.version,
        "models": list(found.models),
        "allowListEnforced": exact,
        "maxTurnsEnforced": exact,
    }


def _default() -> str:
    for word in (settings.SVC.model, settings.SVC.engine):
        engine, _ = read(word)
        if engine:
            return engine
    return "runbook"


def _instance() -> Rung:
    return Rung(settings.SVC.engine, settings.SVC.model)


def models_listing() -> dict[str, Any]:
    """The body of GET /api/models: what can be chosen for a message now."""
    rows = [{"id": "runbook", "label": "Runbook", "engine": "runbook", "contextLimit": None}]
    for name in ENGINES:
        rows += [
            {"id": model, "label": model, "engine": name, "contextLimit": None}
            for model in probe(name).models
        ]
    return {"models": rows, "defaultModel": settings.SVC.model or None}
