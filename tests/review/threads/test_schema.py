"""Review files made by hand: read kindly, ids stable, only a wrong structure is an error."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.storage import yamlio
from review.files import times
from review.stacks.prs import pr_files
from review.threads import ids, reading, schema
from review.threads.schema import Mark, ReviewFile

SHA = "ab12" * 10


def read(text: str, *, deleted: tuple[str, ...] = ()) -> ReviewFile:
    """A review file as it is read: every scalar as its text."""
    value = yamlio.parse(text.encode(), aliases=False).texts()
    return reading.parse(value, SHA, deleted_paths=deleted)


# -- what a file holds -----------------------------------------------------------------------------


def test_the_least_a_hand_written_file_needs_is_a_comment():
    (thread,) = read("threads: [{comments: [{author: x, body: y}]}]").threads

    assert (thread.path, thread.side, thread.line, thread.resolved) == (None, None, None, False)
    assert thread.opened_by == "x"
    assert thread.created_at is None
    assert thread.anchor.commit == SHA
    assert [(c.author, c.body, c.created_at) for c in thread.comments] == [("x", "y", None)]


def test_every_field_of_the_contract_is_read():
    file = read(
        f"""
        version: 1
        commit: {{sha: "{SHA}", subject: "S", author: "a@b", authored: "2026-11-20T10:00:00Z",
                 change_id: null, patch_id: "{SHA}", patch_id_u0: "{SHA}"}}
        carried_from: {{sha: "{SHA}", by: patch-id, at: "2026-11-20T10:00:00.120Z",
                       also: ["{SHA}"]}}
        viewed:
          "src/a.py": {{diff: "{"0" * 64}", at: "2026-11-20T10:00:00Z"}}
        threads:
          - id: "t-7f3k9qd2"
            path: src/a.py
            side: RIGHT
            line: 42
            start_line: 40
            resolved: true
            resolved_by: you
            resolved_at: 2026-11-20 10:00
            from_sha: "{SHA}"
            created_at: "2026-11-20T10:00:00Z"
            anchor: {{commit: "{SHA}", blob: "{SHA}", text: "a\\nb", before: "", after: "c"}}
            comments:
              - id: "c-2m8x0bqa"
                author: you
                body: |
                  Markdown
                  text
                created_at: "2026-11-20T10:00:00Z"
                updated_at: "2026-11-20T11:00:00+01:00"
        """
    )

    assert file.warnings == ()
    assert file.commit is not None
    assert (file.commit.sha, file.commit.subject, file.commit.change_id) == (SHA, "S", None)
    assert file.carried_from is not None
    assert (file.carried_from.by, file.carried_from.at, file.carried_from.also) == (
        "patch-id",
        "2026-11-20T10:00:00.120Z",
        (SHA,),
    )
    assert file.viewed == (Mark("src/a.py", "0" * 64, "2026-11-20T10:00:00Z"),)
    (thread,) = file.threads
    assert (thread.id, thread.start_line, thread.start_side, thread.line) == (
        "t-7f3k9qd2", 40, "RIGHT", 42,
    )  # fmt: skip
    assert (thread.resolved, thread.resolved_by, thread.resolved_at, thread.from_sha) == (
        True, "you", "2026-11-20T10:00:00Z", SHA,
    )  # fmt: skip
    assert (thread.anchor.text, thread.anchor.before, thread.anchor.after) == ("a\nb", "", "c")
    (comment,) = thread.comments
    assert (comment.id, comment.body, comment.updated_at) == (
        "c-2m8x0bqa", "Markdown\ntext", "2026-11-20T10:00:00Z",
    )  # fmt: skip


def test_the_examples_of_the_documentation_are_read_without_a_warning():
    text = (Path(__file__).parents[3] / "docs" / "review-files.md").read_text()
    least, whole, record = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)

    assert [thread.opened_by for thread in read(least).conversations] == ["agent"]
    review = read(whole.replace("…", SHA))
    assert (review.warnings, review.extra) == ((), {})
    assert review.threads[0].extra == {}
    pr = pr_files.parse(yamlio.parse(record.replace("…", SHA).encode()).texts())
    assert (pr.title, pr.status, pr.extra) == ("Retry payments once", "ready", {})
    assert (pr.github or {})["number"] == 12
    assert dict(pr.landed or {})["sha"] == SHA


def test_a_file_that_says_nothing_is_an_empty_review():
    assert read("") == ReviewFile()
    assert read("threads:\nviewed:\n") == ReviewFile()


def test_shas_made_of_digits_stay_the_digits_they_are():
    file = read(
        "commit: {sha: 0123456}\ncarried_from: {sha: 12e5678, also: [1234567]}\n"
        "threads: [{id: 0012, comments: [{id: 1e3, author: 007, body: 1:30}]}]\n"
    )

    assert file.commit is not None
    assert file.carried_from is not None
    assert (file.commit.sha, file.carried_from.sha, file.carried_from.also) == (
        "0123456", "12e5678", ("1234567",),
    )  # fmt: skip
    (thread,) = file.threads
    assert (thread.id, thread.comments[0].id) == ("0012", "1e3")
    assert (thread.comments[0].author, thread.comments[0].body) == ("007", "1:30")


def test_unknown_keys_are_kept_at_every_level():
    file = read("mood: good\nthreads: [{x: [1], comments: [{author: a, body: b, y: {z: no}}]}]")

    assert file.extra == {"mood": "good"}
    assert file.threads[0].extra == {"x": ["1"]}
    assert file.threads[0].comments[0].extra == {"y": {"z": "no"}}


def test_a_list_of_viewed_paths_means_the_files_own_commit():
    assert read("viewed: [a.py, 1]").viewed == (
        Mark("a.py", None, None, SHA),
        Mark("1", None, None, SHA),
    )


def test_a_viewed_path_without_a_hash_means_the_files_own_commit_too():
    file = read("viewed: {a: true, b: , c: false, d: {at: 2026-11-20 10:00}, e: [x]}")

    assert [(mark.path, mark.diff, mark.of) for mark in file.viewed] == [
        ("a", None, SHA),
        ("b", None, SHA),
        ("d", None, SHA),
    ]
    assert file.warnings == ('"viewed" of e must be a mapping; it is ignored',)


def test_threads_without_comments_are_no_conversations():
    file = read("threads: [{path: a}, {comments: [{author: x, body: y}]}, {comments: []}]")

    assert len(file.threads) == 3
    assert [thread.at for thread in file.conversations] == [1]


def test_bodies_are_trimmed_and_have_plain_line_ends():
    (thread,) = read('threads: [{comments: [{body: "\\n a\\r\\nb \\n\\n"}]}]').threads

    assert thread.comments[0].body == "a\nb"


# -- where a thread stands -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "side"),
    [
        ("LEFT", "LEFT"), ("left", "LEFT"), ("old", "LEFT"), ("base", "LEFT"),
        ("RIGHT", "RIGHT"), ("right", "RIGHT"), ("new", "RIGHT"), ("head", "RIGHT"),
    ],
)  # fmt: skip
def test_a_side_keeps_its_spelling_and_compares_normalised(spelling: str, side: str):
    (thread,) = read(f"threads: [{{path: a, side: {spelling}, line: 1}}]").threads

    assert thread.side == spelling
    assert schema.normal_side(thread.side) == side


def test_a_file_that_names_its_sides_is_taken_apart_once_whoever_asks():
    named = "threads: [{path: a.py, side: RIGHT, line: 1, comments: [{author: a, body: b}]}]"
    value = yamlio.parse(named.encode()).texts()

    found = reading.parse_once(value, "named", SHA, deleted_paths=None)

    assert reading.parse_once(value, "named", SHA) is found
    assert reading.parse_once(value, "named", SHA, deleted_paths=("a.py",)) is found


def test_a_file_with_a_thread_without_a_side_is_read_as_its_commit_has_it():
    value = yamlio.parse(b"threads: [{path: a.py}]").texts()

    sides = [
        reading.parse_once(value, "bare", SHA, deleted_paths=deleted).threads[0].side
        for deleted in (None, (), ("a.py",))
    ]

    assert sides == [None, "RIGHT", "LEFT"]


def test_a_thread_on_a_deleted_file_stands_on_the_old_side():
    threads = read("threads: [{path: gone.py}, {path: kept.py}]", deleted=("gone.py",)).threads

    assert [thread.side for thread in threads] == ["LEFT", "RIGHT"]


@pytest.mark.parametrize(
    ("place", "wanted", "warning"),
    [
        ("line: 3", (None, None, None, None, None), '"line" of thread 1'),
        ("path: a, line: zero", ("a", "RIGHT", None, None, None), '"line" of thread 1'),
        ("path: a, line: 0", ("a", "RIGHT", None, None, None), '"line" of thread 1'),
        ("path: a, line: [1]", ("a", "RIGHT", None, None, None), '"line" of thread 1'),
        ("path: a, side: up", ("a", "RIGHT", None, None, None), '"side" of thread 1'),
        ("path: {a: b}, line: 1", (None, None, None, None, None), '"path" of thread 1'),
        (
            "path: a, line: 3, start_line: 5",
            ("a", "RIGHT", 3, None, None),
            '"start_line" of thread 1',
        ),
    ],
)
def test_a_place_of_the_wrong_type_is_absent_with_a_warning(
    place: str, wanted: tuple[object, ...], warning: str
):
    file = read(f"threads: [{{{place}, comments: [{{body: b}}]}}]")

    (thread,) = file.threads
    found = (thread.path, thread.side, thread.line, thread.start_line, thread.start_side)
    assert found == wanted
    assert any(text.startswith(warning) for text in file.warnings)


def test_a_start_on_the_other_side_may_have_a_higher_number():
    (thread,) = read(
        "threads: [{path: a, line: 3, side: RIGHT, start_line: 9, start_side: LEFT}]"
    ).threads

    assert (thread.start_line, thread.start_side) == (9, "LEFT")


def test_nothing_but_hex_becomes_an_object_name():
    file = read('threads: [{path: a, anchor: {commit: "HEAD\\nx", blob: --all}}]')

    assert (file.threads[0].anchor.commit, file.threads[0].anchor.blob) == (SHA, None)
    assert len(file.warnings) == 2


def test_odd_items_are_left_out_and_told():
    file = read("threads: [text, {comments: [plain, {body: b}]}]\ncommit: 5\nviewed: yes")

    assert [thread.at for thread in file.threads] == [1]
    assert [comment.at for comment in file.threads[0].comments] == [1]
    assert len(file.warnings) == 4


# -- structure -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("[]", ["the file must be a mapping; it is ignored"]),
        ("word", ["the file must be a mapping; it is ignored"]),
        ("threads: {}", ['"threads" of the file must be a list; it is ignored']),
        ("threads:\n- comments: {a: b}", ['"comments" of thread 1 must be a list; it is ignored']),
    ],
)
def test_of_a_wrong_structure_nothing_is_read(text: str, warnings: list[str]):
    file = read(text)

    assert file.conversations == ()
    assert list(file.warnings) == warnings


# -- ids -------------------------------------------------------------------------------------------


def test_a_minted_id_has_eight_characters_and_is_not_taken(monkeypatch: pytest.MonkeyPatch):
    letters = iter("aaaaaaaa" + "bbbbbbbb")
    monkeypatch.setattr("secrets.choice", lambda _: next(letters))

    assert ids.mint("t", {"t-aaaaaaaa"}) == "t-bbbbbbbb"


def test_missing_ids_do_not_change_when_something_is_added_around_them():
    alone = read("threads: [{path: a, line: 1, comments: [{author: x, body: y}]}]").threads[0]
    among = read(
        "threads: [{comments: [{author: x, body: other}]}, {id: t-1},"
        " {path: a, line: 1, comments: [{author: x, body: y}, {author: z, body: w}]}]"
    ).threads[2]

    assert alone.id.startswith("h-")
    assert len(alone.id) == 12
    assert among.id == alone.id
    assert among.comments[0].id == alone.comments[0].id
    assert not among.named


def test_equal_threads_without_ids_are_told_apart():
    file = read("threads: [{comments: [{body: y}]}, {comments: [{body: y}]}]")

    assert len({thread.id for thread in file.threads}) == 2
    assert len({thread.comments[0].id for thread in file.threads}) == 2


def test_the_later_of_two_equal_ids_is_addressed_by_a_number():
    file = read(
        "threads: [{id: a, comments: [{id: c, body: 1}]}, {id: a, comments: [{id: c, body: 2}]},"
        " {id: a}]"
    )

    assert [thread.id for thread in file.threads] == ["a", "a~2", "a~3"]
    assert [thread.comments[0].id for thread in file.threads[:2]] == ["c", "c~2"]
    assert 'thread 2 has the id "a" too; it is "a~2" here' in file.warnings


def test_an_id_that_was_told_apart_is_read_as_it_was_written_down():
    file = read("threads: [{id: a, comments: [{body: x}]}, {id: a~2, comments: [{body: y}]}]")

    assert [thread.id for thread in file.threads] == ["a", "a~2"]
    assert file.warnings == ()


def test_an_id_that_cannot_stand_in_an_address_is_replaced():
    file = read('threads: [{id: "a/b", comments: [{body: y}]}]')

    assert file.threads[0].id.startswith("h-")
    assert not file.threads[0].named
    assert file.warnings[0].startswith('"id" of thread 1 must be')


# -- times -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20t10:00:00z", "2026-11-20T10:00:00Z"),
        ("2026-11-20 10:00", "2026-11-20T10:00:00Z"),
        ("2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00Z"),
        ("2026-11-20 10:00:00 -0330", "2026-11-20T13:30:00Z"),
        ("2026-11-20T10:00:00.5Z", "2026-11-20T10:00:00.500Z"),
        ("2026-11-20T10:00:00.123456789Z", "2026-11-20T10:00:00.123Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2026-11-20", "2026-11-20T00:00:00Z"),
        ("2026-02-30T10:00:00Z", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("2026-11-20T10:00:00+99:99", None),
        ("yesterday", None),
        ("1732096800", None),
    ],
)
def test_times_are_read_in_several_forms(text: str, wanted: str | None):
    assert times.read(text) == wanted


def test_times_compare_as_moments_do():
    early, late = times.exact("2026-11-20T10:00:00Z"), times.exact("2026-11-20T10:00:00.001Z")

    assert early < late
    assert times.seconds(late) == "2026-11-20T10:00:00Z"


def test_the_clock_gives_times_in_the_forms_that_are_read():
    assert times.read(times.now()) is not None
    assert len(times.now()) == len("2026-11-20T10:00:00Z")
    assert len(times.now_exact()) == len("2026-11-20T10:00:00.000Z")
    exact = times.now_exact()
    assert times.read(exact) == exact


# -- anything at all -------------------------------------------------------------------------------

SCALARS = st.none() | st.text(max_size=6) | st.sampled_from(["true", "1", "-3", "LEFT", "t-1", SHA])
KEYS = st.sampled_from(
    ["id", "path", "side", "line", "start_line", "start_side", "resolved", "anchor", "comments",
     "author", "body", "created_at", "commit", "blob", "text", "viewed", "threads", "version",
     "carried_from", "sha", "also", "by", "at", "x"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=5),
    max_leaves=25,
)
THREADS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"comments": st.lists(st.dictionaries(KEYS, SCALARS, max_size=4), max_size=3),
                      **dict.fromkeys(("id", "path", "side", "line", "start_line"), SCALARS)}
    ),
    max_size=5,
)  # fmt: skip


@given(st.one_of(VALUES, st.fixed_dictionaries({"threads": THREADS, "viewed": VALUES})))
def test_whatever_a_file_holds_it_is_read(value: Any):
    file = reading.parse(value, SHA)

    comments = [comment.id for thread in file.threads for comment in thread.comments]
    names = [thread.id for thread in file.threads]
    assert len(set(names)) == len(names)
    assert len(set(comments)) == len(comments)
    assert all(ids.FORM.fullmatch(name) for name in names + comments)
    assert reading.parse(value, SHA) == file


@given(THREADS, THREADS, st.data())
def test_threads_that_were_read_before_read_as_they_would_alone(
    first: list[Any], more: list[Any], data: st.DataObject
):
    """The same values again, in another order, beside others that may claim their ids."""
    reading.parse({"threads": first}, SHA)
    value = {"threads": data.draw(st.permutations([*first[1:], *more]))}

    assert reading.parse(value, SHA) == reading.parse(deepcopy(value), SHA)


def test_a_thread_that_was_not_changed_is_not_taken_apart_again():
    comments = [{"id": "c-1", "author": "x", "body": "y"}]
    old, new = {"id": "t-1", "comments": comments}, {"id": "t-2", "path": "a.py"}
    (before,) = reading.parse({"threads": [old]}, SHA).threads

    assert reading.parse({"threads": [old, new]}, SHA).threads[0] is before
    assert [one.at for one in reading.parse({"threads": [new, old]}, SHA).threads] == [0, 1]


def test_what_is_wrong_with_a_thread_is_told_each_time_it_is_read():
    value = {"threads": [{"id": "t-1", "line": "many"}]}

    first, again = reading.parse(value, SHA), reading.parse(value, SHA)

    assert first.warnings
    assert again.warnings == first.warnings
