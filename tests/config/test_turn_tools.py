"""What the parts give to turns is light until a turn calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dashboard.mcp import catalogue
from dashboard.mcp import turn_tools as apps_tools
from dashboard.operations.apps import STATES

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import sys
import django
django.setup()
from config.mcp import turn_tools
assert {*turn_tools.registries()} == {"review", "apps"}
print(*sys.modules)
"""
HEAVY = (
    "review.stacks.asking.turns",
    "review.mcp.catalogue",
    "dashboard.operations",
    "dashboard.daemon",
)


def test_who_reads_which_tools_there_are_does_not_load_what_they_stand_on(tmp_path: Path) -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "SVC_DATA_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", ASK]
    loaded = subprocess.run(asked, cwd=ROOT, env=env, capture_output=True, text=True, check=True)

    assert {*HEAVY} & {*loaded.stdout.split()} == set()


def test_the_words_that_are_said_twice_for_it_are_the_same() -> None:
    assert apps_tools.STATES == STATES
    assert apps_tools.NAMES.items() <= catalogue.NAMES.items()
