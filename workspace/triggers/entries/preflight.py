"""What depends on this machine now: reasons to refuse a trigger's start, and warnings about it."""

from __future__ import annotations

import os

import orjson

from config.errors import Problem
from workspace.access import clients, reach
from workspace.engines import grammar, policy, select
from workspace.engines.base import Job
from workspace.projects.project import Project
from workspace.projects.schema import cap_mode
from workspace.servers import offered
from workspace.triggers.entries import prompts
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import MAX_TURNS, Trigger, Webhook

ORDINARY = ["Read", "Glob", "Grep", "Edit", "Write", "Bash"]  # enough for most prompts
FIXES = {"tools": 'model "claude"', "permissionMode": '"bypassPermissions"'}


def refusal(project: Project, trigger: Trigger, prompt: str) -> str | None:
    """Why the engine that would run the firing cannot; None if it can."""
    return select.preflight(_draft(project, trigger, prompt))


def outside(project: Project, trigger: Trigger) -> str | None:
    """Why the clients that stored it may not have it run here any more; None if they may."""
    if who := clients.barred_names(trigger.clients, project.slug):
        return f"client {who} stored it and may not act in this project any more; save it as yours"
    return None


def problem(project: Project, trigger: Trigger) -> Problem | None:
    """Why the engine can never run this trigger as it is, or None. If its prompt is missing, or the
    entry never fires, it may still be saved."""
    if trigger.curates or isinstance(trigger.when, Webhook):
        return None
    try:
        prompt = prompts.read(trigger, project.own_dir)
    except prompts.BadPrompt:
        return None
    found = select.never(_draft(project, trigger, prompt))
    return Problem(f"run.{found[0]}", found[1], FIXES[found[0]]) if found else None


def warnings(project: Project, trigger: Trigger, entries: TriggerSet) -> list[str]:
    """What a person should know about a trigger that is saved nevertheless."""
    found = [*trigger.warnings]
    if not prompts.exists(trigger, project.own_dir):
        found.append(
            f"run.promptFile: {trigger.prompt_folder}/{trigger.run.prompt_file} is not there yet"
        )
    if trigger.run.model and (reason := _choice(project, trigger, "").reason):
        found.append(f'run.model: "{trigger.run.model}" cannot run now: {reason}')
    if gone := outside(project, trigger):
        found.append(f"clients: {gone}")
    found += offered.unknown(project, list(trigger.run.tools))
    if never := problem(project, trigger):
        found.append(f"{never.field}: {never.reason}")
    elif refused := refusal(project, trigger, trigger.run.prompt or ""):
        found.append(f"run.network: {refused}" if refused == policy.NETWORK else f"run: {refused}")
    elif denied := _denial_warning(project, trigger):
        found.append(denied)
    bound = reach.mode(project.network.mode)
    if refused := reach.wider(trigger.run.network, bound, "project"):
        found.append(f"run.network: {refused}: not used")
    curator = entries.curator
    if trigger.curates and trigger.enabled and curator and curator.name != trigger.name:
        found.append(f"trigger.on: only one afterTurn trigger is used: {curator.name}")
    if _bypasses_as_root(project, trigger):
        found.append("run.permissionMode: bypassPermissions as root without a sandbox")
    return found


def _denial_warning(project: Project, trigger: Trigger) -> str | None:
    """A warning about tools that are denied because no person can be asked, for a turn with all
    tools of the project. None in plan mode, where that is intended."""
    try:
        prompt = prompts.read(trigger, project.own_dir)
    except prompts.BadPrompt:
        return None
    if not trigger.own_agent or _mode(project, trigger) == "plan":
        return None
    if trigger.run.on_ask == "wait":
        return None
    job = _draft(project, trigger, prompt)
    used = grammar.tools(prompt) if grammar.is_runbook(prompt) else None
    denied = policy.asked_for(job) if used is None else policy.asked_for(job, used)
    if not denied:
        return None
    example = orjson.dumps(ORDINARY if used is None else used).decode().replace(",", ", ")
    fix = f"name the tools it may use, e.g. {example}"
    fix += ", or ask a person (run.onAsk: wait)"
    if cap_mode("bypassPermissions", clients.bounds(trigger.clients).mode) == "bypassPermissions":
        fix += ", or choose bypassPermissions"
    return (
        f"run.tools: no one attends its turns, so permission mode {job.mode} denies "
        f"{', '.join(denied)}; {'convert it and ' if trigger.legacy else ''}{fix}"
    )


def _choice(project: Project, trigger: Trigger, prompt: str) -> select.Choice:
    rung = select.Rung(project.written("engine"), project.written("model"))
    return select.choose(prompt=prompt, asked=trigger.run.model or "", project=rung)


def _mode(project: Project, trigger: Trigger) -> str:
    mode = trigger.run.permission_mode or project.permission_mode
    return cap_mode(mode, clients.bounds(trigger.clients).mode)


def _bypasses_as_root(project: Project, trigger: Trigger) -> bool:
    if os.geteuid() != 0 or _mode(project, trigger) != "bypassPermissions":
        return False
    return select.confinement().mode == "off"


def _draft(project: Project, trigger: Trigger, prompt: str) -> Job:
    """A job with what a preflight looks at; no chat exists yet."""
    choice = _choice(project, trigger, prompt)
    return Job(
        turn="",
        chat="",
        project=project.slug,
        cwd=str(project.working_dir),
        chats_dir=str(project.chats_dir),
        run_dir="",
        worker_pid=0,
        prompt=prompt,
        message=prompt,
        sender={"kind": "trigger", "name": trigger.name},
        engine=choice.engine,
        model=choice.model,
        trigger=trigger.name,
        tools=None if trigger.own_agent else list(trigger.run.tools),
        mode=_mode(project, trigger),
        max_turns=trigger.run.max_turns or MAX_TURNS,
        sandbox=select.confinement(),
        network=reach.network(project.network, trigger.run.network or ""),
        engine_cfg=select.engine_cfg(choice.engine),
    )
