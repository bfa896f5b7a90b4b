"""Which engine runs a message, and what /api/engines says about the engines.

The only engine module that reads settings. A named or pinned engine that cannot run is never
replaced by another: the choice then has no engine and a reason. Why:
docs/design/engines.md#choosing-an-engine.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from config import readers
from workspace.engines import acp, base, grammar, keys, sandbox, sockets
from workspace.engines.base import NAMES, Engine, Job, Probe

Worked = Callable[[], Iterable[Path]]
ENGINES: dict[str, Engine] = {name: base.engine(name) for name in NAMES}
PROBED_S = 60.0
MOST_LINKS = 40  # in a row, the limit of Linux
LACKED_S = 3.0  # after a failure the probe is repeated this soon: what was missing may be there now
NO_MODEL = "no model is set up; add a key, start a local model, or begin it with #!runbook"
UNNAMED = "several ACP agents are set up; name one, as acp:<agent>"
_BUILTIN = ("anthropic", "openai", "local")
_probes: dict[Engine, tuple[float, Probe]] = {}
_confined: dict[str, tuple[float, sandbox.Sandbox]] = {}  # by what SVC_SANDBOX asks for


@dataclass(frozen=True, slots=True)
class Choice:
    """`engine` None = needs_engine, for `reason`. `pins`: it is written to the chat's record."""

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
    """Walk the ladder: marker, message or trigger model, pin, project, instance, auto."""
    if grammar.is_runbook(prompt):
        return Choice("runbook")
    model: str | None = None
    for rung in (Rung(model=asked), pin or Rung(), project or Rung(), _instance()):
        if rung is pin and pin.engine:  # set by this ladder: its model belongs to its engine
            return _choice(pin.engine, model or pin.model)
        for word in (rung.model, rung.engine):
            engine, named = read(word or "")
            model = model or named
            if engine:
                return _choice(engine, model)
        if rung.engine:
            return Choice(None, reason=readers.engine_fault(rung.engine))
    return _automatic(model)


def _choice(engine: str, model: str | None) -> Choice:
    found = probe(engine)
    if found.available:
        return Choice(engine, model or _default_model(engine), pins=True)
    own = engine == "acp" and found.version and acp.ENGINE.refusal(model, engine_cfg(engine))
    return Choice(None, model, own or f"the engine {engine} is {found.reason}")


def _automatic(model: str | None) -> Choice:
    """The first model engine that can run now; a runbook needs the marker."""
    for name in ("claude", "builtin", "acp"):
        if probe(name).available and (model or name != "acp" or _default_model(name)):
            return Choice(name, model or _default_model(name), pins=True)
    return Choice(None, model, UNNAMED if probe("acp").available else NO_MODEL)


def _default_model(engine: str) -> str | None:
    return ENGINES[engine].default_model(engine_cfg(engine))


def read(word: str) -> tuple[str | None, str | None]:
    """The engine and the model that a word names; the engine is None if it names only a model."""
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


def instead_of(word: str) -> tuple[str, ...]:
    """The models its engine has instead of this one; () if the engine has it or lists none."""
    engine, named = read(word)
    offered = probe(engine).models if engine and named else ()
    agent = ":".join(word.split(":")[:2])  # acp:<agent>[:<model>]
    known = {word, named, agent if engine == "acp" else word}
    return () if known & set(offered) else offered


def probe(name: str) -> Probe:
    """Whether an engine can run now; the result is kept for 60 s, or for 3 s if it cannot."""
    engine = ENGINES[name]
    asked, found = _probes.get(engine, (0.0, None))
    if found is None or time.monotonic() - asked >= (PROBED_S if found.available else LACKED_S):
        found = engine.probe(engine_cfg(name))
        _probes[engine] = (time.monotonic(), found)
    return found


def probe_again() -> None:
    """Forget the results of probes, because the settings or the machine have changed."""
    _probes.clear()
    _confined.clear()


def preflight(job: Job) -> str | None:
    """One sentence if the job is refused before anything is started, else None."""
    return ENGINES[job.engine].preflight(job) if job.engine else None


def never(job: Job) -> tuple[str, str] | None:
    """The setting for which the engine may never run this job, and why; None in most cases."""
    return acp.ENGINE.never(job) if job.engine == "acp" else None


def engine_cfg(engine: str | None) -> dict[str, Any]:
    """The part of the settings that an engine gets, with its keys, which are never in an argument.

    {tools, keys: {NAME: value}, settings: engines.<name> of svc.config.yaml, data: a directory of
    its own, home: the service user's, local_url}.
    """
    cfg: dict[str, Any] = {"tools": settings.SVC.tools}
    if engine in (None, "runbook"):
        return cfg
    own = settings.SVC.engines.get(engine)
    own = own if isinstance(own, Mapping) else {}
    return cfg | {
        "keys": keys.of(engine, own),
        "settings": own,
        "data": str(Path(settings.DATA_DIR) / "engines" / engine),
        "home": str(Path.home()),
        "local_url": settings.SVC.local_model_url,
    }


def confinement() -> sandbox.Sandbox:
    """SVC_SANDBOX as it works on this machine; probed once, and 3 s after it was unavailable."""
    requested = settings.SVC.sandbox
    probed, found = _confined.get(requested, (0.0, None))
    if found is None or (found.mode == "unavailable" and time.monotonic() - probed >= LACKED_S):
        scratch = Path(settings.DATA_DIR) / "run"
        hide = (*_homes(), str(settings.DATA_DIR), str(settings.PROJECTS_DIR))
        found = sandbox.probe(requested, hide=hide, scratch=str(scratch))
        _confined[requested] = (time.monotonic(), found)
    return found


