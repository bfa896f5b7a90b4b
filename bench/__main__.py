"""`python -m bench [part …]`: run the parts and write bench/RESULTS.md with machine and commit."""

from __future__ import annotations

import importlib
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import Figure, table
from tests import isolation  # own data directory and HOME, set before any other import

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    known = sorted(path.stem.removesuffix("_bench") for path in HERE.glob("*_bench.py"))
    if unknown := ", ".join({*names} - {*known}):
        print(f"no such part: {unknown} (there are: {', '.join(known)})", file=sys.stderr)
        return 2
    figures: list[Figure] = []
    for name in names or known:
        found = importlib.import_module(f"bench.{name}_bench").main()
        print(table(found), flush=True)  # part by part: all take the better part of an hour
        figures += found
    if not names:
        (HERE / "RESULTS.md").write_text(f"# Results\n\n{where()}\n\n{table(figures)}\n")
    return 0


def where() -> str:
    commit = subprocess.getoutput("git rev-parse --short HEAD")
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}, "
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"Linux {platform.release()}. A shared machine: read the ratios, not the milliseconds."
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        isolation.pytest_unconfigure()
