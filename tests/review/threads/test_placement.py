"""Where threads stand after real rebases, edits and renames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from review.git.diffs import diff
from review.threads.placement import placing
from review.threads.schema import Anchor
from tests.review.repos import Repo
from tests.review.threads.targets import placed, target, text, thread, where

pytestmark = pytest.mark.django_db

LINES = [f"line {n} of the file" for n in range(1, 31)]
EDITED = [*LINES[:19], "line 20, reworded", *LINES[20:]]


@pytest.fixture
def repo(tmp_path: Path, settings) -> Repo:
    """main holds a.py of 30 lines; `topic` rewords its line 20."""
    settings.DATA_DIR = tmp_path / "data"
    made = Repo(tmp_path / "repo")
    made.commit({"a.py": text(LINES), "b.py": text(LINES[:5])}, "Base")
    made.branch("topic")
    made.commit({"a.py": text(EDITED)}, "Reword")
    return made


def on_main(repo: Repo, files: dict[str, str | bytes | None]) -> list[str]:
    """main moves on and topic is rebased onto it; topic's new commits."""
    repo.checkout("main")
    repo.commit(files, "Mainline moves")
    repo.checkout("topic")
    return repo.rebase("main")


def test_a_file_that_a_rebase_leaves_alone_is_exact(repo: Repo):
    old = target(repo.path, repo.sha())
    one = thread(old, "a.py", 20)

    new = target(repo.path, on_main(repo, {"b.py": "else\n"})[0])

    assert where(placed(new, one)) == ("exact", False, None, 20)


def test_edits_above_move_the_lines(repo: Repo):
    old = target(repo.path, repo.sha())
    one = thread(old, "a.py", 22, start=20)

    new = target(repo.path, on_main(repo, {"a.py": text(["new", "newer", *LINES])})[0])

    found = placed(new, one)
    assert where(found) == ("moved", False, 22, 24)
    assert (found.original_start_line, found.original_line) == (20, 22)


def test_a_changed_line_is_outdated_and_keeps_its_row(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)

    new = target(repo.path, repo.amend({"a.py": text([*LINES[:18], "x", "y", *LINES[20:]])}))

    assert where(placed(new, one)) == ("nearest", True, None, 20)
    assert one.anchor.text == "line 20, reworded"
    assert one.anchor.before == text(LINES[16:19])[:-1]
    assert one.anchor.after == text(LINES[20:23])[:-1]


def test_a_range_with_one_changed_line_is_outdated_and_becomes_one_line(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 22, start=18)

    new = target(repo.path, repo.amend({"a.py": text([*LINES[:19], "again", "more", *LINES[20:]])}))

    assert where(placed(new, one)) == ("nearest", True, None, 23)


def test_a_block_that_moved_within_the_file_is_found_by_its_text(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20, start=19)
    moved = [*LINES[:2], LINES[18], EDITED[19], *LINES[2:18], *LINES[20:]]

    new = target(repo.path, repo.amend({"a.py": text(moved)}))

    assert where(placed(new, one)) == ("text", False, 3, 4)


def test_a_reindented_line_is_found_by_its_text(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)
    deeper = [f"    {line}" for line in EDITED]

    new = target(repo.path, repo.amend({"a.py": text(deeper)}))

    assert where(placed(new, one)) == ("text", False, None, 20)


@pytest.mark.parametrize(
    ("left", "line"), [(LINES[:17] + LINES[23:], 18), (LINES[:17], 17)], ids=["middle", "end"]
)
def test_a_deleted_block_leads_to_the_line_after_it_within_the_file(repo: Repo, left, line):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)

    new = target(repo.path, repo.amend({"a.py": text(left)}))

    assert where(placed(new, one)) == ("nearest", True, None, line)


def test_a_line_inserted_inside_widens_the_range(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 21, start=20)

    new = target(repo.path, repo.amend({"a.py": text([*EDITED[:20], "inside", *EDITED[20:]])}))

    assert where(placed(new, one)) == ("moved", False, 20, 22)