def _homes() -> list[str]:
    """The user's homes; without one that commands need, as some users of the system have."""
    own, *known = readers.homes()
    needed = (*sockets.SYSTEM, *sockets.PLACED)
    return [str(own), *(home for one in known if not sockets.within(home := str(one), needed))]


def walls(worked_at: Worked) -> sandbox.Sandbox:
    """The sandbox of a turn with what `engines.reads` shows: each path as named, and what its links
    lead to. `worked_at` returns the directories of projects."""
    astray = unshown(worked_at)
    reads = [path for path in settings.SVC.reads if path not in astray]
    named = [os.path.join(os.path.realpath(path.parent), path.name) for path in reads]  # noqa: PTH118
    paths = tuple(one for path in named for one in (path, os.path.realpath(path)))
    return confinement()._replace(shown=paths)


def unshown(worked_at: Worked) -> list[Path]:
    """The paths in `engines.reads` that are where agents work, or are reached through a link there:
    with such a link a turn could show its target to all turns."""
    if not settings.SVC.reads:
        return []
    ours = (Path(place).resolve() for place in (settings.DATA_DIR, settings.PROJECTS_DIR))
    at = [*worked_at(), *ours]
    return [
        path
        for path in settings.SVC.reads
        if any(step.is_relative_to(one) for step in _steps(path) for one in at)
    ]


def _steps(path: Path) -> Iterator[Path]:
    """Every path on the way to `path`, each of its links at its real place."""
    left, at, links = [*path.parts[:0:-1]], Path("/"), 0
    while left:
        name = left.pop()
        step = at / name if name != os.pardir else at.parent
        yield step
        if not step.is_symlink():
            at = step
        elif (links := links + 1) > MOST_LINKS:
            return
        else:
            target = step.readlink()
            at = Path("/") if target.is_absolute() else at
            left += [part for part in target.parts[::-1] if part != "/"]


def hidden() -> tuple[str, ...]:
    """The real folders that no turn can read; none if commands are not confined."""
    confined = confinement()
    return () if confined.mode == "off" else tuple(sandbox.hidden(confined))


def warnings() -> list[str]:
    """Warnings for every page while commands of agents are not confined."""
    confined = confinement()
    if confined.mode == "bwrap":
        return []
    if confined.mode == "unavailable":
        return [f"No turn can run, the sandbox is unavailable: {confined.reason}."]
    text = f"Commands of agents run without a sandbox ({confined.reason})"
    means = "a command of a turn can do all that its user can, through this service as well"
    return [f"{text}: {means}."]


def agent_warnings() -> list[str]:
    """A sentence for each ACP agent in the settings that cannot be used."""
    return [f"{text}: not used" for text in _agent_faults().values()]


def agent_fault(word: str) -> str | None:
    """Why the ACP agent that a word names cannot be used, if the settings have it."""
    engine, named = read(word)
    return _agent_faults().get((named or "").partition(":")[0]) if engine == "acp" else None


def _agent_faults() -> dict[str, str]:
    return acp.agents.faults(engine_cfg("acp")["settings"])


def engines_listing() -> dict[str, Any]:
    """The body of GET /api/engines: always all four engines, in this order."""
    confined = confinement()
    default, reason = default_engine()
    return {
        "engines": [_engine_record(name, probe(name)) for name in NAMES],
        "default": default,
        "defaultReason": reason,
        "sandbox": {
            "mode": confined.mode,
            "requested": confined.requested,
            "reason": confined.reason,
        },
    }


def _engine_record(name: str, found: Probe) -> dict[str, Any]:
    exact = name != "acp"
    row = {
        "name": name,
        "available": found.available,
        "reason": found.reason,
        "version": found.version,
        "models": list(found.models),
        "allowListEnforced": exact,
        "maxTurnsEnforced": exact,
    }
    return row if exact else row | {"agents": acp.ENGINE.agents(engine_cfg("acp"))}


def default_engine() -> tuple[str, str]:
    """The engine of a plain message now, and why: a setting, or the automatic choice."""
    for word, setting in ((settings.SVC.model, "SVC_MODEL"), (settings.SVC.engine, "SVC_ENGINE")):
        engine, _ = read(word)
        if engine:
            lacking = probe(engine).reason
            but = f", but {engine} is {lacking}: messages for it cannot run" if lacking else ""
            return engine, f'{setting} is "{word}"{but}'
    choice = _automatic(settings.SVC.model or None)
    if choice.engine:
        named = f", with {choice.model}" if choice.model else ""
        return choice.engine, f"the first model engine that can run here{named}"
    lacks = [f"{name} is {probe(name).reason or 'to be named'}" for name in NAMES[1:]]
    return (
        "runbook",
        f"no model engine can run here, only prompts marked #!runbook: {'; '.join(lacks)}",
    )


def _instance() -> Rung:
    return Rung(settings.SVC.engine, settings.SVC.model)


def models_listing() -> dict[str, Any]:
    """The body of GET /api/models: what can be chosen for a message now.

    An engine that takes any model is listed by its own name; choosing it leaves the model to it.
    """
    rows = [_row("runbook", "runbook", "Runbook")]
    for name in NAMES[1:]:
        found = probe(name)
        if found.available and not found.models:
            model = _default_model(name)
            rows.append(_row(name, name, f"{name} ({model})" if model else name))
        rows += [_row(model, name, model) for model in found.models]
    return {"models": rows, "defaultModel": settings.SVC.model or None}


def _row(word: str, engine: str, label: str) -> dict[str, Any]:
    return {"id": word, "label": label, "engine": engine, "contextLimit": None}
