"""carry.match: which gone commit each commit of the range stands for."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.threads.carry.carryover import Beside, CarriedFrom, Match, Matches, Trace, match
from tests.promises.rings import ring

T1, T2, T3 = (f"2026-11-20T10:00:0{second}.000Z" for second in (1, 2, 3))


def trace(sha: str, **known) -> Trace:
    return Trace(sha=sha, **known)


def carried(sha: str, at: str, *, by: str = "patch-id", also: tuple[str, ...] = ()) -> CarriedFrom:
    return CarriedFrom(sha=sha, by=by, at=at, also=also)


def lines(*texts: str) -> dict[str, int]:
    return dict.fromkeys(texts, 1)


def commits(found: Matches) -> dict[str, Match]:
    """Which commit stands for which; whether a PR record follows is asked elsewhere."""
    return {sha: replace(one, firm=()) for sha, one in found.by_commit.items()}


def pairs(found: Matches) -> dict[str, tuple[str, str]]:
    return {sha: (one.sha, one.by) for sha, one in found.by_commit.items()}


A = {"author": "a@b", "authored": "2026-11-20T10:00:00Z"}
BIG = [f"line {n}" for n in range(10)]

FEW = {"f:1": 1}
RUNGS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("change-id", {"change_id": "I1"}, {"change_id": "I1"}),
    ("patch-id", {"patch_id": "p"}, {"patch_id": "p"}),
    ("patch-id-u0", {"patch_id_u0": "u"}, {"patch_id_u0": "u"}),
    ("author-date", {**A, "subject": "old", "lines": FEW}, {**A, "subject": "new", "lines": FEW}),
    ("author-date", {**A, "lines": FEW}, {**A, "author": "A@B", "lines": FEW}),
    ("branch", {"branch_target": "c1", "lines": FEW}, {"lines": FEW}),
    ("subject", {"subject": "Fix it", "lines": FEW}, {"subject": "Fix it", "lines": FEW}),
    ("subject", {"subject": "fixup! Fix it", "lines": FEW}, {"subject": "Fix it", "lines": FEW}),
    ("subject", {"subject": "Fix it", "lines": FEW},
     {"subject": "squash! fixup! Fix it", "lines": FEW}),
    ("similar", {"lines": lines(*BIG)}, {"lines": lines(*BIG[:6], "x", "y")}),
]  # fmt: skip


@pytest.mark.parametrize(("by", "source", "target"), RUNGS)
def test_each_rung_matches_what_is_equal_there(by, source, target):
    found = match([trace("s1", **source)], [trace("c1", **target), trace("c2")])

    assert pairs(found) == {"c1": ("s1", by)}
    assert found.orphans == ()
    assert found.warnings == ()


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_patch_id_or_change_id_matches_nothing(empty):
    blank = {"change_id": empty, "patch_id": empty, "patch_id_u0": empty, "lines": {}}

    found = match([trace("s1", **blank)], [trace("c1", **blank)])

    assert found == Matches({}, ("s1",), ())


def test_an_empty_subject_or_author_matches_nothing():
    found = match([trace("s1", authored="t")], [trace("c1", authored="t")])

    assert found.by_commit == {}


@pytest.mark.parametrize("high", range(len(RUNGS) - 1))
def test_the_higher_rung_takes_the_commit_before_the_lower_one(high):
    by, strong, strong_target = RUNGS[high]
    lower = [rung for rung in RUNGS[high + 1 :] if rung[0] != by]
    for _, weak, weak_target in lower:
        if strong.keys() & weak.keys() or strong_target.keys() & weak_target.keys():
            continue
        target = trace("c1", **(strong_target | weak_target))
        found = match([trace("s2", **weak), trace("s1", **strong)], [target])
        assert pairs(found) == {"c1": ("s1", by)}


def test_a_commit_of_the_range_is_no_source_of_its_own():
    assert match([trace("c1", patch_id="p")], [trace("c1", patch_id="p")]) == Matches()


def test_equal_patches_are_told_apart_by_their_place():
    sources = [trace("s1", patch_id="p", place=(1, 1)), trace("s3", patch_id="p", place=(1, 3))]
    targets = [trace("c1", patch_id="p", place=(1, 1)), trace("c3", patch_id="p", place=(1, 3))]

    assert pairs(match(sources, targets)) == {"c1": ("s1", "patch-id"), "c3": ("s3", "patch-id")}


def test_what_is_left_over_alone_after_places_are_compared_is_no_tie():
    sources = [trace("s1", patch_id="p", place=(1, 1)), trace("s3", patch_id="p", place=(1, 3))]
    targets = [trace("c1", patch_id="p", place=(1, 1)), trace("c3", patch_id="p", place=(1, 9))]

    assert pairs(match(sources, targets)) == {"c1": ("s1", "patch-id"), "c3": ("s3", "patch-id")}


def test_a_tie_without_places_matches_nothing_and_is_told():
    sources = [trace("s1", patch_id="p"), trace("s2", patch_id="p")]
    targets = [trace("c1", patch_id="p"), trace("c2", patch_id="p")]

    found = match(sources, targets)

    assert found.by_commit == {}
    assert found.orphans == ("s1", "s2")
    assert found.warnings == (
        "The reviews of s1, s2 could belong to c1, c2 (equal patch-id): carried over to none",
    )


def test_one_source_that_fits_two_commits_is_a_tie_too():
    found = match(
        [trace("s1", patch_id="p")], [trace("c1", patch_id="p"), trace("c2", patch_id="p")]
    )

    assert found.orphans == ("s1",)
    assert len(found.warnings) == 1


def test_a_tie_that_a_lower_rung_resolves_is_not_told():
    sources = [trace("s1", change_id="I", patch_id="p"), trace("s2", change_id="I", patch_id="q")]
    targets = [trace("c1", change_id="I", patch_id="p"), trace("c2", change_id="I", patch_id="q")]

    found = match(sources, targets)

    assert pairs(found) == {"c1": ("s1", "patch-id"), "c2": ("s2", "patch-id")}
    assert found.warnings == ()


def test_old_versions_of_one_commit_all_go_to_it_the_newest_first():
    old = trace("s1", change_id="I", written="2026-11-01T00:00:00Z")
    new = trace("s2", change_id="I", written="2026-11-02T00:00:00Z")

    found = match([old, new], [trace("c1", change_id="I")])

    assert commits(found) == {"c1": Match("s2", "change-id", also=("s1",))}
    assert found.by_source == {"s1": "c1", "s2": "c1"}
    assert found.orphans == ()


def test_the_same_few_lines_added_by_two_commits_make_them_no_versions_of_one():
    sources = [trace("s1", patch_id_u0="u"), trace("s2", patch_id_u0="u")]

    found = match(sources, [trace("c1", patch_id_u0="u")])

    assert found.orphans == ("s1", "s2")
    assert "equal patch-id-u0" in found.warnings[0]


def test_two_commits_with_one_author_second_are_told_apart_by_subject():
    sources = [trace("s1", **A, subject="one"), trace("s2", **A, subject="two")]
    targets = [trace("c1", **A, subject="one"), trace("c2", **A, subject="two")]

    found = match(sources, targets)

    assert pairs(found) == {"c1": ("s1", "author-date"), "c2": ("s2", "author-date")}


def test_a_commit_rewritten_but_for_a_line_is_known_by_its_second():
    old = trace("s1", **A, subject="one", lines={"f:-1": 1, "f:+1": 1})

    here = match([old], [trace("c1", **A, subject="two", lines={"f:-1": 1, "f:+2": 1})])
    elsewhere = match([old], [trace("c1", **A, subject="two", lines={"g:-1": 1, "g:+2": 1})])

    assert here.by_source == {"s1": "c1"}
    assert elsewhere.by_source == {}
    assert [(one.sha, one.by) for one in elsewhere.candidates["s1"]] == [("c1", "author-date")]


def test_lines_that_both_only_remove_do_not_make_one_commit_part_of_another():
    removed = {f"f:-{n}": 1 for n in range(4)}
    source = trace("s1", lines=removed | {f"f:+one {n}": 1 for n in range(4)})

    found = match([source], [trace("c1", lines=removed | {f"f:+two {n}": 1 for n in range(4)})])

    assert found.by_source == {}


def test_one_author_second_without_an_equal_subject_is_no_match():
    sources = [trace("s1", **A, subject="one"), trace("s2", **A, subject="two")]
    targets = [trace("c1", **A, subject="three"), trace("c2", **A, subject="four")]

    assert match(sources, targets).by_commit == {}


def test_an_equal_subject_of_two_reworked_commits_is_no_match_and_is_told():
    sources = [trace("s1", subject="wip"), trace("s2", subject="wip")]
    targets = [trace("c1", subject="wip"), trace("c2", subject="wip")]

    found = match(sources, targets)

    assert found.by_commit == {}
    assert found.warnings == (
        "The reviews of s1, s2 could belong to c1, c2 (equal subject): carried over to none",
    )


def test_a_subject_must_be_unique_among_all_commits_not_only_unmatched_ones():
    sources = [trace("s1", subject="wip", patch_id="p"), trace("s2", subject="wip")]
    targets = [trace("c1", subject="wip", patch_id="p"), trace("c2", subject="wip")]

    assert pairs(match(sources, targets)) == {"c1": ("s1", "patch-id")}


def test_a_commit_and_its_fixup_keep_apart():
    fix, other = {"subject": "Fix it", "lines": FEW}, {"lines": {"f:2": 1}}
    sources = [trace("s1", **fix), trace("s2", subject="fixup! Fix it", **other)]
    targets = [trace("c1", **fix), trace("c2", subject="fixup! Fix it", **other)]

    assert pairs(match(sources, targets)) == {"c1": ("s1", "subject"), "c2": ("s2", "subject")}


def test_a_commit_comes_before_its_fixup_that_was_squashed_into_it():
    fix = {"subject": "Fix it", "lines": FEW}
    sources = [trace("s1", **fix), trace("s2", subject="fixup! Fix it")]

    found = match(sources, [trace("c1", **fix)])

    assert pairs(found) == {"c1": ("s1", "subject")}
    assert found.orphans == ("s2",)


def test_two_records_of_one_branch_are_a_tie():
    sources = [trace(sha, branch_target="c1", lines=lines(*BIG)) for sha in ("s1", "s2")]

    found = match(sources, [trace("c1", lines=lines(*BIG))], beside("s1", "s2"))

    assert found.orphans == ("s1", "s2")
    assert "equal branch" in found.warnings[0]


@pytest.mark.parametrize(
    ("share", "matched"), [(4, False), (6, True), (9, True)], ids=["0.4", "0.6", "0.9"]
)
def test_similar_needs_six_tenths_of_the_changed_lines(share, matched):
    target = lines(*BIG[:share], *(f"other {n}" for n in range(10 - share)))

    found = match([trace("s1", lines=lines(*BIG))], [trace("c1", lines=target)])

    assert bool(found.by_commit) is matched


@pytest.mark.parametrize(("second", "matched"), [(4, True), (5, False)], ids=["0.4", "0.5"])
def test_similar_needs_a_distant_runner_up(second, matched):
    near = lines(*BIG[:7], "a", "b", "c")
    far = lines(*BIG[10 - second :], *(f"x{n}" for n in range(10 - second)))

    several_targets = match(
        [trace("s1", lines=lines(*BIG))], [trace("c1", lines=near), trace("c2", lines=far)]
    )

    assert ("c1" in several_targets.by_commit) is matched


def test_lines_count_as_often_as_they_occur():
    found = match([trace("s1", lines={"x": 10})], [trace("c1", lines={"x": 2, "y": 8})])

    assert found.by_commit == {}


def test_a_squashed_commit_is_joined_to_the_one_that_holds_its_lines():
    sources = [
        trace("s1", **A, lines=lines(*BIG)),
        trace("s2", lines=lines("p", "q", "r", "s", "t")),
    ]
    squashed = trace("c1", **A, lines=lines(*BIG, "p", "q", "r", "s"))

    found = match(sources, [squashed, trace("c2", lines=lines("z"))])

    assert commits(found) == {"c1": Match("s1", "author-date", also=("s2",))}
    assert found.orphans == ()


def test_a_squash_that_is_like_none_of_its_parts_gets_all_of_them():
    one, two = (lines(*(f"{part}{n}" for n in range(5))) for part in "ab")
    squashed = trace("c1", lines={**one, **two})

    found = match([trace("s1", lines=one), trace("s2", lines=two)], [squashed])

    assert found.by_commit["c1"].by == "similar"
    assert set(found.by_commit["c1"].shas) == {"s1", "s2"}


def test_a_fixup_of_a_line_is_found_when_the_line_below_both_changed_too():
    bump = {"v:-1.0": 1, "v:+1.1": 1, "log:+1.1 is out": 1}
    fixup = trace("s2", lines={"v:-1.1": 1, "v:+1.2": 1})
    folded = trace("c1", **A, lines={"v:-1.0.1": 1, "v:+1.2": 1, "log:+1.1 is out": 1})

    found = match([trace("s1", **A, lines=bump), fixup], [folded])

    assert commits(found) == {"c1": Match("s1", "author-date", also=("s2",))}


def test_a_fixup_that_leaves_nothing_of_a_file_is_found_in_the_commit_that_had_added_it():
    first = trace("s1", **A, lines={**{f"a:+{n}": 1 for n in range(20)}, "b:+x": 1})
    folded = trace("c1", **A, lines={f"a:+{n}": 1 for n in range(20)})

    found = match([first, trace("s2", lines={"b:-x": 1})], [folded])

    assert commits(found) == {"c1": Match("s1", "author-date", also=("s2",))}


@pytest.mark.parametrize("share", [2, 3])
def test_what_two_commits_contain_is_absorbed_by_neither(share):
    part = lines(*BIG[:5])
    rest = [f"r{n}" for n in range(20)]
    sources = [trace("s1", lines=part), trace("s2", patch_id="p"), trace("s3", patch_id="q")]
    targets = [
        trace("c1", patch_id="p", lines=lines(*BIG[:5], *rest)),
        trace("c2", patch_id="q", lines=lines(*BIG[:share], *rest)),
    ]

    found = match(sources, targets)

    assert ("s1" in found.by_source) is (share == 2)


def test_going_back_by_reset_leads_to_the_newest_of_the_chain():
    a = trace("a", subject="x")
    b = trace("b", subject="x", carried=carried("a", T1))
    c = trace("c", subject="x", carried=carried("b", T2))

    back = commits(match([b, c], [a]))

    assert back == {"a": Match("c", "lineage", before=("b",), since=T1)}


def test_going_forward_again_is_lineage_too():
    a = trace("a", patch_id="p", carried=carried("b", T2, by="lineage"))
    b = trace("b", patch_id="p", carried=carried("a", T1))

    assert commits(match([a], [b])) == {"b": Match("a", "lineage", since=T2)}
    settled = commits(match([b], [a]))
    assert settled == {"a": Match("b", "lineage")}, "the own file has taken b over already"


def test_lineage_comes_before_every_other_rung():
    a = trace("a")
    b = trace("b", change_id="I", carried=carried("a", T1))

    assert pairs(match([b], [a, trace("c", change_id="I")])) == {"a": ("b", "lineage")}


def test_a_review_that_was_taken_over_is_neither_matched_again_nor_orphaned():
    old = trace("a", patch_id="p")
    own = trace("b", patch_id="other", carried=carried("a", T1))

    found = match([old], [own, trace("c", patch_id="p")])

    assert commits(found) == {"b": Match("a", "patch-id")}
    assert found.orphans == ()


def test_what_else_a_taken_over_commit_has_follows_the_one_that_took_it():
    a, joined = trace("a"), trace("j")
    b = trace("b", change_id="I", carried=carried("a", T1, also=("j",)))

    found = match([a, joined, b], [trace("c", change_id="I")])

    assert commits(found) == {"c": Match("b", "change-id", before=("a", "j"))}
    assert found.by_source == {"a": "c", "b": "c", "j": "c"}


def test_an_older_carried_from_takes_nothing_over():
    a = trace("a", patch_id="p", carried=carried("x", T3))
    b = trace("b", carried=carried("a", T2))

    found = match([a], [b, trace("c", patch_id="p")])

    assert pairs(found) == {"c": ("a", "patch-id")}


def test_a_hand_made_carried_from_without_a_time_takes_over():
    own = trace("b", carried=carried("a", ""))

    assert commits(match([trace("a")], [own])) == {"b": Match("a", "patch-id")}


def test_of_two_commits_that_one_file_took_over_the_main_one_gets_it_back():
    squash = trace("s", carried=carried("a", T1, also=("j",)))

    assert pairs(match([squash], [trace("j"), trace("a")])) == {"a": ("s", "lineage")}


def test_an_own_file_that_was_carried_over_is_still_joined_by_an_equal_patch():
    own = trace("c", patch_id="p", subject="x", carried=carried("a", T1))
    by_hand = trace("h", patch_id="p")
    same_subject = trace("d", subject="x")

    found = match([trace("a"), by_hand, same_subject], [own])

    assert commits(found) == {"c": Match("h", "patch-id", before=("a",))}
    assert found.orphans == ("d",), "an equal subject is too weak for a commit that has its source"


def test_two_thousand_reworked_commits_are_compared_within_seconds():
    everywhere = lines(*(f"everywhere {n}" for n in range(10)))

    def changes(n: int) -> dict[str, int]:
        return everywhere | lines(*(f"{n} {at}" for at in range(30)))

    sources = [trace(f"s{n}", lines=changes(n)) for n in range(2000)]
    targets = [trace(f"c{n}", lines=changes(n) | lines(f"new {n}")) for n in range(2000)]

    started = time.process_time()
    found = match(sources, targets)

    assert pairs(found) == {f"c{n}": (f"s{n}", "similar") for n in range(2000)}
    assert time.process_time() - started < 10, "comparing all pairs takes minutes"


@pytest.mark.parametrize(
    "weak",
    [{"subject": "x"}, {"lines": lines(*BIG[:4], *"abcdef")}],
    ids=["subject", "similar"],
)
def test_a_commit_that_has_its_source_gets_no_other_by_weak_likeness(weak):
    own = trace("c", subject="x", lines=lines(*BIG), carried=carried("a", T1))

    found = match([trace("a"), trace("d", **weak)], [own])

    assert commits(found) == {"c": Match("a", "patch-id")}
    assert found.orphans == ("d",)
    assert found.warnings == ()


def beside(*together: str) -> Beside:
    """Commits that stood on each other, the last one uppermost."""
    parents = {sha: together[n - 1 : n] for n, sha in enumerate(together)}
    return Beside(parents, together[-1:])


@pytest.mark.parametrize(("by", "source", "target"), RUNGS)
def test_no_rung_leads_to_a_commit_that_stood_beside(by, source, target):
    source, target = {**A, **source}, {**A, **target}
    here = [trace("c1", **target)]

    assert match([trace("s1", **source)], here, beside("c1", "s1")).by_commit == {}
    assert match([trace("s1", **source)], here, beside("s1", "c1")).by_commit == {}
    assert match([trace("s1", **source)], here, beside("x", "s1")).by_commit != {}


@pytest.mark.parametrize(("by", "source", "target"), RUNGS)
def test_only_the_change_itself_leads_to_what_stood_beside_in_an_older_version(by, source, target):
    here = [trace("c1", **{**A, **target, "carried": carried("c0", T1)})]
    sources = [trace("c0", lines=target.get("lines")), trace("s1", **{**A, **source})]

    found = match(sources, here, beside("c0", "s1"))

    matched = by in ("change-id", "patch-id", "patch-id-u0")
    assert ("s1" in found.by_commit["c1"].shas) is matched
    assert (found.orphans == ("s1",)) is not matched


@pytest.mark.parametrize(("by", "source", "target"), RUNGS)
def test_a_commit_in_use_is_led_elsewhere_by_its_change_alone(by, source, target):
    here = [trace("c1", **target)]

    found = match([trace("s1", **source, used=True)], here)
    pruned = match([trace("s1", **source, known=False)], here)

    assert bool(found.by_commit) is (by in ("change-id", "patch-id"))
    assert bool(pruned.by_commit) is (by in ("change-id", "patch-id", "patch-id-u0"))
    assert found.candidates == {}, "it became nothing"


def test_versions_of_one_commit_never_stood_together():
    sources = [trace(sha, **A, subject="wip") for sha in ("s1", "s2")]

    apart = match(sources, [trace("c1", **A, subject="wip")])
    together = match(sources, [trace("c1", **A, subject="wip")], beside("s1", "s2"))

    assert set(apart.by_source) == {"s1", "s2"}
    assert together.orphans == ("s1", "s2")
    assert [one.sha for one in together.candidates["s1"]] == ["c1"]


def test_what_a_bystander_became_is_no_other_ones():
    source = trace("s1", **A, subject="wip")
    bystander = trace("s2", **A, subject="wip", patch_id="p", bystander=True)

    found = match([source, bystander], [trace("c1", **A, subject="wip", patch_id="p")])

    assert (found.by_commit, found.orphans) == ({}, ("s1",))


@pytest.mark.parametrize(("size", "there", "joined"), [(2, 1, False), (2, 2, True), (4, 2, True)])
def test_a_tiny_commit_is_in_another_one_whole_or_not_at_all(size, there, joined):
    own = lines(*BIG[:size])
    target = lines(*BIG[:there], *(f"other {n}" for n in range(20)))

    found = match([trace("s1", lines=own)], [trace("c1", lines=target)])

    assert bool(found.by_commit) is joined


def test_what_a_commit_had_before_is_no_sign_that_it_took_something_in():
    had = lines(*BIG)
    sources = [trace("s1", change_id="I", lines=had), trace("s2", lines=lines(*BIG[:5]))]

    found = match(sources, [trace("c1", change_id="I", lines={**had, "news": 1})])

    assert (found.by_source, found.orphans) == ({"s1": "c1"}, ("s2",))


def test_a_commit_whose_lines_a_later_one_rewrote_is_found_in_the_sum_of_both():
    first = {f"f:+{n}": 1 for n in range(6)}
    second = {f"f:-{n}": 1 for n in range(5)} | {f"f:+new {n}": 1 for n in range(4)}
    dropped = {f"f:+else {n}": 1 for n in range(4)}
    sources = [trace("s1", lines=first), trace("s2", lines=second), trace("s3", lines=dropped)]

    found = match(sources, [trace("c1", lines={"f:+5": 1, **{f"f:+new {n}": 1 for n in range(4)}})])

    assert set(found.by_source) == {"s1", "s2"}
    assert found.orphans == ("s3",)


def test_a_commit_of_which_no_line_is_left_may_have_been_dropped():
    first = {"f:-base": 1, "f:+one": 1}
    second = {"f:-one": 1, "f:+two": 1, "f:+new": 1, "f:+more": 1}
    picked = {"f:-base": 1, "f:+two": 1, "f:+new": 1, "f:+more": 1}
    sources = [trace("s1", lines=first), trace("s2", **A, lines=second)]

    found = match(sources, [trace("c1", **A, lines=picked)])

    assert (found.by_source, found.orphans) == ({"s2": "c1"}, ("s1",))


def test_a_part_of_a_fold_stays_behind_where_the_fold_became_its_other_part_again():
    part, other = ({f"{path}:+{n}": 1 for n in range(4)} for path in "ab")
    fold = trace("f", **A, lines={**part, **other}, carried=carried("p", T1, by="similar"))

    found = match([trace("p", lines=part), fold], [trace("c1", **A, lines=other)])

    assert (found.by_source, found.orphans) == ({"f": "c1"}, ("p",))


def test_a_pr_record_follows_only_what_is_certainly_the_commit():
    sources = [trace("s1", **A, lines=lines(*BIG)), trace("s2", lines=lines("p", "q", "r"))]
    squashed = trace("c1", **A, lines=lines(*BIG, "p", "q", "r"))

    assert match(sources, [squashed]).by_commit["c1"].firm == ("s1",)
    assert match(sources[1:], [squashed]).by_commit["c1"].firm == ()


def test_what_was_taken_over_by_weak_likeness_goes_to_a_commit_of_the_same_change():
    taken = trace("s1", patch_id="p")
    weak = trace("c1", carried=carried("s1", T1, by="similar"))
    strong = replace(weak, carried=carried("s1", T1, by="change-id"))
    same = trace("c2", patch_id="p")

    back = match([taken], [weak, same])
    assert pairs(back) == {"c2": ("s1", "patch-id")}
    assert back.shares["c1"].elsewhere == {"s1"}
    assert match([taken], [strong, same]).by_source == {"s1": "c1"}


def test_a_part_says_what_the_file_that_has_it_left_out():
    taken = trace("s1", patch_id="p")
    first = trace("c1", carried=carried("s1", T1, by="similar"))
    later = trace("c2", carried=replace(carried("c1", T2, by="similar"), without=("x",)))

    back = match([taken, first], [later, trace("c3", patch_id="p")])

    (part,) = back.shares["c3"].parts
    assert (part.file, part.origin, part.without) == ("c2", "s1", ("x",))


KEYS = st.sampled_from([None, "1", "2", "3"])
PLACES = st.one_of(st.none(), st.tuples(st.just(1), st.integers(1, 4)))
TRACES = st.builds(
    Trace,
    sha=st.just(""),
    subject=st.sampled_from(["", "one", "fixup! one", "two"]),
    author=st.sampled_from(["", "a@b"]),
    authored=st.sampled_from(["", "2026-11-20T10:00:00Z", "2026-11-20T10:00:01Z"]),
    change_id=KEYS,
    patch_id=KEYS,
    patch_id_u0=KEYS,
    lines=st.one_of(st.none(), st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 3))),
    place=PLACES,
    branch_target=st.sampled_from([None, "c0", "c1", "c9"]),
    carried=st.one_of(
        st.none(),
        st.builds(
            CarriedFrom,
            sha=st.sampled_from(["s0", "s1", "c0", "c1"]),
            by=st.just("patch-id"),
            at=st.sampled_from([T1, T2, T3, ""]),
            also=st.lists(st.sampled_from(["s2", "s3", "c2"]), max_size=2).map(tuple),
        ),
    ),
    written=st.sampled_from(["", T1, T2]),
)


def named(prefix: str):
    return st.lists(TRACES, max_size=6).map(
        lambda found: [replace(one, sha=f"{prefix}{n}") for n, one in enumerate(found)]
    )


@settings(max_examples=ring(fast=80, slow=2000), deadline=None)
@given(named("s"), named("c"), st.randoms(use_true_random=False))
def test_whatever_is_known_every_source_has_one_fate(sources, targets, chance: random.Random):
    found = match(sources, targets)

    ranged = {one.sha for one in targets}
    gone = {one.sha for one in sources}
    assert found.by_commit.keys() <= ranged
    placed = [sha for one in found.by_commit.values() for sha in one.shas]
    assert len(placed) == len(set(placed)), "one source to one commit"
    assert set(placed).isdisjoint(found.orphans)
    assert gone - set(placed) - set(found.orphans) <= {
        one.sha for one in sources if taken_over(one, [*sources, *targets])
    }, "only a review that another file speaks for may be missing"

    assert (
        match(chance.sample(sources, len(sources)), chance.sample(targets, len(targets))) == found
    )


def taken_over(one: Trace, others: list[Trace]) -> bool:
    return any(
        other.carried and one.sha in (other.carried.sha, *other.carried.also)
        for other in others
        if other.sha != one.sha
    )


@settings(max_examples=ring(fast=40, slow=1000), deadline=None)
@given(named("c"))
def test_a_range_that_did_not_change_matches_nothing(targets):
    assert match(targets, targets).by_commit == {}


@settings(max_examples=ring(fast=40, slow=1000), deadline=None)
@given(st.permutations(range(5)))
def test_a_plain_rebase_matches_every_commit_in_whatever_order(order):
    sources = [trace(f"s{n}", patch_id=f"p{n}", subject="wip") for n in range(5)]
    targets = [trace(f"c{n}", patch_id=f"p{n}", subject="wip") for n in order]

    assert pairs(match(sources, targets)) == {f"c{n}": (f"s{n}", "patch-id") for n in range(5)}


SIZES = st.integers(1, 12)


@settings(deadline=None)
@given(st.lists(st.sets(st.sampled_from("abcdefghijklmn"), min_size=1), min_size=2, max_size=5))
def test_however_a_commit_is_amended_all_its_versions_are_shown_on_it(versions):
    """Its author, date and subject stay: there is no other commit of these."""
    traces: list[Trace] = []
    for number, texts in enumerate(versions):
        before = (
            carried(traces[-1].sha, f"{T1[:-3]}{number:02}Z", by="author-date") if traces else None
        )
        own = lines(*(f"f:+{text}" for text in texts))
        traces.append(trace(f"v{number}", **A, subject="Add it", lines=own, carried=before))
    *older, last = traces

    found = match(older, [replace(last, carried=None)])

    assert found.orphans == ()
    assert set(found.by_source) == {one.sha for one in older}
