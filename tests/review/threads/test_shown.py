"""Which files make up the review of a commit, and how they are joined."""

from __future__ import annotations

from dataclasses import replace

import pytest

from config.errors import Conflict
from config.storage import yamlio
from review.threads import commit_review, joining
from review.threads.carry.traces import CarriedFrom, Match
from review.threads.schema import Anchor, Comment, Mark, ReviewFile, Thread
from tests.review.world import World

T1, T2, T3 = (f"2026-11-20T10:00:0{second}.000Z" for second in (1, 2, 3))


def comment(cid: str, body: str = "Words", at: str | None = T1, author: str = "ann") -> Comment:
    return Comment(cid, author, body, at, None)


def thread(tid: str, *comments: Comment, at: str | None = T1, path: str | None = None) -> Thread:
    return Thread(
        id=tid, path=path, side=None, line=None, start_line=None, start_side=None, resolved=False,
        resolved_by=None, resolved_at=None, author=None, created_at=at,
        anchor=Anchor(None, None, None, None, None),
        comments=comments or (comment(f"c-{tid}", at=at),),
    )  # fmt: skip


def review(*threads: Thread, **other) -> ReviewFile:
    return ReviewFile(threads=threads, **other)


def ids(found: ReviewFile) -> dict[str, list[str]]:
    return {one.id: [c.id for c in one.comments] for one in found.threads}


# -- joining ---------------------------------------------------------------------------------------


def test_threads_and_comments_are_joined_by_id_and_the_first_files_fields_win():
    own = review(replace(thread("t-1", comment("c-1", "Edited")), resolved=True), extra={"x": "1"})
    other = review(
        thread("t-1", comment("c-1", "Said"), comment("c-2", at=T2)),
        thread("t-2"),
        extra={"x": "2", "y": "3"},
    )

    found = joining.join(own, [other])

    assert ids(found) == {"t-1": ["c-1", "c-2"], "t-2": ["c-t-2"]}
    assert found.threads[0].resolved
    assert found.threads[0].comments[0].body == "Edited"
    assert found.extra == {"x": "1", "y": "3"}


def test_a_joined_conversation_is_in_order_of_time():
    own = review(thread("t-1", comment("c-1", at=T1), comment("c-3", at=T3)))
    other = review(thread("t-1", comment("c-1", at=T1), comment("c-2", at=T2)))

    assert ids(joining.join(own, [other])) == {"t-1": ["c-1", "c-2", "c-3"]}


def test_comments_without_a_time_stay_where_their_file_has_them():
    own = review(thread("t-1", comment("c-1", at=None), comment("c-3", at=T3)))
    other = review(thread("t-1", comment("c-1", at=None), comment("c-2", at=T2)))

    assert ids(joining.join(own, [other])) == {"t-1": ["c-1", "c-3", "c-2"]}


def test_an_id_that_two_files_gave_to_different_words_counts_twice():
    own = review(thread("1", comment("1", "About a", author="bob"), path="a.py"))
    other = review(thread("1", comment("1", "About b", at=T2), path="b.py"))

    found = joining.join(own, [other])

    assert [(one.id, one.path) for one in found.threads] == [("1", "a.py"), ("1~2", "b.py")]
    assert joining.join(own, [other]) == found


def test_a_mark_of_the_first_file_wins():
    own = review(viewed=(Mark("a", "1" * 64, T1),))
    other = review(viewed=(Mark("a", "2" * 64, T2), Mark("b", "3" * 64, T2)))

    found = joining.join(own, [other])

    assert {mark.path: mark.diff for mark in found.viewed} == {"a": "1" * 64, "b": "3" * 64}


def test_an_absorbed_thread_says_where_it_comes_from_and_keeps_saying_it():
    found = joining.absorb(
        review(thread("t-1"), replace(thread("t-2"), from_sha="f" * 40)), "e" * 40
    )

    assert [one.from_sha for one in found.threads] == ["e" * 40, "f" * 40]


