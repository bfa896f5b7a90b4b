"""Turns of the claude engine with a stand-in for the program that its SDK starts."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.workspace.chats.turns.world import BASE
from tests.workspace.engines.claude.conftest import Desk, Record

STAND_IN = BASE / "tests" / "stubs" / "claude_code.py"
# The turn is real, the SDK too; what it starts is the stand-in, and never Claude Code itself.
PATCH = """
from workspace.engines.claude import setup
setup.TurnFiles.command = lambda self, io: {program!r}
"""


def played(desk: Desk, *calls: tuple[str, dict[str, Any]], **fields: Any) -> list[Record]:
    """The records of a turn in which the stand-in makes these calls."""
    script, program = desk.world.root / "calls.json", desk.world.root / "claude"
    script.write_text(json.dumps(calls))
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {script} "$@"\n')
    program.chmod(0o700)
    return desk.end(desk.start(patch=PATCH.format(program=str(program)), **fields))
