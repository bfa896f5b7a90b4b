"""What `manage.py doctor` says of the workspace: broken files, invalid triggers, clients."""

from __future__ import annotations

from collections.abc import Iterator

from config.kernel.process.doctor import FAULT, HINT, OK, Finding
from workspace import projects
from workspace.access.clients import management
from workspace.engines import select
from workspace.triggers.entries import files


def check() -> Iterator[Finding]:
    found = projects.all()
    for project in found:
        name = f"project {project.slug}"
        if project.error:
            line = f" (line {project.error_line})" if project.error_line else ""
            yield Finding(FAULT, name, f"project.yaml: {project.error}{line}")
            continue
        for entry in files.read(project).invalid:
            yield Finding(HINT, name, f'trigger "{entry.name}": {entry.error} (line {entry.line})')
    yield Finding(OK, "projects", f"{len(found)} in use")
    for record in management().records:
        yield Finding(HINT, "management API", record.text)
    for warning in select.warnings():
        yield Finding(HINT, "engines", warning)
