"""The replay of real histories finds branches, rewrites them, and knows the truth about lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from bench import replay_bench
from bench.replay_histories import Scratch, branches
from bench.replay_measure import replayed
from bench.replay_truth import Truth, Wanted
from tests.review.repos import Repo

ROOT = Path(replay_bench.__file__).parent.parent
LINES = [f"statement {n} of the module" for n in range(60)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def history(tmp_path: Path) -> Repo:
    """A mainline that moved on while a topic of three commits was made, and its merge."""
    repo = Repo(tmp_path / "history")
    repo.commit({"a.py": text(LINES), "b.py": text(LINES[:20])}, "Base")
    repo.branch("topic")
    repo.commit({"a.py": text([*LINES[:30], "topic one", *LINES[31:]]), "n.py": "new\n"}, "One")
    repo.commit({"b.py": text([*LINES[:10], "}", "}", *LINES[12:20]])}, "Two")
    repo.commit({"a.py": text([*LINES[:29], "topic one again", *LINES[31:]])}, "Three")
    repo.checkout("main")
    repo.commit({"a.py": text(["mainline", *LINES])}, "Mainline moves")
    repo.merge("topic")
    return repo


def test_a_merged_topic_is_a_branch_and_each_way_of_rewriting_says_what_became_of_it(
    history: Repo, tmp_path: Path
):
    (branch,) = branches(history.path, 5, Random(1))
    scratch = Scratch(history.path, tmp_path / "scratch")

    ways = {way.kind: way for way in scratch.rewritten(branch, Random(1))}

    assert len(branch.commits) == 3
    assert {"rebase", "fixup", "squash", "split"} <= ways.keys()
    assert [len(ways["rebase"].fates[old]) for old in branch.commits] == [1, 1, 1]
    assert len(ways["squash"].commits) == 1
    assert set(ways["squash"].fates.values()) == {frozenset(ways["squash"].commits)}
    assert len(ways["fixup"].commits) == 2
    assert sorted(len(new) for new in ways["split"].fates.values()) == [1, 1, 2]


def test_the_truth_about_a_line_is_found_by_its_text_or_by_blame_or_not_told(
    history: Repo, tmp_path: Path
):
    (branch,) = branches(history.path, 5, Random(1))
    scratch = Scratch(history.path, tmp_path / "scratch")
    rebased = next(scratch.rewritten(branch, Random(1)))
    old, new = branch.commits[1], rebased.commits[1]
    truth = Truth(scratch.folder, {a: min(b) for a, b in rebased.fates.items()})

    assert truth.of(Wanted(old, "a.py", 31, 31), new) == ("a.py", 32, 32)
    assert truth.of(Wanted(old, "b.py", 12, 12), new) == ("b.py", 12, 12)
    assert truth.of(Wanted(old, "a.py", 30, 31), rebased.commits[2]) == "gone"
    assert truth.of(Wanted(old, "a.py", 999, 999), new) is None


@pytest.mark.django_db
def test_a_history_is_replayed_and_counted(history: Repo, settings, tmp_path: Path):
    settings.DATA_DIR = tmp_path / "data"

    tally = replayed(history.path, 5, 7)

    assert tally.branches == 1
    assert tally.commits["rebase", "right"] == 3
    assert tally.threads["rebase", "right"] > 5
    assert not {verdict for _, verdict in tally.threads} - {"right", "unknown"}, tally.odd


def test_without_repositories_the_replay_is_skipped_with_a_sentence(monkeypatch, capsys):
    monkeypatch.delenv("SVC_BENCH_REPOS", raising=False)

    assert replay_bench.main() == []
    assert "SVC_BENCH_REPOS" in capsys.readouterr().out


def test_the_bench_replays_the_repositories_it_is_told(history: Repo):
    env = {**os.environ, "SVC_BENCH_REPOS": str(history.path), "SVC_BENCH_BRANCHES": "1"}
    argv = [sys.executable, "-m", "bench", "replay"]

    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
    assert "rebase: 3 commits, led to their successor (wrongly: 0) | 100.0%" in done.stdout
