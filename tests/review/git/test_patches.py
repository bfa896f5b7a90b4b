"""Patch ids, change ids and changed lines, and the commits that landed on trunk."""

from __future__ import annotations

import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from review import caches
from review.git import patches
from review.git.patches import Patch
from review.git.repository import open_repository
from review.models import PatchRow
from tests.review.git.world import span
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def of(repo: Repo, *shas: str) -> dict[str, Patch]:
    return patches.of(open_repository(repo.path), shas)


def one(repo: Repo, sha: str) -> Patch:
    return of(repo, sha)[sha]


def told_by_git(repo: Repo, wanted: str, context: int) -> dict[str, str]:
    shell = f"git log -p --full-index -U{context} {wanted} | git patch-id --stable"
    done = subprocess.run(
        shell, shell=True, cwd=repo.path, capture_output=True, check=True, env=repo.environment
    )
    return {sha: patch_id for patch_id, sha in map(str.split, done.stdout.decode().splitlines())}


def test_patch_ids_are_those_of_git(repo: Repo):
    repo.commit({"bin": b"\0\1", "b/c.txt": None, "d": "new\n", "no": "line feed"})
    repo.commit({"bin": b"\0\2", "odd\nname": "commit " + "1" * 40 + "\n"})

    found = of(repo, *repo.shas("main..topic"))

    assert {sha: patch.patch_id for sha, patch in found.items()} == told_by_git(
        repo, "main..topic", 3
    )
    assert {sha: patch.patch_id_u0 for sha, patch in found.items()} == told_by_git(
        repo, "main..topic", 0
    )


def test_a_base_edit_in_the_context_changes_only_the_id_with_context(repo: Repo):
    lines = [f"{number}\n" for number in range(9)]
    repo.commit({"f": "".join(lines)})
    base = repo.sha()
    old = repo.commit({"f": "".join([*lines[:4], "four\n", *lines[5:]])})
    repo.branch("other", base)
    repo.commit({"f": "".join(["zero\n", "one\n", "two\n", *lines[3:]])})
    new = repo.commit({"f": "".join(["zero\n", "one\n", "two\n", "3\n", "four\n", *lines[5:]])})

    before, after = one(repo, old), one(repo, new)

    assert before.patch_id != after.patch_id
    assert before.patch_id_u0 == after.patch_id_u0
    assert before.lines == after.lines


def test_an_empty_commit_has_no_patch_id(repo: Repo):
    patch = one(repo, repo.commit({}, "empty", trailers={"Change-Id": "I1"}))

    assert (patch.patch_id, patch.patch_id_u0, patch.lines) == (None, None, {})
    assert patch.change_id == "I1"


def test_changed_lines_are_counted_without_blanks_and_indents(repo: Repo):
    old = one(repo, repo.commit({"f": "x\n  x\n\n \t\ny\n"}))
    indented = one(repo, repo.amend({"f": "    x\nx  \ny\n"}))
    removed = one(repo, repo.commit({"f": "x\n"}))

    assert sorted(old.lines.values()) == [1, 2]
    assert indented.lines == old.lines
    assert set(removed.lines) & set(old.lines) != set(old.lines), "an added line is no removed one"


def test_lines_that_look_like_headers_count_as_lines(repo: Repo):
    patch = one(repo, repo.commit({"f": "++ b/f\n-- a/f\n@@ -1 +1 @@\ndiff --git a b\n\\ x\n"}))

    assert sum(patch.lines.values()) == 5