def test_of_a_file_that_was_taken_over_only_what_is_younger_is_left():
    own = review(
        thread("old", at=T1),
        thread("young", at=T3),
        thread("both", comment("c-old", at=T1), comment("c-gone", at=T1), comment("c-new", at=T3)),
        thread("undated", comment("c-u", at=None), at=None),
        viewed=(Mark("old", "1" * 64, T1), Mark("young", "1" * 64, T3)),
    )
    source = review(thread("both", comment("c-old", at=T1)), viewed=(Mark("s", "2" * 64, T1),))

    found = joining.stood_for(own, source, T2)

    assert ids(found) == {
        "both": ["c-old", "c-new"], "young": ["c-young"], "undated": ["c-u"],
    }  # fmt: skip
    assert {mark.path for mark in found.viewed} == {"s", "young"}


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ("2026-11-20T10:00:02Z", True),  # hand-made, to the second: it may be younger
        ("2026-11-20T10:00:01Z", False),
        ("2026-11-20T10:00:02.400Z", False),
        ("2026-11-20T10:00:02.600Z", True),
    ],
)
def test_milliseconds_decide_where_both_sides_have_them(at, kept):
    found = joining.stood_for(review(thread("t", at=at)), review(), "2026-11-20T10:00:02.500Z")

    assert bool(found.threads) is kept


def test_a_thread_began_where_an_older_file_has_it_though_it_was_answered_later():
    started = thread("t-1", comment("c-1"))
    answered = thread("t-1", comment("c-1"), comment("c-2", at=T2))

    began = joining.began_in(review(answered, thread("t-2")), "later", but=[review(started)])

    assert [began(one) for one in (answered, thread("t-2"))] == [False, True]


def test_what_a_file_left_out_as_shown_elsewhere_was_not_deleted_there():
    there, elsewhere = thread("t-1"), replace(thread("t-2"), from_sha="gone")
    began = joining.began_in(review(there, elsewhere), "gone")
    left_out = joining.began_in(review(thread("t-2")), "other")

    kept = joining.part_stood_for(
        review(there, elsewhere), joining.but_for(began, [left_out]), review(there), T3
    )
    deleted = joining.part_stood_for(review(there, elsewhere), began, review(there), T3)

    assert set(ids(kept)) == {"t-1", "t-2"}
    assert set(ids(deleted)) == {"t-1"}


# -- files -----------------------------------------------------------------------------------------


def hand_made(tid: str, *, head: str = "") -> str:
    said = f"{{id: c-{tid}, author: ann, body: Hi}}"
    return f"{head}threads:\n  - id: {tid}\n    comments:\n      - {said}\n"


@pytest.fixture
def shas(world: World) -> tuple[str, str, str]:
    """Three commits: the one that is shown and two that are gone."""
    base = world.repo.commit({"a.py": "a\n"}, "Base")
    gone = []
    for n in (1, 2):
        gone.append(world.repo.commit({f"{n}.py": "x\n"}, f"Gone {n}"))
        world.repo.reset(base)
    return world.repo.commit({"a.py": "b\n"}, "Here"), gone[0], gone[1]


@pytest.mark.django_db
def test_without_any_file_nothing_is_shown_and_the_target_file_is_named(world: World, shas):
    found = commit_review.of(world.target(shas[0]))

    assert found.review == ReviewFile()
    assert (found.file, found.target_file) == (None, world.file(shas[0]))
    assert (found.matched_from, found.matched_by, found.carried_over) == (None, None, False)


@pytest.mark.django_db
def test_an_own_file_alone_has_no_match(world: World, shas):
    world.put(shas[0], hand_made("t"))

    found = commit_review.of(world.target(shas[0]))

    assert (found.file, found.carried_over) == (world.file(shas[0]), False)
    assert (found.matched_from, found.matched_by) == (None, None)


@pytest.mark.django_db
def test_a_matched_commit_without_a_review_is_named_but_carries_nothing(world: World, shas):
    here, gone, _ = shas

    found = commit_review.of(world.target(here, Match(gone, "patch-id")))

    assert (found.matched_from, found.matched_by, found.carried_over) == (gone, "patch-id", False)
    assert found.file is None


@pytest.mark.django_db
def test_a_short_file_name_is_read_and_a_full_one_wins(world: World, shas):
    world.put(shas[0][:7], hand_made("short"))
    found = commit_review.of(world.target(shas[0]))
    assert (ids(found.review), found.carried_over) == ({"short": ["c-short"]}, True)
    assert found.file == world.file(shas[0][:7])
    assert commit_review.as_document(world.target(shas[0]), found).get("carried_from") is None

    world.put(shas[0], hand_made("full"))
    assert list(ids(commit_review.of(world.target(shas[0])).review)) == ["full"]


@pytest.mark.django_db
def test_all_sources_are_shown_and_the_first_write_names_them(world: World, shas):
    here, one, two = shas
    world.put(here, hand_made("own"))
    world.put(one, hand_made("one"))
    world.put(two, hand_made("two"))
    target = world.target(here, Match(one, "change-id", also=(two,)))

    found = commit_review.of(target)

    assert list(ids(found.review)) == ["own", "one", "two"]
    assert [thread.from_sha for thread in found.review.threads] == [None, None, two]
    assert found.also == (two,)
    written = commit_review.as_document(target, found)
    assert list(written) == ["version", "commit", "carried_from", "threads"]
    assert {key: written["carried_from"][key] for key in ("sha", "by", "also")} == {
        "sha": one, "by": "change-id", "also": [two],
    }  # fmt: skip
    assert written["commit"]["sha"] == here


