"""The agents of `engines.acp.agents` in svc.config.yaml, and what each needs to be started.

    <name>: {command: [word, ...], env: [NAME, ...], mode: id, login: id, reads: [path, ...],
             urls: [URL, ...], startSeconds: number, meta: {...}, ownInstructions: [file, ...]}

`env` names variables of the service that the agent gets, `mode` the session mode it is put into,
`login` its method of authentication, `reads` what the sandbox must leave readable, `urls` the
servers of its model, which it reaches whatever the network of the turn is, `startSeconds` how long
each answer may take until its session is open, `meta` extra data that its makers accept from a
client (the `_meta` of its session), `ownInstructions` the files of instructions that the agent
reads by itself and that are therefore not sent to it again.
"""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from config.process.light_typing import Any, NamedTuple
from workspace.engines.base import INSTRUCTIONS

LISTS, TEXTS = ("command", "env", "reads", "urls"), ("mode", "login")
START, START_S, START_MOST = "startSeconds", 120, 3600
META = "meta"
OWN = "ownInstructions"
KEYS = (*LISTS, *TEXTS, START, META, OWN)
# What known programs read by themselves; any other is assumed to read all of INSTRUCTIONS.
READERS = {
    "claude-agent-acp": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    "codex-acp": ("AGENTS.md",),
    "gemini": (),
    "opencode": ("AGENTS.md", "CLAUDE.md"),
}
OURS = ("SVC_", "DJANGO_", "DATABASE_URL")


class Agent(NamedTuple):
    name: str
    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    mode: str = ""
    login: str = ""
    start_seconds: int = START_S
    meta: Mapping[str, Any] = MappingProxyType({})
    own_instructions: tuple[str, ...] = ()


def read(settings: Mapping[str, Any]) -> tuple[dict[str, Agent], dict[str, str]]:
    """The agents of `engines.acp` by name, and a sentence for each entry that is none, by name."""
    entries = settings.get("agents") or {}
    if not isinstance(entries, Mapping):
        return {}, {"": "engines.acp.agents must be a mapping of names"}
    found: dict[str, Agent] = {}
    problems: dict[str, str] = {}
    for name, entry in entries.items():
        problem = _problem(str(name), entry)
        if problem:
            problems[str(name)] = f"engines.acp.agents.{str(name)[:60]}{problem}"
        else:
            given: dict[str, Any] = {key: tuple(entry.get(key) or ()) for key in LISTS}
            given |= {key: entry.get(key) or "" for key in TEXTS}
            given |= {"start_seconds": entry.get(START, START_S), META: entry.get(META) or {}}
            given["own_instructions"] = tuple(entry.get(OWN, _read_by(given["command"])))
            found[str(name)] = Agent(str(name), **given)
    return found, problems


def _read_by(command: tuple[str, ...]) -> tuple[str, ...]:
    return READERS.get(Path(command[0]).name, INSTRUCTIONS)


def _problem(name: str, entry: Any) -> str | None:
    """The rest of a sentence that begins with the entry's name; None if the entry is in order."""
    if not name or ":" in name or name != name.strip():
        return ": the name must be one word without a colon"
    if not isinstance(entry, Mapping):
        return " must be a mapping with a command"
    unknown = [key for key in entry if key not in KEYS]
    if unknown:
        return f".{unknown[0]} is not known; use {', '.join(KEYS[:-1])} or {KEYS[-1]}"
    for key in LISTS:
        words = entry.get(key) or []
        if not isinstance(words, list) or not all(isinstance(one, str) and one for one in words):
            return f".{key} must be a list of texts"
    for key in TEXTS:
        if not isinstance(entry.get(key) or "", str):
            return f".{key} must be a text"
    if not isinstance(entry.get(META) or {}, Mapping):
        return f".{META} must be a mapping"
    seconds = entry.get(START, START_S)
    if type(seconds) is not int or not 1 <= seconds <= START_MOST:
        return f".{START} must be a whole number from 1 to {START_MOST}, e.g. {START_S}"
    return _wrong_value(entry)