def test_a_commit_of_very_many_lines_is_not_known_by_them(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(patches, "MOST_LINES", 10)

    assert one(repo, repo.commit({"f": "x\n" * 10})).lines != {}
    assert one(repo, repo.commit({"g": "x\n" * 11})).lines == {}


def test_a_merge_is_known_by_what_it_brings_to_its_first_parent(repo: Repo):
    repo.checkout("main")
    repo.commit({"m": "1\n"})
    merge = one(repo, repo.merge("topic"))

    assert merge.patch_id is not None
    assert sum(merge.lines.values()) == 3


def test_a_commit_that_is_gone_is_left_out(repo: Repo):
    head = repo.sha()
    names = ("1" * 40, "HEAD", "x\ny", repo.git("rev-parse", "HEAD:a.txt"), "")

    assert set(of(repo, *names, head, head)) == {head}
    assert of(repo) == {}


def test_a_commit_with_missing_blobs_is_left_out_alone(repo: Repo, tmp_path: Path):
    shas = repo.shas("main..topic")
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    clone.git("cat-file", "blob", "HEAD:b/c.txt")

    assert set(of(clone, *shas)) == {shas[1]}


def test_patches_are_made_once(repo: Repo, runs: list[str]):
    shas = repo.shas("main..topic")
    first = of(repo, *shas)
    runs.clear()

    assert of(repo, *shas) == first
    assert runs == []
    news = repo.commit({"n": "1\n"})
    assert set(of(repo, *shas, news)) == {*shas, news}
    assert runs.count("log") == 2
    caches.clear()
    assert PatchRow.objects.count() == 0
    assert of(repo, *shas) == first


def test_a_commit_of_more_than_memory_should_hold_has_its_ids_and_no_lines(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(patches, "MOST_BYTES", 1 << 16)
    repo.commit({"dump": "ab\n" * 300_000})
    repo.commit({"d": "new\n"})
    shas = repo.shas("main..topic")
    open_repository(repo.path).run("version")  # what is made once is not counted
    tracemalloc.start()

    found = of(repo, *shas)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20  # a few pieces of what git says
    assert [bool(found[sha].lines) for sha in shas] == [True, True, False, True]
    for context in (0, 3):
        ids = told_by_git(repo, "main..topic", context)
        mine = {sha: one.patch_id if context else one.patch_id_u0 for sha, one in found.items()}
        assert mine == ids


def test_commits_are_told_apart_wherever_what_git_says_is_cut():
    parts = [b"commit 1\n\n    a\n\ndiff --git x\n+commit 7", b"commit 2\n", b"commit 3\n+\ncommit"]
    data = b"\n".join(parts)

    for size in range(1, len(data) + 1):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert [b"commit " + one for one in patches._commits(pieces)] == parts


def test_the_edge_of_a_shallow_clone_is_not_kept(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--depth=1")

    of(clone, repo.sha())

    assert PatchRow.objects.count() == 0


def landed(repo: Repo, wanted: str = "main..topic") -> dict[str, str]:
    return patches.find_landed(open_repository(repo.path), span(repo, wanted))


def test_a_commit_cherry_picked_to_trunk_has_landed(repo: Repo):
    first, _second = repo.shas("main..topic")
    repo.checkout("main")
    repo.commit({"m": "1\n"})
    there = repo.cherry_pick(first)
    repo.commit({"m": "2\n"})

    assert landed(repo) == {first: there}


def test_a_commit_landed_on_the_remote_s_trunk_counts_too(repo: Repo, tmp_path: Path):
    repo.checkout("main")
    clone = repo.clone(tmp_path / "clone")
    clone.git("checkout", "-q", "topic")
    repo.commit({"m": "1\n"})
    first = repo.sha("topic~1")
    there = repo.cherry_pick(first)
    clone.git("fetch", "-q")

    assert landed(clone) == {first: there}


def test_an_empty_commit_has_not_landed_by_another_one(repo: Repo):
    repo.commit({}, "empty")
    repo.checkout("main")
    repo.commit({}, "empty too")

    assert landed(repo) == {}


def test_without_a_trunk_nothing_has_landed(repo: Repo, runs: list[str]):
    repo.git("branch", "-m", "main", "other")
    wanted = span(repo, "topic~2..topic")
    runs.clear()

    assert patches.find_landed(open_repository(repo.path), wanted) == {}
    assert runs == []


def test_what_landed_is_asked_once(repo: Repo, runs: list[str]):
    repo.checkout("main")
    repo.cherry_pick("topic~1")
    repository, wanted = open_repository(repo.path), span(repo, "main..topic")
    first = patches.find_landed(repository, wanted)
    runs.clear()

    assert patches.find_landed(repository, wanted) == first
    assert len(first) == 1
    assert runs == []


def test_a_history_too_long_to_compare_tells_of_no_landing(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    wanted = span(repo, "main..topic")
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\necho 'fatal: too long' >&2\nexit 128\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert patches.find_landed(open_repository(repo.path), wanted) == {}
    assert "landed commits are unknown" in caplog.text