def test_the_old_side_goes_from_old_parent_to_new_parent(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20, side="LEFT")

    new = target(repo.path, on_main(repo, {"a.py": text(["new", *LINES])})[0])

    found = placed(new, one)
    assert where(found) == ("moved", False, None, 21)
    assert found.side == "LEFT"
    assert one.anchor.text == "line 20 of the file"


def test_a_range_from_the_old_side_to_the_new_is_placed_end_by_end(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20, start=20, start_side="LEFT")

    moved = target(repo.path, on_main(repo, {"a.py": text(["new", *LINES])})[0])
    assert where(placed(moved, one)) == ("moved", False, 21, 21)

    changed = target(repo.path, repo.amend({"a.py": text(["new", *LINES[:19], "z", *LINES[20:]])}))
    assert where(placed(changed, one)) == ("nearest", True, None, 21)


@pytest.mark.parametrize("side", ["RIGHT", "LEFT"])
def test_a_rename_below_is_followed(repo: Repo, side):
    one = thread(target(repo.path, repo.sha()), "a.py", 25, side=side)
    repo.checkout("main")
    repo.commit({"a.py": None, "new/a.py": text(["first", *LINES])}, "Rename")
    repo.checkout("topic")

    new = target(repo.path, repo.rebase("main")[0])

    found = placed(new, one)
    assert where(found) == ("moved", False, None, 26)
    assert (found.path, found.original_path) == ("new/a.py", "a.py")


@pytest.mark.parametrize("side", ["RIGHT", "LEFT"])
def test_a_rename_in_the_commit_itself_is_followed(repo: Repo, side):
    one = thread(target(repo.path, repo.sha()), "a.py", 3, side=side)

    new = target(repo.path, repo.amend({"a.py": None, "c.py": text(EDITED)}))

    assert (placed(new, one).path, where(placed(new, one))) == ("c.py", ("exact", False, None, 3))


def test_the_commits_own_rename_is_followed_when_the_anchors_commit_is_gone(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 3)
    gone = replace(one, anchor=replace(one.anchor, commit="1" * 40))

    new = target(repo.path, repo.amend({"a.py": None, "c.py": text(EDITED)}))

    assert placed(new, gone).path == "c.py"


def test_threads_on_a_renamed_file_bear_its_new_name_on_both_sides(repo: Repo):
    here = target(repo.path, repo.amend({"a.py": None, "c.py": text(EDITED)}))

    left = thread(here, "c.py", 20, side="LEFT")

    assert left.anchor.text == "line 20 of the file"
    assert where(placed(here, left)) == ("exact", False, None, 20)


def test_the_old_side_of_a_rename_is_found_by_the_old_name_when_the_rename_is_split_off(repo: Repo):
    renaming = target(repo.path, repo.amend({"a.py": None, "c.py": text(EDITED)}))
    one = thread(renaming, "c.py", 20, side="LEFT")

    adding = target(repo.path, repo.amend({"a.py": text(LINES), "c.py": text(EDITED)}))

    found = placed(adding, one)
    assert (found.path, where(found)) == ("a.py", ("exact", False, None, 20))


def test_the_old_side_of_a_rename_prefers_the_old_name_to_a_new_file_of_the_new_one(repo: Repo):
    renaming = target(repo.path, repo.amend({"a.py": None, "c.py": text(EDITED)}))
    one = thread(renaming, "c.py", 20, side="LEFT")
    repo.checkout("main")
    repo.commit({"c.py": text(["other", *LINES])})

    both_go = target(repo.path, repo.commit({"a.py": None, "c.py": None}))

    assert (placed(both_go, one).path, where(placed(both_go, one))[0]) == ("a.py", "exact")


def test_a_file_that_left_has_no_line_and_comes_back_in_place(repo: Repo):
    first = repo.sha()
    one = thread(target(repo.path, first), "a.py", 20)

    without = target(repo.path, repo.amend({"a.py": None, "z.py": "something else\n"}))
    found = placed(without, one)
    assert where(found) == ("none", True, None, None)
    assert found.path == found.original_path == "a.py"

    again = target(repo.path, repo.amend({"a.py": text(["top", *EDITED]), "z.py": None}))
    assert where(placed(again, one)) == ("moved", False, None, 21)


