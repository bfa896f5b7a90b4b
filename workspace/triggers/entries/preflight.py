"""What about a trigger depends on this machine now: reasons to refuse a start, and warnings."""

from __future__ import annotations

import os

from workspace.engines import select
from workspace.engines.base import Job
from workspace.project import Project
from workspace.triggers.entries import prompts
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import MAX_TURNS, Trigger


def refusal(project: Project, trigger: Trigger, prompt: str) -> str | None:
    """Why the engine that would run the firing cannot (engine.md 9.6); None lets it start."""
    return select.preflight(_draft(project, trigger, prompt))


def warnings(project: Project, trigger: Trigger, entries: TriggerSet) -> list[str]:
    """What a person should know about a trigger that was saved all the same (workspace.md 8.1)."""
    found = [*trigger.warnings]
    if not prompts.exists(trigger, project.working_dir):
        found.append(
            f"run.promptFile: {trigger.prompt_folder}/{trigger.run.prompt_file} is not there yet"
        )
    if trigger.run.model and (reason := _choice(project, trigger, "").reason):
        found.append(f'run.model: "{trigger.run.model}" cannot run now: {reason}')
    if refused := refusal(project, trigger, trigger.run.prompt or ""):
        found.append(f"run.tools: {refused}")
    curator = entries.curator
    if trigger.curates and trigger.enabled and curator and curator.name != trigger.name:
        found.append(f"trigger.on: only one afterTurn trigger is used: {curator.name}")
    if _bypasses_as_root(project, trigger):
        found.append("run.permissionMode: bypassPermissions as root without a sandbox")
    return found


def _choice(project: Project, trigger: Trigger, prompt: str) -> select.Choice:
    rung = select.Rung(str(project.effective("engine")), str(project.effective("model")))
    return select.choose(prompt=prompt, asked=trigger.run.model or "", project=rung)


def _mode(project: Project, trigger: Trigger) -> str:
    return trigger.run.permission_mode or project.permission_mode


def _bypasses_as_root(project: Project, trigger: Trigger) -> bool:
    if os.geteuid() != 0 or _mode(project, trigger) != "bypassPermissions":
        return False
    return select.confinement().mode == "off"


def _draft(project: Project, trigger: Trigger, prompt: str) -> Job:
    """The job as far as a preflight looks at it; no chat exists yet."""
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
        engine_cfg=select.engine_cfg(choice.engine),
    )
