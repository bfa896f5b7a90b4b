"""Contract dashboard.md 18 (D1-D14) and S9-S11: what the dashboard promises to hold.

`python -m bench dashboard`, or `python bench/dashboard_bench.py [--short] [PART ...]`, which ends
with 1 when a figure is missed. A part is a module of bench/dashboard.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # the folder of this file has a `dashboard` of its own

from bench.dashboard.sizes import FULL, SHORT, Sizes  # noqa: E402
from bench.figures import Figure, table  # noqa: E402
from tests import isolation  # noqa: E402 - a data directory of its own, before the settings

PARTS = (
    "past",
    "edits",
    "scans",
    "flapping",
    "logs",
    "streams",
    "crowd",
    "alone",
    "cycles",
    "kills",
    "reboots",
)


def main(parts: tuple[str, ...] = PARTS, sizes: Sizes = FULL) -> list[Figure]:
    """The figures of these parts, in the order of their ids."""
    _set_up()
    figures: list[Figure] = []
    for name in parts:
        figures += importlib.import_module(f"bench.dashboard.{name}").figures(sizes)
    return sorted(figures, key=lambda one: (one.id[0], int(one.id[1:])))


def _set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)


def _asked() -> tuple[tuple[str, ...], Sizes]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--short", action="store_true", help="smaller sizes, for a quick look")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return tuple(given.parts) or PARTS, SHORT if given.short else FULL


if __name__ == "__main__":
    try:
        measured = main(*_asked())
        print(table(measured))
        code = 0 if all(one.ok for one in measured) else 1
    finally:
        isolation.pytest_unconfigure()
    sys.exit(code)
