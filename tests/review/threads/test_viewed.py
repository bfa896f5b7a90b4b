"""Marks of viewed files: they hold as long as the diff of the file is the same."""

from __future__ import annotations

from typing import Any

import pytest

from config.errors import Invalid
from config.storage import yamlio
from review.threads import commenting, commit_review, records, viewed
from review.threads.carry.traces import Match
from tests.review.world import World

pytestmark = pytest.mark.django_db
TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def base(world: World) -> str:
    return world.repo.commit({"a.py": TEN, "b.py": TEN, "old.py": TEN * 2}, "Base")


@pytest.fixture
def sha(world: World, base: str) -> str:
    world.repo.git("mv", "old.py", "new.py")
    return world.repo.commit(
        {"a.py": TEN.replace("line 5", "five"), "c.bin": b"\x00\x01", "d e.txt": "new\n"}, "Change"
    )


def written(world: World, sha: str) -> Any:
    return yamlio.parse(world.file(sha).read_bytes()).texts()["viewed"]


def marks(world: World, sha: str, match: Match | None = None) -> tuple[list[str], list[str]]:
    review = records.review(world.target(sha, match))
    return review["viewed"], review["viewed_stale"]


@pytest.mark.parametrize("path", ["a.py", "new.py", "c.bin", "d e.txt"])
def test_a_changed_file_is_marked_and_unmarked(world: World, sha: str, path: str):
    target = world.target(sha)

    assert viewed.set_viewed(target, path, True)
    assert marks(world, sha) == ([path], [])
    assert viewed.set_viewed(target, path, False)
    assert marks(world, sha) == ([], [])


def test_a_mark_is_written_with_the_hash_of_the_diff(world: World, sha: str):
    viewed.set_viewed(world.target(sha), "a.py", True)

    mark = yamlio.parse(world.file(sha).read_bytes()).texts()["viewed"]["a.py"]
    assert len(mark["diff"]) == 64
    assert mark["at"].endswith("Z")


def test_what_is_so_already_is_not_written(world: World, sha: str):
    target = world.target(sha)
    assert not viewed.set_viewed(target, "a.py", False)
    assert not world.file(sha).exists()
    viewed.set_viewed(target, "a.py", True)
    before = world.version(sha)

    assert not viewed.set_viewed(target, "a.py", True)

    assert world.version(sha) == before


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("b.py", True, '"path" is not a file changed by this commit'),
        ("old.py", True, '"path" is not a file changed by this commit'),
        ("../a.py", True, '"path" is not a file changed by this commit'),
        (None, True, '"path" is required'),
        (["a.py"], True, '"path" is not a file changed by this commit'),
        ("a.py", None, '"viewed" must be true or false'),
        ("a.py", "true", '"viewed" must be true or false'),
        ("a.py", 1, '"viewed" must be true or false'),
    ],
)
def test_what_makes_no_sense_is_refused(world: World, sha: str, path: Any, value: Any, text: str):
    with pytest.raises(Invalid) as caught:
        viewed.set_viewed(world.target(sha), path, value)

    assert caught.value.text == text
    assert not world.file(sha).exists()


def test_several_files_are_marked_in_one_write_or_none_of_them(world: World, sha: str):
    target, paths = world.target(sha), ["a.py", "new.py", "c.bin"]
    with pytest.raises(Invalid, match=r'^"paths" names b\.py, no file changed by this commit$'):
        viewed.set_all_viewed(target, [*paths, "b.py"], True)
    assert marks(world, sha) == ([], [])
    viewed.set_viewed(target, "a.py", True)
    first = written(world, sha)["a.py"]

    assert viewed.set_all_viewed(target, paths, True)

    assert sorted(marks(world, sha)[0]) == sorted(paths)
    assert written(world, sha)["a.py"] == first
    assert not viewed.set_all_viewed(target, paths, True)
    assert viewed.set_all_viewed(target, paths, False)
    assert marks(world, sha) == ([], [])


@pytest.mark.parametrize("paths", [[], "a.py", {"a.py": 1}, [1]])
def test_files_that_are_no_list_of_files_are_refused(world: World, sha: str, paths: Any):
    with pytest.raises(Invalid, match=r'^"paths" '):
        viewed.set_all_viewed(world.target(sha), paths, True)


def test_a_list_of_paths_counts_for_the_commit_and_becomes_marks(world: World, sha: str):
    world.put(sha, "viewed: [a.py, nothing.py]  # by hand\n")
    assert marks(world, sha) == (["a.py"], [])

    viewed.set_viewed(world.target(sha), "c.bin", True)

    assert marks(world, sha) == (["a.py", "c.bin"], [])
    written = yamlio.parse(world.file(sha).read_bytes()).texts()["viewed"]
    assert set(written) == {"a.py", "nothing.py", "c.bin"}


