"""What a turn process is given: its job and its surroundings.

Its environment is built, never inherited, so it contains no setting, key or token of the service.
Keys and the bearer are passed in the job alone. See docs/design/engines.md#the-turn-process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Conflict
from config.mcp import turn_tools
from config.mcp.operations import Registry
from config.storage import opening, paths
from workspace.access import reach, variables
from workspace.access.principals import Agent, Helper
from workspace.chats import attachments, files
from workspace.chats.files import ChatRecord
from workspace.chats.turns import instructions, tokens
from workspace.chats.turns.running import NEEDS_ENGINE
from workspace.engines import keys, obeyed, procs, select
from workspace.engines.base import Job
from workspace.engines.mcp.server import Server
from workspace.models import Turn
from workspace.projects import store
from workspace.projects.project import Project
from workspace.projects.schema import cap_mode
from workspace.servers import offered
from workspace.worktrees import place

PASSED = ("PATH", "LANG", "LC_ALL", "TZ", "USER")
NOBODY = ("svc agent", "agent@localhost")
TRY_S = 60
GOES_ON = "goes-on"  # removing this file stops the turn, which works on a full disk, too
# A garbage collection that git starts in the background would be cut off by the end of the turn.
TIDY = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gc.auto", "GIT_CONFIG_VALUE_0": "0"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where one turn process runs: its scratch directory, its log and its environment."""

    run_dir: Path
    log: Path
    environ: Mapping[str, str]

    def remove(self) -> None:
        discard(self.run_dir)


def refusal(turn: Turn) -> str | None:
    """Why no engine can run a waiting turn, or the model chosen for its chat; None if one can."""
    try:
        job = job_for(turn, pin=False)
    except Conflict as error:
        return error.text
    if job.engine is None:
        return NEEDS_ENGINE.format(reason=job.refusal)
    if found := select.preflight(job):
        return found
    if job.engine == "runbook" and turn.model:
        choice = select.choose(prompt="", asked=turn.model)
        return f'model "{turn.model}" cannot run now: {choice.reason}' if choice.reason else None
    return None


def job_for(
    turn: Turn, *, token: str = "", registry: Registry | None = None, pin: bool = True
) -> Job:
    """The job of a claimed turn: engine chosen and pinned, rights and bounds filled in."""
    project = store.get(turn.project)
    record = files.read(project, turn.chat)
    choice = _choice(turn, project, record)
    _lower(turn, project)
    if pin:
        _pin(project, record, choice)
    cfg, given = select.engine_cfg(choice.engine), offered.of_turn(project)
    cwd, tree = place.workable(project, record), place.of(record)
    told = _instructions(project, cwd, choice, cfg)
    return Job(
        **_of_row(turn),
        cwd=str(cwd),
        chats_dir=str(project.chats_dir),
        run_dir=str(run_dir(turn.id)),
        worker_pid=os.getpid(),
        engine=choice.engine,
        engine_version=select.probe(choice.engine).version if choice.engine else None,
        refusal=choice.reason,
        origin=record.origin,
        trigger=_trigger_name(turn, record),
        depth=record.depth,
        model=choice.model,
        turn_seconds=_seconds_left(turn),
        **_asking(turn, record),
        may_spawn=turn.spawn_limit > 0,
        instructions="\n\n".join(filter(None, (_where(project, record, turn, cwd), told.text))),
        told=[{**one} for one in told.places] if choice.engine != "runbook" else None,
        engine_ref=record.engine_ref.get(choice.engine or ""),
        fork_source=dict(record.forked_from) if record.forked_from else None,
        svc=_svc(token, registry),
        secrets=_secrets(token, cfg, given),
        attachments_dir=_attachments(project, record),
        sandbox=select.walls(store.working_at),
        network=reach.network(project.network, turn.network),
        engine_cfg=cfg,
        servers=given,
        servers_seen=str(offered.seen_path(turn.project)),
        retry=_retry(turn),
        images=tuple(attachments.pictures(project=project, prompt=turn.prompt)),
        linked=place.get_linked(tree) if tree else None,
    )


def _asking(turn: Turn, record: ChatRecord) -> dict[str, Any]:
    """Whether the turn may ask a person, and for how long. What a person allowed for the chat
    applies only to turns of people."""
    attended = turn.sender.get("kind") == "user"
    most = settings.SVC.ask_hours * 3600
    return {
        "attended": attended,
        "waits": turn.waits and not attended,
        "ask_seconds": settings.SVC.ask_seconds if attended else most,
        "ask_most": most,
        "allow": record.allow if attended else (),
    }