def test_a_brace_does_not_jump_to_another_brace(repo: Repo):
    code = ["def a() {", "  one();", "}", "", "def b() {", "  two();", "}", "", "tail();"]
    one = thread(target(repo.path, repo.amend({"a.py": text(code)})), "a.py", 3)

    gone = target(repo.path, repo.amend({"a.py": text(["x", *code[4:]])}))
    assert where(placed(gone, one))[:2] == ("nearest", True)

    moved = target(repo.path, repo.amend({"a.py": text([*code[4:8], *code[:4], *code[8:]])}))
    assert where(placed(moved, one))[1:] == (False, None, 7)


def test_without_the_old_objects_the_stored_text_is_looked_for(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)
    pruned = replace(one, anchor=replace(one.anchor, commit="1" * 40, blob="2" * 40))

    new = target(repo.path, repo.amend({"a.py": text(["top", *EDITED])}))
    assert where(placed(new, pruned)) == ("text", False, None, 21)

    changed = target(repo.path, repo.amend({"a.py": text(LINES[:10])}))
    assert where(placed(changed, pruned)) == ("nearest", True, None, 10)


def test_no_diff_is_tried_of_a_blob_that_is_gone(repo: Repo, monkeypatch):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)
    pruned = replace(one, anchor=replace(one.anchor, commit="1" * 40, blob="2" * 40))
    new = target(repo.path, repo.amend({"a.py": text(["top", *EDITED])}))

    monkeypatch.setattr(diff, "edits", lambda *_: pytest.fail("a process for nothing"))

    assert where(placed(new, pruned)) == ("text", False, None, 21)


def test_a_hand_made_thread_is_placed_from_the_commit_of_its_file(repo: Repo):
    old = target(repo.path, repo.sha())
    bare = replace(thread(old, "a.py", 20), anchor=Anchor(old.commit.sha, None, None, None, None))
    past = replace(bare, line=999)

    new = target(repo.path, repo.amend({"a.py": text(["top", *EDITED])}))

    assert where(placed(old, bare)) == ("exact", False, None, 20)
    assert where(placed(new, bare)) == ("moved", False, None, 21)
    assert where(placed(old, past)) == ("nearest", True, None, 30)


def test_general_and_file_level_threads_have_no_lines(repo: Repo):
    here = target(repo.path, repo.sha())

    assert where(placed(here, thread(here))) == ("general", False, None, None)
    assert where(placed(here, thread(here, "a.py"))) == ("file", False, None, None)


@pytest.mark.parametrize("data", [b"\0\1\2", b""], ids=["binary", "empty"])
def test_a_file_that_lost_its_lines_keeps_the_thread_as_outdated(repo: Repo, data):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)

    new = target(repo.path, repo.amend({"a.py": data}))

    assert where(placed(new, one)) == ("file", True, None, None)
    assert where(placed(new, thread(new, "a.py"))) == ("file", False, None, None)


def test_a_submodule_has_no_lines(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "a.py", 20)
    repo.git("rm", "-q", "--cached", "a.py")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.sha()},a.py")
    repo.git("commit", "-q", "--amend", "--no-edit")

    assert where(placed(target(repo.path, repo.sha()), one)) == ("file", True, None, None)


def test_a_file_that_became_a_folder_is_gone(repo: Repo):
    one = thread(target(repo.path, repo.sha()), "b.py", 2)

    repo.write({"b.py": None})
    new = target(repo.path, repo.amend({"b.py/x": "a folder\n"}))

    assert where(placed(new, one)) == ("none", True, None, None)


def test_the_first_commit_of_all_has_no_old_side(tmp_path: Path, settings):
    settings.DATA_DIR = tmp_path / "data"
    root = Repo(tmp_path / "root")
    here = target(root.path, root.commit({"a.py": text(LINES)}))

    one = thread(here, "a.py", 3, side="LEFT")

    assert one.anchor.blob is None
    assert where(placed(here, one)) == ("none", True, None, None)