def test_only_the_mark_that_is_set_changes(world: World, sha: str):
    world.put(sha, "viewed:\n  b.py: {diff: '00ff'}   # mine\n  # about a\n  a.py: true\n")

    viewed.set_viewed(world.target(sha), "c.bin", True)

    assert world.text(sha).startswith(
        "viewed:\n  b.py: {diff: '00ff'}   # mine\n  # about a\n  a.py: true\n"
    )


def test_a_mark_survives_a_rebase_with_an_equal_diff(world: World, base: str, sha: str):
    viewed.set_viewed(world.target(sha), "a.py", True)
    viewed.set_viewed(world.target(sha), "c.bin", True)
    viewed.set_viewed(world.target(sha), "new.py", True)
    world.repo.branch("topic")
    world.repo.checkout("main")
    world.repo.reset(base)
    world.repo.commit({"a.py": "zero\n" + TEN, "b.py": "other\n"}, "Elsewhere")
    world.repo.checkout("topic")
    (moved,) = world.repo.rebase("main", upstream=base)

    assert marks(world, moved, Match(sha, "patch-id")) == (["a.py", "c.bin", "new.py"], [])


def test_a_mark_falls_when_the_diff_changes(world: World, base: str, sha: str):
    for path in ("a.py", "c.bin", "d e.txt"):
        viewed.set_viewed(world.target(sha), path, True)
    new = world.repo.amend({"a.py": TEN.replace("line 5", "fünf"), "c.bin": b"\x00\x02"})

    match = Match(sha, "author-date")
    assert marks(world, new, match) == (["d e.txt"], ["a.py", "c.bin"])
    assert viewed.set_viewed(world.target(new, match), "a.py", True)
    assert marks(world, new) == (["a.py", "d e.txt"], ["c.bin"])
    assert viewed.set_viewed(world.target(new), "c.bin", False)
    assert marks(world, new) == (["a.py", "d e.txt"], [])


def test_a_hand_made_list_is_compared_with_the_commit_it_was_written_on(
    world: World, base: str, sha: str
):
    world.put(sha, "viewed: [a.py, c.bin]\n")
    new = world.repo.amend({"a.py": TEN.replace("line 5", "fünf")})

    assert marks(world, new, Match(sha, "author-date")) == (["c.bin"], ["a.py"])


def test_a_hand_made_list_means_the_same_after_it_was_taken_over(world: World, base: str, sha: str):
    world.put(sha, "viewed: [a.py, c.bin]\n")
    new = world.repo.amend({"a.py": TEN.replace("line 5", "fünf")})

    commenting.create(world.target(new, Match(sha, "author-date")), body="x", author="me")
    assert marks(world, new) == (["c.bin"], ["a.py"])
    newer = world.repo.amend({"a.py": TEN.replace("line 5", "five")})
    commenting.create(world.target(newer, Match(new, "author-date")), body="y", author="me")

    assert marks(world, newer) == (["a.py", "c.bin"], [])


def test_a_hand_made_list_of_a_commit_that_is_gone_counts_as_changed(world: World, sha: str):
    gone = "12" * 20
    world.put(gone, "viewed: [a.py]\n")

    assert marks(world, sha, Match(gone, "subject")) == ([], ["a.py"])


def test_a_file_that_left_the_commit_has_no_mark(world: World, base: str, sha: str):
    viewed.set_viewed(world.target(sha), "a.py", True)
    new = world.repo.amend({"a.py": TEN})

    assert marks(world, new, Match(sha, "author-date")) == ([], [])


def test_a_mark_knows_the_commit_it_was_made_on_through_rebases(world: World, base: str, sha: str):
    viewed.set_viewed(world.target(sha), "a.py", True)
    second = world.repo.amend({"a.py": TEN.replace("line 5", "cinq")})
    match = Match(sha, "author-date")
    commenting.create(world.target(second, match), body="takes over", author="me")
    viewed.set_viewed(world.target(second, match), "c.bin", True)
    third = world.repo.amend({"a.py": TEN.replace("line 5", "cinco"), "c.bin": b"\x00\x02"})
    target = world.target(third, Match(second, "author-date"))

    def seen(path: str) -> str | None:
        return viewed.seen_on(target, commit_review.of(target), path)

    assert (seen("a.py"), seen("c.bin"), seen("d e.txt")) == (sha, second, None)
    viewed.set_viewed(target, "a.py", True)
    assert seen("a.py") == third