def _choice(turn: Turn, project: Project, record: ChatRecord) -> select.Choice:
    return select.choose(
        prompt=turn.prompt,
        asked=turn.model,
        pin=select.Rung(record.engine or None, record.model or None),
        project=select.Rung(project.written("engine"), project.written("model")),
    )


def _of_row(turn: Turn) -> dict[str, Any]:
    """The fields of the job that are copied from the queue's row."""
    return {
        "turn": turn.id,
        "chat": turn.chat,
        "project": turn.project,
        "prompt": turn.prompt,
        "message": turn.message,
        "sender": turn.sender,
        "event": turn.event,
        "client": turn.client or None,
        "tools": turn.tools,
        "mode": turn.mode,
        "max_turns": turn.max_turns,
    }


def _attachments(project: Project, record: ChatRecord) -> str:
    """Where a turn that works elsewhere reads attachments, else ""; no link leads there."""
    if not place.apart(project, record):
        return ""
    return str(paths.inside(project.dir, attachments.FOLDER))


def _lower(turn: Turn, project: Project) -> None:
    """Apply a project mode that was lowered while the message waited; triggers have their own."""
    mode = cap_mode(turn.mode, project.permission_mode)
    if mode != turn.mode and turn.sender.get("kind") != "trigger":
        Turn.objects.filter(id=turn.id).update(mode=mode)
        turn.mode = mode


def _pin(project: Project, record: ChatRecord, choice: select.Choice) -> None:
    """Pin the chat to the first engine that was named for it."""
    if choice.pins and (record.engine, record.model) != (choice.engine, choice.model or ""):
        files.update(project, record.id, engine=choice.engine, model=choice.model)


def _secrets(token: str, cfg: Mapping[str, Any], given: tuple[Server, ...]) -> tuple[str, ...]:
    """Values that no log, notice or error of the turn may show."""
    return tuple(filter(None, (token, *keys.secrets(cfg.get("keys", {})), *offered.secrets(given))))


def _trigger_name(turn: Turn, record: ChatRecord) -> str | None:
    if turn.sender.get("kind") == "trigger":
        return str(turn.sender.get("name") or "") or None
    return record.trigger or None


def _instructions(
    project: Project, cwd: Path, choice: select.Choice, cfg: Mapping[str, Any]
) -> instructions.Instructions:
    """The project's instructions for the engine that works in `cwd`; none if no model is used."""
    if choice.engine in (None, "runbook"):
        return instructions.Instructions("", [])
    itself = select.ENGINES[choice.engine].reads(choice.model, cfg)
    return instructions.read(project, itself, cwd)


def _where(project: Project, record: ChatRecord, turn: Turn, cwd: Path) -> str:
    """The text that tells every engine where it works."""
    lines = [
        f'You work in the project "{project.name}" ({project.slug}), chat {record.id}.',
        f"The working directory is {place.working_dir(project, record)}.",
    ]
    confined = select.confinement().mode == "bwrap"
    if tree := place.of(record):
        lines.append(
            f"It is a git worktree for this chat alone, on branch {tree.branch}: commit there. A "
            "person brings the branch over; do not switch to another one."
        )
    if tree and confined:
        lines.append(
            "Of its repository git writes commits and branches svc/* alone: a tag, another branch "
            "and git stash (Cannot save the current status) fail; commit instead."
        )
    if confined and turn.mode != "bypassPermissions" and os.path.lexists(cwd / ".git"):
        lines.append(
            "The configuration (.git/config) and the hooks of its git repository are not yours to "
            "change: git says that it cannot write them. What git -c key=value sets holds for its "
            "command alone; who commits is set."
        )
    if record.trigger:
        lines.append(f'This chat was started by the trigger "{record.trigger}"; no one attends it.')
    return "\n".join(lines)


def _retry(turn: Turn) -> dict[str, Any]:
    """How a rate limit is waited out, and what earlier tries of this turn used."""
    setting, before = settings.SVC.retry, turn.retry or {}
    known = {key: before.get(key) for key in ("try", "since", "turns", "usage", "cost", "ms")}
    return {"times": setting.times, "seconds": setting.seconds, **known}


