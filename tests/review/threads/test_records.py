"""What answers show of a review, and how a carried review becomes the commit's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from config.errors import Conflict, NotFound
from config.storage import yamlio
from review.reviewer import me
from review.threads import commenting, records, viewed
from review.threads.carry.traces import Match
from tests.review.world import World

pytestmark = pytest.mark.django_db
TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def base(world: World) -> str:
    return world.repo.commit({"a.py": TEN, "b.py": TEN}, "Base")


@pytest.fixture
def old(world: World, base: str) -> str:
    return world.repo.commit({"a.py": TEN.replace("line 5", "five")}, "Change a")


@pytest.fixture
def new(world: World, base: str, old: str) -> str:
    """The same commit after a rebase onto one that adds a line above."""
    world.repo.branch("topic")
    world.repo.checkout("main")
    world.repo.reset(base)
    world.repo.commit({"a.py": "zero\n" + TEN}, "Elsewhere")
    world.repo.checkout("topic")
    (moved,) = world.repo.rebase("main", upstream=base)
    return moved


def document(world: World, sha: str) -> Any:
    return yamlio.parse(world.file(sha).read_bytes()).texts()


def review(world: World, sha: str, match: Match | None = None) -> dict[str, Any]:
    return dict(records.review(world.target(sha, match)))


def ids(record: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [(one["id"], [c["id"] for c in one["comments"]]) for one in record["threads"]]


# -- shapes ----------------------------------------------------------------------------------------


def test_a_commit_without_a_file_has_an_empty_review(world: World, old: str):
    assert review(world, old) == {
        "version": 1,
        "commit": None,
        "carried_from": None,
        "file": None,
        "target_file": str(world.file(old)),
        "matched_from": None,
        "matched_by": None,
        "carried_over": False,
        "parse_error": None,
        "warnings": [],
        "viewed": [],
        "viewed_stale": [],
        "verdicts": [],
        "threads": [],
    }


def test_a_thread_and_its_comments_have_the_fields_of_the_contract(world: World, old: str):
    target = world.target(old)
    tid = commenting.create(
        target, body="Why?", path="a.py", side="head", line=5, start_line=4, author=me().id
    )
    cid = commenting.reply(target, tid, body="Because.", author="agent")

    (thread,) = review(world, old)["threads"]

    first, second = thread.pop("comments")
    created = thread.pop("created_at")
    assert len(created) == len("2026-11-20T10:00:00Z")
    assert thread == {
        "id": tid,
        "path": "a.py",
        "side": "head",
        "line": 5,
        "start_line": 4,
        "start_side": "head",
        "outdated": False,
        "placement": "exact",
        "original_path": "a.py",
        "original_line": 5,
        "original_start_line": 4,
        "original_commit": old,
        "anchor_text": "line 4\nfive",
        "resolved": False,
        "resolved_by": None,
        "resolved_at": None,
        "state": "open",
        "author": me().id,
    }
    assert first["created_at"] == created
    assert (first["author_name"], first["own"], first["updated_at"]) == (me().name, True, None)
    assert set(first) == {
        "id", "author", "author_name", "body", "created_at", "updated_at", "own",
    }  # fmt: skip
    assert second | {"created_at": None} == {
        "id": cid,
        "author": "agent",
        "author_name": "agent",
        "body": "Because.",
        "created_at": None,
        "updated_at": None,
        "own": False,
    }
    assert records.comment(target, tid, cid) == second
    assert records.thread(target, tid)["comments"] == [first, second]


def test_unknown_keys_are_returned_unless_they_collide(world: World, old: str):
    world.put(
        old,
        "mood: good\ntarget_file: mine\nthreads:\n- id: a\n  placement: mine\n  stars: '5'\n"
        "  comments: [{id: c, body: x, own: yes, tone: kind}]\n",
    )

    record = review(world, old)

    (thread,) = record["threads"]
    assert (record["mood"], record["target_file"]) == ("good", str(world.file(old)))
    assert (thread["stars"], thread["placement"]) == ("5", "general")
    assert (thread["comments"][0]["tone"], thread["comments"][0]["own"]) == ("kind", False)


def test_a_thread_without_comments_is_shown_and_counted_nowhere(world: World, old: str):
    world.put(old, "threads: [{id: a, path: a.py}, {id: b, comments: [{body: x}]}]\n")

    assert ids(review(world, old))[0][0] == "b"
    assert records.counts(world.target(old)) == (1, 0, 1, 0)
    with pytest.raises(NotFound, match="No such thread"):
        commenting.reply(world.target(old), "a", body="x", author="y")


def test_counts_tell_threads_resolved_unresolved_and_viewed(world: World, old: str):
    target = world.target(old)
    for body in "abc":
        tid = commenting.create(target, body=body, author="x")
    commenting.resolve(target, tid, True, "x")
    viewed.set_viewed(target, "a.py", True)

    assert records.counts(world.target(old)) == (3, 1, 2, 1)


def test_resolved_threads_can_be_left_out(world: World, old: str):
    target = world.target(old)
    done, left = (commenting.create(target, body=body, author="x") for body in "ab")
    commenting.resolve(target, done, True, "x")

    found = records.review(target, unresolved_only=True)["threads"]

    assert [one["id"] for one in found] == [left]


def test_rendered_comments_cannot_run_anything(world: World, old: str):
    commenting.create(world.target(old), body="*Hi* <script>x()</script>", author="x")

    (thread,) = records.review(world.target(old), html=True)["threads"]

    html = thread["comments"][0]["body_html"]
    assert "<em>Hi</em>" in html
    assert "<script" not in html


def test_reading_everything_writes_nothing(world: World, old: str, new: str):
    commenting.create(world.target(old), body="x", path="a.py", line=5, author="x")
    world.put(new, "threads: [{comments: [{body: hand}]}]\nviewed: [a.py]\n")
    before = world.tree()

    for sha, match in ((old, None), (new, None), (new, Match(old, "patch-id"))):
        target = world.target(sha, match)
        found = records.review(target, html=True)
        records.counts(target)
        for one in found["threads"]:
            records.thread(target, one["id"])

    assert world.tree() == before


# -- carry-over ------------------------------------------------------------------------------------


def test_the_first_write_makes_the_whole_review_the_commits_own(world: World, old: str, new: str):
    target = world.target(old)
    tid = commenting.create(target, body="On five", path="a.py", line=5, author="me")
    general = commenting.create(target, body="In general", author="me")
    viewed.set_viewed(target, "a.py", True)
    before = world.text(old)
    carried = world.target(new, Match(old, "patch-id"))
    shown = records.review(carried)
    assert (shown["matched_from"], shown["carried_over"]) == (old, True)
    assert shown["file"] == str(world.file(old))

    cid = commenting.reply(carried, tid, body="Still there", author="agent")

    after = review(world, new)
    assert (after["matched_from"], after["matched_by"], after["carried_over"]) == (
        old, "patch-id", False,
    )  # fmt: skip
    assert after["file"] == str(world.file(new))
    assert [one["id"] for one in after["threads"]] == [tid, general]
    assert [c["id"] for c in after["threads"][0]["comments"]][-1] == cid
    assert after["viewed"] == ["a.py"]
    assert after["commit"]["sha"] == new
    assert world.text(old) == before


def test_the_anchor_is_renewed_where_the_text_was_found_again(world: World, old: str, new: str):
    tid = commenting.create(world.target(old), body="x", path="a.py", line=5, author="me")

    commenting.create(world.target(new, Match(old, "patch-id")), body="y", author="me")

    (thread,) = [one for one in document(world, new)["threads"] if one["id"] == tid]
    assert thread["line"] == "6"
    assert thread["anchor"]["commit"] == new
    assert thread["anchor"]["blob"] == world.repo.git("rev-parse", f"{new}:a.py")
    assert thread["anchor"]["text"] == "five"
    shown = records.thread(world.target(new), tid)
    assert (shown["placement"], shown["line"], shown["original_line"]) == ("exact", 6, 6)


def test_an_outdated_thread_keeps_its_last_good_anchor(world: World, old: str):
    tid = commenting.create(world.target(old), body="x", path="a.py", line=5, author="me")
    anchor = document(world, old)["threads"][0]["anchor"]
    amended = world.repo.amend({"a.py": TEN.replace("line 5", "something else altogether")})
    target = world.target(amended, Match(old, "author-date"))

    commenting.reply(target, tid, body="y", author="me")

    thread = document(world, amended)["threads"][0]
    assert (thread["line"], thread["anchor"]) == ("5", anchor)
    assert records.thread(world.target(amended), tid)["outdated"]
    back = world.repo.amend({"a.py": "zero\n" + TEN.replace("line 5", "five")})
    shown = records.thread(world.target(back, Match(amended, "author-date")), tid)
    assert (shown["line"], shown["outdated"]) == (6, False)


def test_a_hand_made_file_beside_a_matching_source_keeps_its_own_words(
    world: World, old: str, new: str
):
    world.put(old, "threads:\n- {id: both, comments: [{id: c1, author: x, body: old}]}\n"
                   "- {id: only-old, comments: [{body: y}]}\n")  # fmt: skip
    own = (
        "# written by hand\nthreads:\n"
        "- id: both   # mine\n  resolved: true\n  comments:\n"
        "  - {id: c1, author: x, body: old}\n  - {id: c2, body: new}\n"
        "- {id: only-new, comments: [{body: z}]}\n"
    )
    world.put(new, own)
    target = world.target(new, Match(old, "patch-id"))
    shown = ids(records.review(target))
    assert {tid for tid, _ in shown} == {"both", "only-old", "only-new"}

    commenting.reply(target, "only-new", body="Reply", author="me")

    text = world.text(new)
    assert "# written by hand\n" in text
    assert "- id: both   # mine\n  resolved: true\n  comments:\n" in text
    after = review(world, new)
    assert {tid for tid, _ in ids(after)} == {"both", "only-old", "only-new"}
    assert after["carried_from"]["sha"] == old
    assert world.backups(new) == [own]


def test_what_the_service_does_not_understand_in_a_file_is_kept_when_it_takes_over(
    world: World, old: str, new: str
):
    world.put(old, "threads:\n- {id: a, comments: [{body: x}], stars: 5}\nmood: good\n")
    world.put(
        new,
        "mine: 0x10\nthreads:\n- just a line\n- id: b\n  stars: 007\n  comments:\n"
        "  - another line\n  - {body: y, id: c}\n",
    )

    commenting.reply(world.target(new, Match(old, "patch-id")), "b", body="z", author="me")

    text = world.text(new)
    for kept in ("mine: 0x10\n", "- just a line\n", "  - another line\n", "  stars: 007\n"):
        assert kept in text
    first, second = review(world, new)["threads"]
    assert (first["id"], first["stars"], second["id"], second["stars"]) == ("b", "007", "a", "5")
    assert [c["body"] for c in first["comments"]] == ["y", "z"]
    assert review(world, new)["mood"] == "good"


def test_going_back_with_reset_loses_nothing_and_brings_nothing_back(
    world: World, old: str, new: str
):
    target = world.target(old)
    kept = commenting.create(target, body="Kept", author="me")
    gone = commenting.create(target, body="Gone", author="me")
    carried = world.target(new, Match(old, "patch-id"))
    late = commenting.create(carried, body="Late", author="me")
    (comment,) = records.thread(world.target(new), gone)["comments"]
    commenting.delete(world.target(new), gone, comment["id"], "me")
    since = document(world, new)["carried_from"]["at"]
    back = world.target(old, Match(new, "lineage", since=since))
    assert [tid for tid, _ in ids(records.review(back))] == [kept, late]

    commenting.reply(back, kept, body="Back again", author="me")

    after = review(world, old)
    assert [tid for tid, _ in ids(after)] == [kept, late]
    assert len(after["threads"][0]["comments"]) == 2
    assert after["carried_from"]["by"] == "lineage"
    assert len(world.backups(old)) == 1


def test_the_threads_of_a_squashed_commit_say_where_they_come_from(
    world: World, old: str, new: str
):
    first = commenting.create(world.target(old), body="First", author="me")
    other = "ab" * 20
    world.put(other, "threads: [{id: second, comments: [{body: x}]}]\n")
    target = world.target(new, Match(old, "patch-id", also=(other,)))

    commenting.reply(target, "second", body="y", author="me")

    found = {one["id"]: one.get("from_sha") for one in review(world, new)["threads"]}
    assert found == {first: None, "second": other}
    assert review(world, new)["carried_from"]["also"] == [other]


def test_a_broken_source_is_not_taken_over(world: World, old: str, new: str):
    commenting.create(world.target(old), body="x", author="me")
    target = world.target(new, Match(old, "patch-id"))
    assert len(records.review(target)["threads"]) == 1
    world.put(old, "threads: [\n")

    assert len(records.review(target)["threads"]) == 1
    with pytest.raises(Conflict) as caught:
        commenting.create(target, body="y", author="me")

    assert caught.value.code == "invalid_file"
    assert not world.file(new).exists()


def test_five_rebases_in_a_row_keep_every_id(world: World, base: str, old: str):
    target = world.target(old)
    tid = commenting.create(target, body="x", path="a.py", line=5, author="me")
    before = ids(records.review(target))
    world.repo.branch("topic")
    sha = old
    for n in range(5):
        world.repo.checkout("main")
        world.repo.reset(base)
        world.repo.commit({"a.py": "above\n" * (n + 1) + TEN}, f"Elsewhere {n}")
        world.repo.checkout("topic")
        (moved,) = world.repo.rebase("main", upstream=f"{sha}~1")
        carried = world.target(moved, Match(sha, "patch-id"))
        cid = commenting.reply(carried, tid, body=f"After rebase {n}", author="me")
        commenting.edit(world.target(moved), tid, cid, f"Edited {n}", "me")
        before[0][1].append(cid)
        sha = moved

    after = review(world, sha)
    assert ids(after) == before
    assert (after["threads"][0]["line"], after["threads"][0]["placement"]) == (10, "exact")
    assert commenting.reply(world.target(sha), tid, body="By the old id", author="me")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("```suggestion\na\n```\n\nor\n\n~~~ suggestion\nb\n~~~", 2),
        ("Write it like this:\n\n````markdown\n```suggestion\nx\n```\n````", None),
        ("- in a list\n\n  ```suggestion\n  x\n  ```", None),
        ("A suggestion in words", None),
    ],
)
def test_a_comment_tells_how_many_suggestions_can_be_applied(
    world: World, old: str, body: str, count: int | None
):
    commenting.create(world.target(old), body=body, author="ann", path="a.py", line=5)

    (thread,) = records.review(world.target(old))["threads"]
    assert thread["comments"][0].get("suggestions") == count