def _wrong_value(entry: Mapping[str, Any]) -> str | None:
    if not entry.get("command"):
        return ".command is missing"
    ours = [name for name in entry.get("env") or [] if name.startswith(OURS)]
    if ours:
        return f".env: {ours[0]} is the service's own and given to no agent"
    own = entry.get(OWN, [])
    if not isinstance(own, list) or not set(map(str, own)) <= set(INSTRUCTIONS):
        return f".{OWN} must be a list of {', '.join(INSTRUCTIONS)}"
    relative = [path for path in entry.get("reads") or [] if not path.startswith("/")]
    return f".reads must be absolute paths: {relative[0]}" if relative else None


def choose(model: str | None, settings: Mapping[str, Any]) -> tuple[Agent | None, str | None]:
    """The agent that `<agent>[:<model>]` names, and why it cannot be used or there is none."""
    found, problems = read(settings)
    name = (model or "").partition(":")[0]
    one = [*found] or [*problems]
    if not name and len(one) == 1:
        name = one[0]
    if name in found:
        return found[name], missing(found[name])
    if name in problems:
        return None, problems[name]
    known = ", ".join(f"acp:{one}" for one in found) or "none"
    if name:
        return None, f'there is no ACP agent "{name}" (configured: {known})'
    return None, f"name the ACP agent to use (configured: {known})"


def faults(settings: Mapping[str, Any]) -> dict[str, str]:
    """Why agents of the settings cannot be used now, a sentence by name."""
    found, problems = read(settings)
    lacking = {name: text for name, agent in found.items() if (text := missing(agent))}
    return problems | lacking


def missing(agent: Agent) -> str | None:
    """Why the agent cannot be started here; None if it can."""
    if shutil.which(agent.command[0]):
        return None
    return f"the command of the ACP agent {agent.name} is not found: {agent.command[0]}"


def argv(agent: Agent) -> list[str]:
    """The command with its program as an absolute path."""
    program = shutil.which(agent.command[0]) or agent.command[0]
    return [str(Path.cwd() / program), *agent.command[1:]]


def needed_paths(agent: Agent) -> list[str]:
    """Paths that the agent has to read and the sandbox would hide: its program with the
    installation it belongs to, paths among its arguments, and what the settings name."""
    program, *arguments = argv(agent)
    found = _program(Path(program))
    interpreter = _interpreter(Path(program))
    if interpreter:
        found += _program(Path(interpreter))
    paths = [word for word in (*arguments, *agent.reads) if word.startswith("/")]
    return [*map(str, found), *paths]


def _program(path: Path) -> list[Path]:
    """A program, the file behind its links, and the installation around each."""
    real = path.resolve()
    return [path, real, *_installation(path), *_installation(real)]


def _installation(path: Path) -> list[Path]:
    """The virtual environment, the node_modules or the interpreter's prefix a file lies in."""
    for folder in reversed(path.parents):
        if folder.name == "node_modules":
            return [folder]
    prefix = path.parent.parent
    home = _home()
    if path.parent.name != "bin" or (home and home.is_relative_to(prefix)):
        return []
    interpreter = path.name.startswith(("python", "node")) and not path.is_symlink()
    return [prefix] if interpreter or (prefix / "pyvenv.cfg").exists() else []


def _home() -> Path | None:
    """The user's home according to the system, because a turn has a different HOME. None if the
    system does not know the user: a container may run under any number."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None


def _interpreter(program: Path) -> str | None:
    """The interpreter that the script's first line names, looked up on the PATH after `env`."""
    try:
        with program.open("rb") as file:
            line = file.readline(200).decode(errors="replace")
    except OSError:
        return None
    words = line.removeprefix("#!").split()
    if not line.startswith("#!") or not words:
        return None
    if Path(words[0]).name != "env":
        return words[0]
    return next((found for word in words[1:] if (found := shutil.which(word))), None)
