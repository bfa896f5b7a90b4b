"""Raw diffs of blobs and commits, renames between commits, and the digest of a file's change."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.git import command
from config.git.command import GitError
from review import caches
from review.git import staying
from review.git.commits import Commit
from review.git.diffs import diff, hunkstream
from review.git.log import history
from review.git.repository import Repository, open_repository
from tests.review.git.processes import is_gone
from tests.review.repos import Repo

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_gits")]


@pytest.fixture
def opened(repo: Repo) -> Repository:
    return open_repository(repo.path)


def oid(repo: Repo, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return repo.git("hash-object", "-w", "--stdin", stdin=data)


def commit(repo: Repo, sha: str) -> Commit:
    return history.commit(open_repository(repo.path), sha)


def applied(old: list[bytes], new: list[bytes], edits: tuple[diff.Edit, ...]) -> list[bytes]:
    """What the edits make of the old lines, taking the lines they add from the new ones."""
    made: list[bytes] = []
    at = 0
    for old_start, old_count, new_start, new_count in edits:
        start = old_start if old_count == 0 else old_start - 1
        made += old[at:start]
        first = new_start if new_count == 0 else new_start - 1
        assert len(made) == first
        made += new[first : first + new_count]
        at = start + old_count
    return made + old[at:]


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ("1\n2\n3\n", "1\n2\n3\n", ()),
        ("1\n2\n3\n", "1\nX\n3\n", ((2, 1, 2, 1),)),
        ("1\n2\n3\n", "0\n1\n2\n3\n", ((0, 0, 1, 1),)),
        ("1\n2\n3\n", "1\n2\n3\n4\n5\n", ((3, 0, 4, 2),)),
        ("1\n2\n3\n", "3\n", ((1, 2, 0, 0),)),
        ("1\n2\n3\n", "", ((1, 3, 0, 0),)),
        ("1\n2", "1\n2\n", ((2, 1, 2, 1),)),
        ("1\r\n2\r\n", "1\n2\n", ((1, 2, 1, 2),)),
        ("-- a\n", "++ b\n", ((1, 1, 1, 1),)),
        ("@@ -1 +1 @@\n", "@@ -9,9 +9,9 @@\n", ((1, 1, 1, 1),)),
        ("1\f2\v3\u2028\n", "1\f2\v4\u2028\n", ((1, 1, 1, 1),)),
    ],
)
def test_edits_are_the_numbers_of_git_s_hunk_headers(
    repo: Repo, opened: Repository, old: str, new: str, edits: tuple[diff.Edit, ...]
):
    assert diff.edits(opened, oid(repo, old), oid(repo, new)) == edits


def test_an_absent_side_is_one_hunk_over_the_whole_file(repo: Repo, opened: Repository):
    for text, lines in (("1\n2\n", 2), ("1\n2", 2), ("x", 1), ("\n", 1)):
        assert diff.edits(opened, None, oid(repo, text)) == ((0, 0, 1, lines),)
        assert diff.edits(opened, oid(repo, text), None) == ((1, lines, 0, 0),)
    assert diff.edits(opened, None, oid(repo, "")) == ()
    assert diff.edits(opened, None, None) == ()


def test_binary_files_have_no_edits(repo: Repo, opened: Repository):
    text, binary = oid(repo, "text\n"), oid(repo, b"\0\1\2")

    assert diff.edits(opened, binary, oid(repo, b"\0\3")) == ()
    assert diff.edits(opened, text, binary) == ()
    assert diff.edits(opened, None, binary) == ()


def test_edits_turn_the_old_text_into_the_new_one(repo: Repo, opened: Repository):
    rng = random.Random(7)
    for _ in range(40):
        old = [b"%d\n" % rng.randrange(5) for _ in range(rng.randrange(30))]
        new = [line for line in old if rng.random() > 0.3]
        for _ in range(rng.randrange(5)):
            new.insert(rng.randrange(len(new) + 1), b"new %d\n" % rng.randrange(5))

        edits = diff.edits(opened, oid(repo, b"".join(old)), oid(repo, b"".join(new)))

        assert applied(old, new, edits) == new


def test_a_pair_of_blobs_is_compared_once(repo: Repo, opened: Repository, runs: list[str]):
    old, new = oid(repo, "1\n"), oid(repo, "2\n")
    diff.edits(opened, old, new)
    diff.edits(opened, old, new)

    assert runs == ["diff"]


@pytest.mark.parametrize("pair", [("1" * 40, None), (None, "1" * 40), ("1" * 40, "2" * 40)])
def test_a_missing_blob_is_an_error(opened: Repository, pair: tuple[str | None, str | None]):
    with pytest.raises(GitError):
        diff.edits(opened, *pair)


@pytest.mark.parametrize("name", ["--no-index", "HEAD", "main:a.txt", ""])
def test_only_object_ids_are_compared(repo: Repo, opened: Repository, name: str):
    with pytest.raises(GitError) as told:
        diff.edits(opened, name, oid(repo, "x\n"))

    assert told.value.kind == "revision"


@pytest.fixture
def busy(repo: Repo) -> Commit:
    """A commit with every kind of change and with names that look like something else."""
    text = "".join(f"line {number}\n" for number in range(40))
    names = ('q"x', "a\tb", "new\nline", "-x", "\udcff", ":(top)x", "diff --git a b")
    repo.commit({"long": text, "kind": "x\n", "mode": "x\n", "gone": "1\n2\n", "bin": b"\0\1"})
    (repo.path / "kind").unlink()
    (repo.path / "kind").symlink_to("mode")
    (repo.path / "mode").chmod(0o755)
    hard = "+++ b/x\n--- a/x\ndiff --git a/x b/x\n@@ -1 +1 @@\n\\ No newline\n\0late"
    return commit(
        repo,
        repo.commit(
            {"long": None, "moved": text.replace("line 7\n", "LINE 7\nmore\n"), "gone": None,
             "bin": b"\0\2", "empty": "", "hard": "x" * 9000 + hard, "bare": "no line feed",
             **dict.fromkeys(names, "1\n")}
        ),
    )  # fmt: skip


def test_the_edits_of_a_commit_equal_those_of_its_blobs(busy: Commit, opened: Repository):
    found = diff.commit_edits(opened, busy)

    assert set(found) == {file.path for file in busy.files}
    for file in busy.files:
        if file.status != "type":  # told as a deleted and an added file
            assert found[file.path] == diff.edits(opened, file.old_oid, file.new_oid), file.path
    assert found["moved"] == ((8, 1, 8, 2),)
    assert found["kind"] == ((1, 1, 0, 0), (0, 0, 1, 1))
    assert found["mode"] == found["bin"] == found["empty"] == ()


def test_the_edits_of_some_files_equal_those_of_all(busy: Commit, opened: Repository):
    everything = diff.commit_edits(opened, busy)
    for file in busy.files:
        caches.clear()
        assert diff.commit_edits(opened, busy, [file.path]) == {file.path: everything[file.path]}
    caches.clear()
    assert diff.commit_edits(opened, busy, ["nowhere", "."]) == {}


def test_files_past_the_rename_limit_stay_apart_when_few_of_them_are_asked(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    for module, name in ((history, "STAYS"), (diff, "HUNKS")):
        lower = ("-l1" if word == "-l1000" else word for word in getattr(module, name))
        monkeypatch.setattr(module, name, tuple(lower))
    texts = ["".join(f"{name} {number}\n" for number in range(9)) for name in "xy"]
    repo.commit({"one": texts[0], "two": texts[1]})
    made = commit(
        repo,
        repo.commit({"one": None, "two": None, "1": f"{texts[0]}more\n", "2": f"{texts[1]}more\n"}),
    )
    assert {file.status for file in made.files} == {"added", "deleted"}

    found = diff.commit_edits(opened, made, ["one", "1"])

    assert found == {"one": ((1, 9, 0, 0),), "1": ((0, 0, 1, 10),)}


def streamed(
    opened: Repository, made: Commit, paths: list[str] | None = None
) -> Iterator[tuple[str, tuple[diff.Edit, ...]]]:
    with diff.streamed_edits(opened, made, paths) as told:
        yield from told


def test_streamed_edits_are_the_same_in_the_order_of_the_commit(busy: Commit, opened: Repository):
    told = list(streamed(opened, busy))
    again = list(streamed(opened, busy))  # from memory now
    caches.clear()

    assert told == again
    assert [path for path, _ in told] == [file.path for file in busy.files]
    assert dict(told) == diff.commit_edits(opened, busy)
    for path, edits in told:
        caches.clear()
        assert list(streamed(opened, busy, [path])) == [(path, edits)]


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 1 << 20])
def test_a_stream_may_be_cut_anywhere(busy: Commit, opened: Repository, size: int):
    command_line = diff._patches(opened, busy, busy.files, limited=False)
    data = opened.run(*command_line)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]

    found = {file.path: edits for file, edits in hunkstream.edits(pieces)}

    assert found == diff.commit_edits(opened, busy)


@pytest.mark.parametrize("files", [2, diff.FEW + 1], ids=["of a git that stays", "of its own"])
def test_a_stream_left_early_leaves_no_process(
    repo: Repo, opened: Repository, files: int, monkeypatch: pytest.MonkeyPatch
):
    more = {f"{number}": "1\n" for number in range(files - 1)}
    made = commit(repo, repo.commit({**more, "z": "a line of text\n" * 50_000}))  # over one read
    started: list[subprocess.Popen[bytes]] = []
    spawn = command.spawn

    def kept(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        started.append(spawn(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(command, "spawn", kept)
    with diff.streamed_edits(opened, made) as told:
        next(told)

    assert [process.poll() is not None for process in started] == [True]


def test_a_git_that_stays_tells_the_hunks_of_one_small_commit_after_another(
    repo: Repo, busy: Commit, opened: Repository
):
    list(streamed(opened, busy))
    root, renamed = commit(repo, repo.sha("main")), commit(repo, repo.commit({"moved": "other\n"}))
    repo.git("repack", "-adq")
    strange = commit(repo, repo.commit({"x\n=1\n": "1\n", "=": "=\n"}))
    before = {git.process.pid for git in staying._all}

    for one in (renamed, strange, busy, root):
        caches.clear()
        assert dict(streamed(opened, one)) == diff.commit_edits(opened, one)

    assert {git.process.pid for git in staying._all} == before
    assert [place[0] for place in staying._idle].count(diff.STAYS) == 1


def test_what_a_git_that_stays_dies_of_is_told_by_another(busy: Commit, opened: Repository):
    list(streamed(opened, busy))
    caches.clear()
    (git,) = staying._idle[(diff.STAYS, opened.common_dir, False, ())]
    os.kill(git.process.pid, signal.SIGSTOP)

    with diff.streamed_edits(opened, busy) as asked:
        os.kill(git.process.pid, signal.SIGKILL)
        told = dict(asked)

    assert is_gone(git.process.pid)
    assert told == diff.commit_edits(opened, busy)


def test_a_git_that_stays_and_hangs_is_a_timeout_and_is_ended(
    busy: Commit, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    list(streamed(opened, busy))
    caches.clear()
    (git,) = staying._idle[(diff.STAYS, opened.common_dir, False, ())]
    os.kill(git.process.pid, signal.SIGSTOP)
    monkeypatch.setattr(command, "TIMEOUT_S", 0.3)

    with pytest.raises(GitError, match="git diff-tree took too long"):
        list(streamed(opened, busy))

    assert is_gone(git.process.pid)


def test_no_git_stays_for_a_large_commit(repo: Repo, opened: Repository):
    made = commit(repo, repo.commit({f"{number}": "1\n" for number in range(diff.FEW + 1)}))

    told = dict(streamed(opened, made))

    assert len(told) == diff.FEW + 1
    assert not [place for place in staying._idle if place[0] == diff.STAYS]


def test_a_stream_holds_no_patch_in_memory(repo: Repo, opened: Repository):
    lines = "".join(f"a line of text, number {number}\n" for number in range(300_000))
    made = commit(repo, repo.commit({"big": lines, "small": "1\n"}))
    tracemalloc.start()
    try:
        told = dict(streamed(opened, made))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert told == {"big": ((0, 0, 1, 300_000),), "small": ((0, 0, 1, 1),)}
    assert peak < len(lines) / 2


def test_a_root_commit_adds_all_lines(repo: Repo, opened: Repository):
    assert diff.commit_edits(opened, commit(repo, repo.sha("main"))) == {"a.txt": ((0, 0, 1, 3),)}


def test_a_commit_is_diffed_once(busy: Commit, opened: Repository, runs: list[str]):
    for _ in range(2):
        diff.commit_edits(opened, busy)
        diff.commit_edits(opened, busy, ["moved"])
        diff.hunk_digests(opened, busy)

    assert runs.count("diff-tree") == 2


def test_digests_of_some_files_ask_for_these_alone_and_are_kept(
    repo: Repo, busy: Commit, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    asked: list[list[str]] = []
    spawn = command.spawn

    def noted(directory: Path, args: list[str], **how: Any) -> Any:
        asked.extend([args[args.index("--") + 1 :]] if args[0] == "diff-tree" else [])
        return spawn(directory, args, **how)

    monkeypatch.setattr(command, "spawn", noted)
    first = busy.files[0].path
    some = [diff.hunk_digests(opened, busy, [first]) for _ in range(2)]
    whole = diff.hunk_digests(opened, busy)

    assert some == [{first: whole[first]}] * 2
    assert set(whole) == {file.path for file in busy.files}
    assert len(asked) == 2
    assert first in asked[0]
    assert first not in asked[1]


def test_the_digest_is_over_modes_status_and_hunk_lines(repo: Repo, opened: Repository):
    made = commit(repo, repo.commit({"a.txt": "one\nTWO\nthree\nfour"}))

    text = "100644 100644 modified\n@@\n+four\n\\ No newline at end of file"
    assert diff.hunk_digests(opened, made) == {"a.txt": hashlib.sha256(text.encode()).hexdigest()}


def test_the_digest_survives_a_rebase_that_moves_the_lines(repo: Repo, opened: Repository):
    lines = "".join(f"{number}\n" for number in range(30))
    repo.commit({"f": lines})
    base = repo.sha()
    before = repo.commit({"f": lines.replace("20\n", "twenty\n")})
    repo.branch("other", base)
    repo.commit({"f": "above\n" + lines.replace("5\n", "five\n", 1)})
    repo.cherry_pick(before)

    old, new = commit(repo, before), commit(repo, repo.sha())

    assert old.files[0].new_oid != new.files[0].new_oid
    assert diff.hunk_digests(opened, old) == diff.hunk_digests(opened, new)


@pytest.mark.parametrize("change", ["text", "mode", "status", "binary"])
def test_the_digest_falls_when_the_change_changes(repo: Repo, opened: Repository, change: str):
    repo.commit({"f": "1\n2\n", "bin": b"\0\1"})
    old = commit(repo, repo.commit({"f": "1\n3\n", "bin": b"\0\2"}))
    if change == "mode":
        (repo.path / "f").chmod(0o755)
    files: dict[str, dict[str, str | bytes | None]]
    files = {"text": {"f": "1\n4\n"}, "status": {"f": None}, "binary": {"bin": b"\0\3"}}
    new = commit(repo, repo.amend(files.get(change)))

    path = "bin" if change == "binary" else "f"
    assert diff.hunk_digests(opened, old)[path] != diff.hunk_digests(opened, new)[path]


def test_a_submodule_has_a_digest_of_its_commits(repo: Repo, opened: Repository):
    digests = []
    for value in ("1" * 40, "2" * 40):
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{value},lib")
        repo.git("commit", "-q", "-m", "submodule")
        digests.append(diff.hunk_digests(opened, commit(repo, repo.sha()))["lib"])

    assert len(set(digests)) == 2


def test_renames_lead_from_the_old_path_to_the_new_one(repo: Repo, opened: Repository):
    text = "".join(f"line {number}\n" for number in range(40))
    old = repo.commit({"x\ny": text, "same": "1\n"})
    repo.commit({"x\ny": None, "\udcff": text + "more\n"})
    new = repo.commit({"other": "1\n"})

    assert diff.renames(opened, old, new) == {"x\ny": "\udcff"}
    assert diff.renames(opened, new, old) == {"\udcff": "x\ny"}
    assert diff.renames(opened, old, old) == {}


def test_renames_are_empty_where_a_commit_is_gone(repo: Repo, opened: Repository):
    assert diff.renames(opened, "1" * 40, repo.sha()) == {}
    assert diff.renames(opened, repo.sha(), "--output=x") == {}


def test_in_a_partial_clone_only_equal_files_are_renames(repo: Repo, tmp_path: Path):
    text = "".join(f"line {number}\n" for number in range(40))
    old = repo.commit({"one": text, "two": f"{text}x\n"})
    new = repo.commit({"one": None, "two": None, "ONE": text, "TWO": f"{text}y\n"})
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")

    assert diff.renames(open_repository(clone.path), old, new) == {"one": "ONE"}


def test_in_a_partial_clone_files_without_objects_are_left_out(repo: Repo, tmp_path: Path):
    repo.commit({"here": "1\n", "there": "one\n", "new": "x\n"})
    repo.commit({"here": "2\n", "there": "two\n", "new": "y\n"})
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    for revision in ("HEAD:here", "HEAD~1:here"):
        clone.git("cat-file", "blob", revision)
    made = commit(clone, clone.sha())
    opened = open_repository(clone.path)

    assert dict(streamed(opened, made)) == {"here": ((1, 1, 1, 1),)}
    assert diff.commit_edits(opened, made) == {"here": ((1, 1, 1, 1),)}
    assert set(diff.hunk_digests(opened, made)) == {"here", "new", "there"}


def test_an_interdiff_tells_how_a_commit_became_another(repo: Repo, opened: Repository):
    old = repo.commit({"f": "1\n2\n"}, "Subject")
    new = repo.amend({"f": "1\n3\n"}, "Better")

    text = diff.interdiff(opened, old, new)

    assert f"{old[:7]} ! 1:  {new[:7]} Subject" in text
    assert "    -    Subject\n    +    Better\n" in text
    assert "    -+2\n    ++3\n" in text
    assert " = " in diff.interdiff(opened, old, old)


def test_an_interdiff_of_strangers_is_one_too(repo: Repo, opened: Repository):
    text = diff.interdiff(opened, repo.sha("topic~1"), repo.sha("topic"))

    assert " ! " in text


def test_an_interdiff_of_roots_and_merges_compares_their_patches(repo: Repo, opened: Repository):
    repo.checkout("main")
    repo.commit({"m": "1\n"})
    old = repo.merge("topic", "Join")
    repo.commits += 1
    (repo.path / "extra").write_text("by hand\n")
    new = repo.amend()

    assert "++by hand" in diff.interdiff(opened, old, new)
    assert diff.interdiff(opened, old, old) == ""
    assert "+TWO" not in diff.interdiff(opened, repo.sha("main~2"), old).splitlines()


def test_an_interdiff_of_a_file_leaves_the_others_out(repo: Repo, opened: Repository):
    old = repo.commit({"f": "1\n2\n", "g*": "1\n", "gone": "1\n"}, "Subject")
    new = repo.amend({"f": "1\n3\n", "g*": "2\n", "gone": None, "come": "1\n"})

    def told(*paths: str) -> str:
        return diff.interdiff(opened, old, new, paths)

    assert "    -+2\n    ++3\n" in told("f")
    assert "g*" not in told("f")
    assert "    -+1\n    ++2\n" in told("g*")
    assert "-+1" in told("gone")
    assert "++1" in told("come")
    assert told("no such file") == ""


@pytest.mark.parametrize("name", ["1" * 40, "HEAD", "--output=x", ""])
def test_an_interdiff_needs_two_commits_that_are_here(repo: Repo, opened: Repository, name: str):
    with pytest.raises(GitError) as told:
        diff.interdiff(opened, name, repo.sha())

    assert told.value.kind == "revision"
