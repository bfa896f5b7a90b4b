"""Checks of `manage.py doctor` in the workspace: broken files, invalid triggers, clients."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from config.process.doctor import FAULT, HINT, OK, Finding
from config.process.singleton import Instance
from config.storage import homes
from workspace.access import reach
from workspace.access.clients import management
from workspace.engines import select
from workspace.engines.base import NAMES
from workspace.engines.tools import unseen
from workspace.notify import describe
from workspace.projects import store
from workspace.projects.project import Project
from workspace.servers import offered
from workspace.triggers.entries import files
from workspace.triggers.schedule import alive


def check() -> Iterator[Finding]:
    found = store.all_with_taken()
    for project in found:
        name = f"project {project.slug}"
        if project.taken:
            yield Finding(FAULT, name, project.error)
            continue
        if project.error:
            line = f" (line {project.error_line})" if project.error_line else ""
            yield Finding(FAULT, name, f"project.yaml: {project.error}{line}")
            continue
        yield from _without_effect(name, project)
        for entry in files.read(project).invalid:
            yield Finding(HINT, name, f'trigger "{entry.name}": {entry.error} (line {entry.line})')
    yield Finding(OK, "projects", f"{len(found)} in use")
    if homes.home():
        text = f"{homes.home()}; {len(store.elsewhere())} projects live with others"
        yield Finding(OK, "home", text)
    yield from scheduler()
    for record in management().records:
        yield Finding(HINT, "management API", record.text)
    yield from engines()
    yield from describe.findings()


def _without_effect(name: str, project: Project) -> Iterator[Finding]:
    """What a project.yaml says without effect: a fault if its turns lack a directory or a network
    for it, else a hint."""
    place = project.place
    broken = {place.refusal, *reach.unreadable(project.data.get("network"))}
    for text in project.warnings:
        where = f" ({place.dir})" if text == place.refusal else ""
        yield Finding(FAULT if text in broken else HINT, name, f"{text}{where}")


def engines() -> Iterator[Finding]:
    """The engine that would run a message and why, what others lack, sandbox and settings."""
    for name in NAMES:
        found = select.probe(name)
        level = OK if found.available else HINT
        words = (
            [found.version or "", *found.models[:5]] if found.available else [found.reason or ""]
        )
        yield Finding(level, f"engine {name}", ", ".join(filter(None, words)) or "can run")
    name, reason = select.default_engine()
    yield Finding(OK if select.probe(name).available else FAULT, "engine", f"{name}: {reason}")
    sandbox = select.walls(store.working_at)
    if sandbox.mode == "bwrap":
        yield Finding(OK, "sandbox", "bubblewrap confines what agents run")
        if hint := unseen.advice(sandbox):
            yield Finding(HINT, "sandbox", hint)
    for path in select.unshown(store.working_at):
        why = "it lies where agents work, or a link there leads to it"
        text = f"engines.reads: {path} is not shown to turns: {why}"
        yield Finding(HINT, "sandbox", text)
    for warning in select.warnings():
        yield Finding(FAULT if sandbox.mode == "unavailable" else HINT, "sandbox", warning)
    for warning in [*store.network_warnings(), *reach.of_instance()]:
        yield Finding(HINT, "network", warning)
    for warning in select.agent_warnings():
        yield Finding(HINT, "ACP agents", warning)
    for warning in offered.of_instance():
        yield Finding(HINT, "MCP servers", warning)


def scheduler() -> Iterator[Finding]:
    """A hint if a server runs without a qcluster: it accepts messages, and they wait."""
    served = Instance(settings.DATA_DIR, "server").holder() is not None
    if served and not alive.scheduler_alive():
        text = (
            "none runs here: nothing fires and no turn starts (SVC_SCHEDULER, manage.py qcluster)"
        )
        yield Finding(HINT, "qcluster", text)