@pytest.mark.django_db
def test_what_the_own_file_took_over_is_not_joined_again(world: World, shas):
    here, one, two = shas
    head = f'carried_from: {{sha: "{one}", by: patch-id, at: "{T2}", also: ["{two}"]}}\n'
    world.put(here, hand_made("own", head=head))
    world.put(one, hand_made("deleted-since"))
    world.put(two, hand_made("deleted-too"))

    found = commit_review.of(world.target(here, Match(one, "patch-id", also=(two,))))

    assert list(ids(found.review)) == ["own"]
    assert (found.matched_from, found.matched_by, found.carried_over) == (one, "patch-id", False)


@pytest.mark.django_db
def test_a_new_source_beside_an_old_carry_over_keeps_the_old_one_taken(world: World, shas):
    here, one, two = shas
    world.put(
        here, hand_made("own", head=f'carried_from: {{sha: "{one}", by: subject, at: "{T2}"}}\n')
    )
    world.put(one, hand_made("deleted-since"))
    world.put(two, hand_made("two"))
    target = world.target(here, Match(two, "patch-id", before=(one,)))

    found = commit_review.of(target)

    assert list(ids(found.review)) == ["own", "two"]
    assert (found.matched_from, found.carried_over) == (two, True)
    carried = commit_review.as_document(target, found)["carried_from"]
    assert (carried["sha"], carried["also"]) == (two, [one])


@pytest.mark.django_db
def test_a_carry_over_is_younger_than_what_it_takes_over_whatever_the_clock_says(
    world: World, shas
):
    here, one, _ = shas
    world.put(
        one, hand_made("t", head=f'carried_from: {{sha: "{here}", at: "2099-01-01T00:00:00Z"}}\n')
    )
    target = world.target(here, Match(one, "lineage", since="2099-01-01T00:00:00.000Z"))

    written = commit_review.as_document(target, commit_review.of(target))

    assert written["carried_from"]["at"] == "2099-01-01T00:00:00.001Z"


@pytest.mark.django_db
def test_a_newer_or_broken_source_is_never_taken_over(world: World, shas):
    here, one, _ = shas
    target = world.target(here, Match(one, "patch-id"))
    world.put(one, hand_made("t", head="version: 2\n"))
    with pytest.raises(Conflict) as newer:
        commit_review.as_document(target, commit_review.of(target))
    assert newer.value.code == "newer_file"

    world.put(one, hand_made("t") + "threads: []\n")
    found = commit_review.of(target)
    assert list(ids(found.review)) == ["t"]
    assert (found.parse_error or "").startswith(f"{one}.yaml: line 5, column 1:")
    with pytest.raises(Conflict) as broken:
        commit_review.as_document(target, found)
    assert broken.value.code == "invalid_file"


@pytest.mark.django_db
def test_what_is_written_reads_back_as_what_was_shown(world: World, shas):
    here, one, _ = shas
    world.put(
        one,
        hand_made(
            "t",
            head='carried_from: {sha: "' + "a" * 40 + f'", by: subject, at: "{T1}"}}\nmine: kept\n',
        )
        + "    colour: red\n    path: 1.py\n    line: 1\n",
    )
    target = world.target(here, Match(one, "author-date"))
    before = commit_review.of(target)
    assert before.review.carried_from is None, "that of the source is its own affair"

    world.put(here, yamlio.dump(commit_review.as_document(target, before)).decode())
    after = commit_review.of(target)

    assert (after.matched_from, after.matched_by, after.carried_over) == (one, "author-date", False)
    assert after.review.extra == before.review.extra == {"mine": "kept"}
    assert [_said(thread) for thread in after.review.threads] == [
        _said(thread) for thread in before.review.threads
    ]
    assert after.review.threads[0].anchor.commit == one


def _said(thread: Thread) -> Thread:
    """Without what tells how its file is laid out."""
    comments = tuple(replace(one, at=0, named=True) for one in thread.comments)
    return replace(thread, at=0, named=True, comments=comments)


def test_a_carried_from_of_another_file_is_no_carried_from_of_this_one():
    source = review(thread("t"), carried_from=CarriedFrom("a" * 40, "subject", T1))

    assert joining.stood_for(review(), source, T2).carried_from is None
