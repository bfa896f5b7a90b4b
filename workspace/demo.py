"""The demo project for a first run: something to look at, made only on request.

It is an ordinary project: a small Python package with a test, the nightly check as a disabled
trigger, and one chat that ran a runbook. Everything in it works offline.
"""

from __future__ import annotations

from typing import Any

from config.errors import NotFound
from workspace.access.principals import System, User
from workspace.chats import actions
from workspace.projects import store
from workspace.projects.project import Project
from workspace.triggers import commands

SLUG = "demo"
NIGHTLY = """#!runbook
```Grep name=todo
{"pattern": "TODO|FIXME", "glob": "**/*.py", "output_mode": "count"}
```
```Bash name=tests timeout=900 allow_failure
make test 2>&1 | tail -n 40; exit "${PIPESTATUS[0]}"
```
```Write file_path=reports/{{date.utc}}.md
Open work: {{todo.output}}
Tests ended with {{tests.status}}: {{tests.output}}
```
Report written; tests ended with {{tests.status}}.
"""
FIRST_CHAT = """#!runbook
Every line outside a fence is said as it stands; a fence that names a tool is a step.
```Glob name=files
{"pattern": "**/*.py"}
```
```Grep name=todo
{"pattern": "TODO|FIXME", "glob": "**/*.py", "output_mode": "content", "-n": true}
```
```Write file_path=notes/open-work.md
# Open work, {{date.utc}}

{{todo.output}}
```
Done. The open work of this project, now also in `notes/open-work.md`:
```text
{{todo.output}}
```
"""
FILES = {
    "Makefile": "test:\n\tpython3 -m unittest -q\n",
    "README.md": (
        "# Demo\n\nA package small enough to read in a minute. "
        "Change it, break its test, let the nightly check find out.\n"
    ),
    "tides.py": (
        '"""Minutes between two times of day."""\n\n\n'
        "def minutes(start: str, end: str) -> int:\n"
        "    # TODO: times after midnight\n"
        "    first, last = (int(t[:2]) * 60 + int(t[3:]) for t in (start, end))\n"
        "    return last - first\n"
    ),
    "test_tides.py": (
        "import unittest\n\nfrom tides import minutes\n\n\n"
        "class Tides(unittest.TestCase):\n"
        "    def test_counts_minutes_of_one_day(self) -> None:\n"
        '        self.assertEqual(minutes("06:10", "12:25"), 375)\n\n'
        "    # FIXME: a tide that turns after midnight\n"
    ),
}


def nightly_check() -> dict[str, Any]:
    """The nightly check as a trigger record, disabled."""
    return {
        "trigger": {"type": "schedule", "cron": "30 2 * * *"},
        "run": {"prompt": NIGHTLY, "tools": ["Grep", "Bash", "Write"]},
        "enabled": False,
    }


def make(principal: User | System) -> Project:
    """The demo project, made if it does not exist; an existing one is left as it is."""
    try:
        return store.get(SLUG)
    except NotFound:
        pass
    summary = "A small package to try chats and triggers on"
    project = store.create(principal=principal, name="Demo", slug=SLUG, summary=summary)
    for name, text in FILES.items():
        (project.own_dir / name).write_text(text, encoding="utf-8")
    commands.put(project, "nightly-check", nightly_check())
    actions.create(
        principal=principal, project=project, prompt=FIRST_CHAT, name="First look around"
    )
    return store.get(SLUG)