def _seconds_left(turn: Turn) -> int:
    """The time limit of a turn without what earlier tries took; at least a minute for a try."""
    most: int = settings.SVC.turn_seconds
    return max(min(most, TRY_S), most - int((turn.retry or {}).get("ms") or 0) // 1000)


def _svc(token: str, registry: Registry | None) -> dict[str, Any] | None:
    """The service's own tools, as far as this turn may use them; None if it may use none."""
    agent = tokens.caller(token) if token and registry is not None else None
    if agent is None or registry is None:
        return None
    ops = {
        operation.name: {argument.name: argument.kind for argument in operation.arguments}
        for operation in registry.visible_to(agent)
    }
    parts = {
        part: found for part in turn_tools.registries() if (found := _tools_of_part(agent, part))
    }
    url = f"http://127.0.0.1:{port()}/_svc/mcp"
    return {"url": url, "token": token, "ops": ops, "parts": parts}


def _tools_of_part(agent: Agent, part: str) -> dict[str, Any]:
    """The operations of another part for this turn: {kind, arguments} each."""
    return {
        operation.name: {
            "kind": turn_tools.KINDS[operation.group],
            "arguments": {argument.name: argument.kind for argument in operation.arguments},
        }
        for operation in turn_tools.registries()[part].visible_to(helper(agent, part))
    }


def helper(agent: Agent, part: str) -> Helper:
    """The turn as a caller of that part's tools."""
    turn, project = Turn.objects.get(id=agent.turn), store.get(agent.project)
    record = files.read(project, turn.chat)
    engine = _choice(turn, project, record).engine or "unknown"
    cwd = place.workable(project, record)
    return Helper(agent, part, engine, cwd, project.working_dir, _apps_of(turn.event or {}))


def _apps_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """The apps that an event is about, each once."""
    told = [one.get("app") for one in event.get("happenings", [])]
    return tuple(dict.fromkeys(str(app) for app in told if app))


def port() -> int:
    """The main port of the running server, since the setting may be 0; 0 if it is unknown."""
    if settings.SVC.port:
        return int(settings.SVC.port)
    try:
        told = json.loads(opening.contents(Path(settings.DATA_DIR) / "state/server.json"))
        return int(told["ports"]["main"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def run_root() -> Path:
    return Path(settings.DATA_DIR) / "run" / "turns"


def run_dir(turn_id: str) -> Path:
    return run_root() / turn_id


def stop_without_database(turn_id: str) -> bool:
    """Ask the worker of this machine that runs the turn to stop it. False if none does."""
    try:
        (run_dir(turn_id) / GOES_ON).unlink()
    except OSError:
        return False
    return True


def discard(scratch: Path) -> None:
    """Remove the directory of a finished turn, after what the turn may have left elsewhere."""
    obeyed.take_away(str(scratch))
    shutil.rmtree(scratch, ignore_errors=True)


def surroundings(turn: Turn) -> Surroundings:
    """Make the directories and the environment of a turn."""
    project = store.get(turn.project)
    scratch = run_dir(turn.id)
    home = Path(settings.DATA_DIR) / "home" / turn.project
    log = Path(settings.DATA_DIR) / "logs" / "turns" / f"{turn.id}.log"
    discard(scratch)  # left by an earlier try whose worker was lost
    for folder in (scratch, scratch / "tmp", home, log.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (scratch / GOES_ON).touch()
    environ = {name: os.environ[name] for name in PASSED if name in os.environ}
    environ |= {
        "HOME": str(home),
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "TMPDIR": str(scratch / "tmp"),
        procs.TAG: turn.id,
        "SVC_CHAT_ID": turn.chat,
        "SVC_PROJECT": turn.project,
    }
    return Surroundings(scratch, log, environ | identity() | TIDY | _variables(project))


def _variables(project: Project) -> dict[str, str]:
    """Variables that the project names in `turnEnv`, except any that holds a secret of ours."""
    return variables.without_secrets(project.effective("turnEnv"))


@cache
def identity() -> dict[str, str]:
    """The service user's global git identity, since the HOME of a turn has none for its commits."""
    name, email = _git("user.name"), _git("user.email")
    if not (name and email):
        name, email = NOBODY
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }


def _git(key: str) -> str:
    try:
        done = subprocess.run(
            ["git", "config", "--global", key],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def line(message: Mapping[str, Any]) -> bytes:
    """One line for the control channel of a turn process."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