def test_a_threads_on_a_deleted_file_stand_on_its_old_side(repo: Repo):
    here = target(repo.path, repo.amend({"a.py": None}))

    one = thread(here, "a.py", 20, side="LEFT")

    assert one.anchor.text == "line 20 of the file"
    assert where(placed(here, one)) == ("exact", False, None, 20)


def test_a_whole_file_of_crlf_that_became_lf_is_found_by_its_text(repo: Repo):
    crlf = "\r\n".join([*LINES, ""])
    one = thread(target(repo.path, repo.amend({"a.py": crlf})), "a.py", 12)

    new = target(repo.path, repo.amend({"a.py": text(LINES)}))

    assert where(placed(new, one)) == ("text", False, None, 12)


def test_names_and_texts_that_are_no_utf_8_are_placed_too(repo: Repo):
    name = b"caf\xe9.py".decode(errors="surrogateescape")
    latin = b"caf\xe9 un\ncaf\xe9 deux\n"
    one = thread(target(repo.path, repo.amend({name: latin})), name, 2)

    new = target(repo.path, repo.amend({name: b"top\n" + latin.replace(b"un", b"une")}))

    assert where(placed(new, one)) == ("moved", False, None, 3)


def test_an_anchor_keeps_at_most_200_lines_and_4000_characters(repo: Repo):
    many = [f"{n}" for n in range(1, 400)]
    wide = ["x" * 999] * 10
    here = target(repo.path, repo.amend({"a.py": text(many), "b.py": text([*wide, "y" * 9000])}))

    assert thread(here, "a.py", 300, start=1).anchor.text == text(many[:200])[:-1]
    assert thread(here, "b.py", 10, start=1).anchor.text == text(wide[:4])[:-1]
    assert thread(here, "b.py", 11).anchor.text == "y" * 4000
    assert thread(here, "b.py", 11).anchor.before == text(["x" * 500] * 3)[:-1]


@pytest.mark.parametrize("line", [300, 5], ids=["long range", "one line"])
def test_a_shortened_anchor_is_looked_for_whole(repo: Repo, line):
    many = [f"line {n} {'z' * 5000 if n == 5 else ''}" for n in range(1, 400)]
    here = target(repo.path, repo.amend({"a.py": text(many)}))
    one = thread(here, "a.py", line, start=line - 298 if line == 300 else None)

    kept = many[(one.start_line or line) - 1 : line]
    new = target(repo.path, repo.amend({"a.py": text(["only", "these", *kept])}))
    cut = target(repo.path, repo.amend({"a.py": text(["only", *kept[:-1], "else"])}))

    assert placed(new, one).line == 2 + len(kept)
    assert placed(new, one).outdated is False
    assert placed(cut, one).outdated is True


def test_a_hundred_threads_on_a_file_take_one_diff(repo: Repo, monkeypatch):
    old = target(repo.path, repo.sha())
    threads = [replace(thread(old, "a.py", n % 30 + 1), id=f"t-{n}") for n in range(100)]
    new = target(repo.path, repo.amend({"a.py": text(["top", *EDITED[:10], "x", *EDITED[12:]])}))
    asked = []
    edits = diff.edits

    def counted(*args):
        asked.append(args)
        return edits(*args)

    monkeypatch.setattr(diff, "edits", counted)

    assert len(placing.place(new, threads)) == 100
    assert len(asked) == 1


def test_an_outdated_thread_made_by_hand_tells_its_old_lines(repo: Repo):
    old = target(repo.path, repo.sha())
    nothing = Anchor(old.commit.sha, None, None, None, None)
    one = replace(thread(old, "a.py", 21, start=20), anchor=nothing)
    new = target(repo.path, repo.amend({"a.py": text([*LINES[:18], "other", *LINES[25:]])}))

    assert placed(old, one).text is None
    assert where(placed(new, one))[:2] == ("nearest", True)
    assert placed(new, one).text == f"{EDITED[19]}\n{EDITED[20]}"
