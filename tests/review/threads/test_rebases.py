"""Reviews through real rebases: files, git and the whole chain from project.yaml to the answer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from config.git import command
from review import caches
from review.stacks import details, states, wire
from review.stacks import repo as repos
from review.threads import commenting, commit_review, viewed
from tests.review.threads.desk import LINES, ME, Desk, bodies, changed, ids, source, text
from tests.review.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def test_a_rebased_commit_shows_the_review_of_the_old_one_and_reading_writes_nothing(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tid = desk.comment(old, "Why?", "a.py", 20)
    before = desk.world.tree()

    (new,) = desk.moves_on({"a.py": text(["top", *LINES])})
    review = desk.review(new)

    assert source(review) == (old, "patch-id", True)
    assert review["file"] == str(desk.world.file(old))
    assert review["target_file"] == str(desk.world.file(new))
    (thread,) = review["threads"]
    assert (thread["id"], thread["line"], thread["placement"]) == (tid, 21, "moved")
    assert desk.world.tree() == before


def test_git_looks_for_what_recognises_a_commit_while_the_files_are_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    desk.comment(old, "Why?", "a.py", 20)
    (new,) = desk.moves_on({"b.py": text(["top", *LINES])})
    set_out = threading.Event()
    spawn, read = command.spawn, states.read

    def spawned(directory: Path, args: list[str], **how: Any) -> Any:
        if "-p" in args:
            set_out.set()
        return spawn(directory, args, **how)

    def read_meanwhile(*asked: Any) -> states.ReviewStates:
        assert set_out.wait(20)
        return read(*asked)

    monkeypatch.setattr(command, "spawn", spawned)
    monkeypatch.setattr(states, "read", read_meanwhile)

    assert source(desk.review(new)) == (old, "patch-id", True)


def test_the_first_write_takes_everything_over_and_leaves_the_old_file_alone(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tid = desk.comment(old, "Why?", "a.py", 20)
    viewed.set_viewed(desk.target(old), "a.py", True)
    kept = desk.world.file(old).read_bytes()
    (new,) = desk.moves_on({"a.py": text(["top", *LINES])})
    carried = desk.review(new)

    desk.reply(new, tid, "Because.")

    review = desk.review(new)
    assert desk.world.file(old).read_bytes() == kept
    assert source(review) == (old, "patch-id", False)
    assert review["file"] == review["target_file"]
    assert review["viewed"] == carried["viewed"] == ["a.py"]
    assert bodies(review) == ["Why?", "Because."]
    (thread,) = review["threads"]
    assert (thread["id"], thread["line"], thread["placement"]) == (tid, 21, "exact")


def test_ids_survive_five_rebases_with_edits_replies_and_amends(desk: Desk):
    sha = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tids = [desk.comment(sha, f"On {line}", "a.py", line) for line in (5, 20, 35)]
    first = ids(desk.review(sha))
    said = 3

    for turn in range(5):
        (sha,) = desk.moves_on({"a.py": text([*(f"top {n}" for n in range(turn + 1)), *LINES])})
        if turn % 2:
            sha = desk.git.amend({"b.py": changed(turn + 1, "amended")}, f"Reword, turn {turn}")
        assert [tid for tid, _ in ids(desk.review(sha))] == tids
        if turn != 2:
            desk.reply(sha, tids[turn % 3], f"Turn {turn}")
            said += 1

    review = desk.review(sha)
    assert len(bodies(review)) == said
    assert [below[0] for _, below in ids(review)] == [below[0] for _, below in first]
    assert [one["line"] for one in review["threads"]] == [10, 25, 40]
    assert not any(one["outdated"] for one in review["threads"])


def test_an_amended_message_is_found_by_its_patch_and_amended_content_by_its_date(desk: Desk):
    first = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    desk.comment(first, "Why?", "a.py", 20)

    second = desk.git.amend(subject="Said better")
    assert source(desk.review(second)) == (first, "patch-id", True)

    third = desk.git.amend({"a.py": changed(20, "done otherwise")})
    review = desk.review(third)
    assert source(review) == (first, "author-date", True)
    assert [one["placement"] for one in review["threads"]] == ["nearest"]


REWORKS = {
    "one line, then another beside it": (["a"], ["b"], ["b", "c"]),
    "half of it mended, then what was mended alone": (["a", "b"], ["a", "c"], ["c"]),
    "more is added, then the first goes": (LINES[:6], [*LINES[:6], *"abcdef"], list("abcdef")),
    "written anew, then shorter": (LINES[:15], list("abcdefghijkl"), list("abcd")),
    "one of many lines, twice": (
        LINES,
        [*LINES[:19], "x", *LINES[20:]],
        [*LINES[:19], "y", "z", *LINES[20:]],
    ),
}


@pytest.mark.parametrize("versions", REWORKS.values(), ids=REWORKS)
def test_a_comment_and_its_answers_stay_while_the_commit_is_amended_for_each(
    desk: Desk, versions: tuple[list[str], ...]
):
    first, *later = versions
    sha = desk.git.commit({"f.py": text(first)}, "Add the parser")
    tid = desk.comment(sha, "Why?", "f.py", 1)
    said = ["Why?"]
    for number, lines in enumerate(later):
        sha = desk.git.amend({"f.py": text(lines)})
        assert bodies(desk.review(sha)) == said
        said.append(f"Answer {number}")
        desk.reply(sha, tid, said[-1])

    sha = desk.git.amend({"f.py": text([*later[-1], "the last"])})

    assert bodies(desk.review(sha)) == said
    assert desk.listed().orphans == ()


def test_a_base_edit_next_to_the_change_is_seen_through(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    desk.comment(old, "Why?", "a.py", 20)

    (new,) = desk.moves_on({"a.py": changed(18, "near")})

    assert source(desk.review(new)) == (old, "patch-id-u0", True)


def test_two_reworked_commits_of_one_subject_get_no_review_by_it_and_the_repo_says_so(desk: Desk):
    shas = [desk.git.commit({f"{n}.py": text(LINES[n:])}, "wip") for n in (1, 2)]
    for sha in shas:
        desk.comment(sha, "Why?")
    desk.git.reset("main")

    new = [desk.git.commit({f"{n}.py": f"entirely new {n}\n"}, "wip") for n in (3, 4)]

    assert [source(desk.review(sha)) for sha in new] == [(None, None, False)] * 2
    warnings = desk.listed().warnings
    assert any("equal subject" in warning for warning in warnings)
    assert any("2 reviews match no commit" in warning for warning in warnings)


def test_commits_of_one_author_second_are_told_apart_by_subject(desk: Desk):
    when = "2026-02-02T02:02:02+00:00"
    old = [desk.git.commit({f"{n}.py": text(LINES)}, f"Part {n}", date=when) for n in (1, 2)]
    tids = [desk.comment(sha, f"On part {n}") for n, sha in enumerate(old, 1)]
    desk.git.reset("main")

    anew = text([*LINES[:20], "and done otherwise"])
    new = [desk.git.commit({f"{n}.py": anew}, f"Part {n}", date=when) for n in (2, 1)]

    assert [ids(desk.review(sha))[0][0] for sha in new] == tids[::-1]
    assert source(desk.review(new[1])) == (old[0], "author-date", True)


def test_reordered_commits_keep_their_own_reviews(desk: Desk):
    old = [desk.git.commit({f"{n}.py": text(LINES)}, "Same words") for n in (1, 2, 3)]
    tids = [desk.comment(sha, "Why?", f"{n}.py", 7) for n, sha in enumerate(old, 1)]

    new = desk.git.rebase_todo("main", [f"pick {old[n]}" for n in (2, 0, 1)])

    assert [ids(desk.review(sha))[0][0] for sha in new] == [tids[2], tids[0], tids[1]]


def test_back_by_reset_and_forward_again_nothing_is_missing_and_nothing_resurrected(desk: Desk):
    a = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    kept = desk.comment(a, "Keep", "a.py", 20)
    gone = desk.comment(a, "Delete me", "a.py", 10)
    b = desk.git.amend(subject="Said better")
    desk.reply(b, kept, "Said on b")
    (comment,) = next(one for one in desk.review(b)["threads"] if one["id"] == gone)["comments"]
    commenting.delete(desk.target(b), gone, comment["id"], ME)
    new_on_b = desk.comment(b, "New on b")

    desk.git.reset(a)
    review = desk.review(a)
    assert source(review) == (b, "lineage", True)
    assert [tid for tid, _ in ids(review)] == [kept, new_on_b]
    assert bodies(review) == ["Keep", "Said on b", "New on b"]

    desk.reply(a, kept, "Said on a")
    assert source(desk.review(a)) == (b, "lineage", False)
    assert bodies(desk.review(a)) == ["Keep", "Said on b", "Said on a", "New on b"]

    desk.git.reset(b)
    review = desk.review(b)
    assert source(review) == (a, "lineage", True)
    assert bodies(review) == ["Keep", "Said on b", "Said on a", "New on b"]
    commenting.resolve(desk.target(b), kept, True, ME)

    desk.git.reset(a)
    review = desk.review(a)
    assert [one["resolved"] for one in review["threads"]] == [True, False]
    assert len(bodies(review)) == 4


def test_what_was_written_into_the_old_file_by_hand_after_going_back_is_shown_too(desk: Desk):
    a = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    kept = desk.comment(a, "Keep")
    gone = desk.comment(a, "Delete me")
    b = desk.git.amend(subject="Said better")
    (comment,) = next(one for one in desk.review(b)["threads"] if one["id"] == gone)["comments"]
    commenting.delete(desk.target(b), gone, comment["id"], ME)
    desk.git.reset(a)
    file = desk.world.file(a)
    file.write_text(
        file.read_text()
        + '  - id: "hand"\n    comments:\n      - author: bob\n        body: By hand\n'
        '        created_at: "2099-01-01T00:00:00Z"\n'
    )

    assert [tid for tid, _ in ids(desk.review(a))] == [kept, "hand"]

    desk.reply(a, "hand", "Seen")
    assert bodies(desk.review(a)) == ["Keep", "By hand", "Seen"]


def test_a_squash_shows_all_threads_and_says_which_came_from_the_second(desk: Desk):
    one = desk.git.commit({"a.py": changed(20, "reworded")}, "One")
    two = desk.git.commit({"b.py": changed(30, "here too")}, "Two")
    first = desk.comment(one, "On one", "a.py", 20)
    second = desk.comment(two, "On two", "b.py", 30)

    (new,) = desk.git.rebase_todo("main", [f"pick {one}", f"squash {two}"])

    review = desk.review(new)
    assert source(review) == (one, "author-date", True)
    assert [(t["id"], t["placement"]) for t in review["threads"]] == [
        (first, "exact"), (second, "exact"),
    ]  # fmt: skip
    assert [t.from_sha for t in stored(desk, new)] == [None, two]

    desk.reply(new, second, "Still true")
    after = desk.review(new)
    assert source(after) == (one, "author-date", False)
    assert after["carried_from"]["also"] == [two]
    assert bodies(after) == ["On one", "On two", "Still true"]
    assert desk.listed().orphans == ()


def stored(desk: Desk, sha: str):
    return commit_review.of(desk.target(sha)).review.threads


def test_a_fixup_brings_its_threads_along(desk: Desk):
    one = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    fix = desk.git.commit({"b.py": changed(3, "fixed")}, "fixup! Reword")
    desk.comment(fix, "On the fixup", "b.py", 3)

    (new,) = desk.git.rebase_todo("main", [f"pick {one}", f"fixup {fix}"])

    review = desk.review(new)
    assert source(review) == (fix, "similar", True)
    assert [t["placement"] for t in review["threads"]] == ["exact"]


def test_a_split_keeps_the_threads_together_where_the_message_stayed(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded"), "new.py": text(LINES)}, "Both")
    tids = [desk.comment(old, "On a", "a.py", 20), desk.comment(old, "On new", "new.py", 3)]
    desk.git.git("reset", "-q", "--mixed", "HEAD^")
    desk.git.git("add", "a.py")
    desk.git.git("commit", "-q", "-C", old)
    half = desk.git.sha()
    rest = desk.git.commit({}, "The rest")

    review = desk.review(half)

    assert source(review)[0] == old
    assert [(t["id"], t["placement"]) for t in review["threads"]] == [
        (tids[0], "exact"), (tids[1], "none"),
    ]  # fmt: skip
    assert desk.review(rest)["threads"] == []


def test_a_dropped_commit_is_an_orphan_until_it_is_picked_again(desk: Desk):
    kept = desk.git.commit({"a.py": changed(20, "reworded")}, "Kept")
    dropped = desk.git.commit({"b.py": changed(30, "here too")}, "Dropped")
    tid = desk.comment(dropped, "Why?", "b.py", 30)
    desk.git.reset(kept)

    (orphan,) = desk.listed().orphans
    assert orphan.sha == dropped
    assert (wire.orphan(orphan)["threads"], wire.orphan(orphan)["unresolved"]) == (1, 1)
    assert orphan.file == str(desk.world.file(dropped))

    desk.git.commit({"c.py": changed(1, "between")}, "Between")
    new = desk.git.cherry_pick(dropped)
    assert ids(desk.review(new))[0][0] == tid
    assert desk.listed().orphans == ()


def test_an_own_file_made_by_hand_beside_a_matching_source_shows_and_then_writes_both(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tid = desk.comment(old, "From before", "a.py", 20)
    (new,) = desk.moves_on({"b.py": "else\n"})
    desk.world.put(
        new,
        "# the agent's notes\nthreads:\n  - id: mine\n    path: a.py\n    line: 3\n"
        "    comments: [{author: bot, body: By hand}]\n",
    )

    review = desk.review(new)
    assert source(review) == (old, "patch-id", True)
    assert [one for one, _ in ids(review)] == ["mine", tid]
    assert [one["placement"] for one in review["threads"]] == ["exact", "exact"]

    desk.reply(new, tid, "After")
    after = desk.review(new)
    assert source(after) == (old, "patch-id", False)
    assert bodies(after) == ["By hand", "From before", "After"]
    assert desk.world.file(new).read_text().startswith("# the agent's notes\n")


def test_a_thread_whose_file_left_is_counted_until_the_file_is_back_and_then_in_place(desk: Desk):
    sha = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tid = desk.comment(sha, "Why?", "a.py", 20)

    without = desk.git.amend({"a.py": None, "c.py": changed(3, "instead")})

    (thread,) = desk.review(without)["threads"]
    assert (thread["id"], thread["placement"], thread["line"]) == (tid, "none", None)
    assert (thread["outdated"], thread["path"], thread["original_line"]) == (True, "a.py", 20)
    assert details.progress(repos.target_at("pay", "api", without))["threads"] == 1
    assert details.project("pay")["repos"][0]["commits"][0]["unresolved"] == 1

    back = desk.git.amend({"a.py": changed(20, "reworded"), "c.py": text(LINES)})
    (thread,) = desk.review(back)["threads"]
    assert (thread["id"], thread["placement"], thread["line"]) == (tid, "exact", 20)


def test_empty_commits_are_not_taken_for_each_other(desk: Desk):
    kept = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    empty = desk.git.commit({}, "Nothing yet")
    desk.comment(empty, "Why empty?")
    desk.git.reset(kept)

    other = desk.git.commit({}, "Trigger the build", author="Bo <bo@example.org>")

    assert source(desk.review(other)) == (None, None, False)
    assert [orphan.sha for orphan in desk.listed().orphans] == [empty]
    detail = details.commit("pay", "api", other)
    assert isinstance(detail, dict)
    assert (detail["files"], detail["additions"]) == ([], 0)


def test_a_pruned_commit_is_found_by_its_fingerprint_and_placed_by_its_text(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    desk.comment(old, "Why?", "a.py", 20)
    (new,) = desk.moves_on({"a.py": text(["top", *LINES])})
    desk.git.git("update-ref", "-d", "ORIG_HEAD")
    desk.git.prune()
    caches.clear()

    review = desk.review(new)

    assert source(review) == (old, "patch-id", True)
    (thread,) = review["threads"]
    assert (thread["line"], thread["placement"], thread["outdated"]) == (21, "text", False)


def test_a_viewed_mark_survives_while_the_diff_is_the_same(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded"), "b.py": changed(3, "x")}, "Both")
    for path in ("a.py", "b.py"):
        viewed.set_viewed(desk.target(old), path, True)

    (moved,) = desk.moves_on({"a.py": text(["top", *LINES])})
    assert desk.review(moved)["viewed"] == ["a.py", "b.py"]

    amended = desk.git.amend({"b.py": changed(3, "y")})
    review = desk.review(amended)
    assert (review["viewed"], review["viewed_stale"]) == (["a.py"], ["b.py"])


def test_a_source_that_cannot_be_read_is_told_and_never_taken_over(desk: Desk):
    old = desk.git.commit({"a.py": changed(20, "reworded")}, "Reword")
    tid = desk.comment(old, "Why?", "a.py", 20)
    (new,) = desk.moves_on({"b.py": "else\n"})
    assert bodies(desk.review(new)) == ["Why?"]
    file = desk.world.file(old)
    file.write_text(file.read_text() + "<<<<<<< ours\n")

    review = desk.review(new)

    assert bodies(review) == ["Why?"]
    assert review["parse_error"].startswith(f"{old}.yaml: line ")
    with pytest.raises(Conflict, match=f"reviews/api/{old}.yaml is not valid YAML"):
        desk.reply(new, tid, "No")
    assert not desk.world.file(new).exists()
