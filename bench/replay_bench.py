"""Carry-over on histories nobody here wrote: merged topic branches, rewritten as real ones are.

`SVC_BENCH_REPOS` names repositories on this machine, separated by colons, `SVC_BENCH_BRANCHES`
how many branches of each (12). Each branch is rebased with git onto the mainline of its merge,
then also reordered, fixed up, squashed, split, or shorn of a commit; threads stand at random on
changed, unchanged and deleted lines. The truth is known without the service: from the todo list,
from unique lines and from blame.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench.figures import Figure

ROOT = Path(__file__).resolve().parent.parent
SEED = 7
BRANCHES = 12
TARGETS = {
    "rebase": 0.99,
    "reorder": 0.97,
    "fixup": 0.97,
    "squash": 0.9,
    "drop": 0.97,
    "split": 0.97,
}
LEAST_PLACED, MOST_WRONG = 0.99, 0.005
Counts = dict[str, dict[str, int]]  # counts of fates or verdicts, by kind of rewriting


def main() -> list[Figure]:
    places = [Path(part) for part in os.environ.get("SVC_BENCH_REPOS", "").split(":") if part]
    if not places:
        print("replay: set SVC_BENCH_REPOS to repositories on this machine (a:b:c); skipped")
        return []
    tallies = [measured(place) for place in places]
    return [*commit_figures(tallies), *thread_figures(tallies)]


def commit_figures(tallies: list[dict[str, Counts]]) -> list[Figure]:
    """Of each kind of rewriting, the share of old commits led to where their change went."""
    figures = []
    for kind, least in TARGETS.items():
        fates = summed(tally["commits"].get(kind, {}) for tally in tallies)
        total = sum(fates.values())
        if total:
            what = f"{kind}: {total:,} commits, led to their successor (wrongly: {fates['wrong']})"
            figures.append(_share("R1", what, fates["right"] / total, least))
    return figures


def thread_figures(tallies: list[dict[str, Counts]]) -> list[Figure]:
    """Of the threads whose true place is known."""
    every = [counts for tally in tallies for counts in tally["threads"].values()]
    found = summed(every)
    known = sum(found.values()) - found["unknown"]
    if not known:
        return []
    wrong = {
        "outdated though the text is there": found["outdated"],
        "not outdated though the text changed": found["kept"],
        "on another line": found["line"],
    }
    right = _share("R2", f"{known:,} threads, rightly placed", found["right"] / known, LEAST_PLACED)
    shares = [(f"threads {what}", count / known) for what, count in wrong.items()]
    return [right] + [
        Figure("R2", what, f"{share:.2%}", "", None, f"<= {MOST_WRONG:.1%}", share <= MOST_WRONG)
        for what, share in shares
    ]


def summed(counts: Iterable[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


def _share(id: str, what: str, share: float, least: float) -> Figure:  # noqa: A002
    return Figure(id, what, f"{share:.1%}", "", None, f">= {least:.0%}", share >= least)


def measured(repository: Path) -> dict[str, Counts]:
    """The tally of one repository, made in a process of its own on a fresh data directory."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("SVC_")}
        env = kept | {"SVC_DATA_DIR": folder, "SVC_LOG_LEVEL": "error"}
        most = os.environ.get("SVC_BENCH_BRANCHES", str(BRANCHES))
        argv = [sys.executable, "-m", "bench.replay_bench", str(repository.resolve()), most]
        done = subprocess.run(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    found: dict[str, Counts] = json.loads(done.stdout)
    return found


def _child(repository: Path, most: int) -> None:
    """Print the tally as JSON; what was not found right goes to standard error, a line each."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from bench.replay_measure import replayed

    call_command("migrate", verbosity=0)
    tally = replayed(repository, most, SEED)
    print("\n".join(tally.odd), file=sys.stderr)
    counts = {
        "commits": tally.commits, "rungs": tally.rungs, "threads": tally.threads,
        "placements": tally.placements,
    }  # fmt: skip
    print(json.dumps({name: _nested(count) for name, count in counts.items()}))


def _nested(counts: Counter[tuple[str, str]]) -> Counts:
    made: Counts = {}
    for (kind, fate), count in sorted(counts.items()):
        made.setdefault(kind, {})[fate] = count
    return made


if __name__ == "__main__":
    _child(Path(sys.argv[1]), int(sys.argv[2]))
