"""The versions of a commit: each sha it had, any two compared, and what a base brought."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest

from config.errors import NotFound
from review import reviewer
from review.stacks.compared import comparison, finding, versions
from review.stacks.compared.versions import PARENT
from review.threads import commenting, viewed
from tests.promises.rings import ring, seeded
from tests.review.threads.desk import LINES, Desk, text
from tests.review.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def lines(**changed: str) -> str:
    """LINES with some of them anew: l12="twelve"."""
    new = {int(name[1:]): value for name, value in changed.items()}
    return text([new.get(n, line) for n, line in enumerate(LINES, 1)])


def see(desk: Desk, sha: str, path: str = "a.py") -> None:
    viewed.set_viewed(desk.target(sha), path, True)


def listed(desk: Desk, sha: str) -> list[tuple[int, str, bool]]:
    found = versions.versions("pay", "api", sha)["versions"]
    return [(one["n"], one["sha"], one["looked"]) for one in found]


def last_look(desk: Desk, sha: str) -> Any:
    return versions.versions("pay", "api", sha)["since"]


def since(sha: str, old: str, **asked: Any) -> dict[str, Any]:
    return dict(comparison.since("pay", "api", sha, old, **asked))


def three(desk: Desk) -> tuple[str, str, str]:
    """A commit that was looked at, amended, answered by an agent, and rebased onto a new base."""
    first = desk.git.commit({"a.py": lines(l12="twelve")}, "Change")
    see(desk, first)
    second = desk.git.amend({"a.py": lines(l12="twelve", l30="thirty")})
    commenting.create(desk.target(second), body="Done", author="agent:claude")
    (third,) = desk.moves_on({"a.py": lines(l3="three"), "b.py": lines(l1="one")})
    return first, second, third


def test_each_sha_under_review_is_a_version_and_the_one_looked_at_is_known(desk: Desk):
    first, second, third = three(desk)

    assert listed(desk, third) == [(1, first, True), (2, second, False), (3, third, False)]
    assert last_look(desk, third) == {"sha": first, "n": 1, "changed": True}


def test_a_comment_of_the_reviewer_is_a_look_and_one_of_an_agent_is_none(desk: Desk):
    _, _, third = three(desk)
    tid = desk.review(third)["threads"][0]["id"]

    commenting.reply(desk.target(third), tid, body="Thanks", author=reviewer.me().id)
    fourth = desk.git.amend({"a.py": lines(l12="twelve", l3="three", l31="new")})

    assert [n for n, _, looked in listed(desk, fourth) if looked] == [1, 3]
    assert last_look(desk, fourth) == {"sha": third, "n": 3, "changed": True}


def test_what_is_read_to_its_end_has_no_last_look_before_it(desk: Desk):
    _, _, third = three(desk)
    see(desk, third)

    assert last_look(desk, third) is None


def test_a_rebase_that_leaves_the_change_alone_changed_nothing_since(desk: Desk):
    first = desk.git.commit({"a.py": lines(l12="twelve"), "b.py": lines(l5="five")}, "Change")
    see(desk, first)
    (second,) = desk.moves_on({"a.py": lines(l2="two")})

    assert last_look(desk, second) == {"sha": first, "n": 1, "changed": False}


def test_an_image_that_changed_is_a_change_although_no_line_is(desk: Desk):
    first = desk.git.commit({"a.py": lines(l12="twelve"), "x.png": b"\0one"}, "Change")
    see(desk, first)
    second = desk.git.amend({"x.png": b"\0two"})

    assert last_look(desk, second) == {"sha": first, "n": 1, "changed": True}


def test_a_commit_without_a_past_is_its_only_version(desk: Desk):
    only = desk.git.commit({"a.py": lines(l12="twelve")}, "Change")

    assert listed(desk, only) == [(1, only, False)]
    assert last_look(desk, only) is None


def test_what_was_folded_into_a_commit_is_no_version_of_it(desk: Desk):
    base = desk.git.sha("main")
    kept = desk.git.commit({"a.py": lines(l12="twelve")}, "Change")
    folded = desk.git.commit({"b.py": lines(l7="seven")}, "fixup! Change")
    see(desk, kept)
    desk.comment(folded, "On the fold", "b.py", 7)

    (new,) = desk.git.rebase_todo(base, [f"pick {kept}", f"fixup {folded}"])

    assert [sha for _, sha, _ in listed(desk, new)] == [kept, new]


def test_what_the_base_brought_is_told_from_what_the_author_changed(desk: Desk):
    first, _, third = three(desk)

    found = since(third, first)

    assert found["rebased"] is True
    (file,) = found["files"]  # b.py is the base's alone
    assert file["path"] == "a.py"
    assert [file["edits"][n] for n in file["from_base"]] == [(3, 1, 3, 1)]
    own = [edit for n, edit in enumerate(file["edits"]) if n not in file["from_base"]]
    assert own == [(30, 1, 30, 1)]
    assert (file["base"], file["viewed"], file["changed_since_viewed"]) == (False, False, True)
    whole = since(third, first, whole=True)
    assert [(one["path"], one["base"]) for one in whole["files"]] == [
        ("a.py", False),
        ("b.py", True),
    ]


def test_text_is_found_in_the_files_that_are_shown_of_two_versions(desk: Desk):
    first, _, third = three(desk)

    def paths(**asked: Any) -> list[str]:
        told = finding.since("pay", "api", third, first, "one", **asked)
        return [line["path"] for line in told["lines"] if line["kind"] == "added"]

    assert paths() == []
    assert paths(whole=True) == ["b.py"]


def test_an_amend_on_the_same_base_brings_nothing_from_it(desk: Desk):
    first, second, third = three(desk)

    found = since(third, first, to=second)

    assert found["rebased"] is False
    assert [file["from_base"] for file in found["files"]] == [[]]
    assert (found["from"]["n"], found["to"]["n"]) == (1, 2)


def test_a_version_is_read_against_what_it_was_made_on(desk: Desk):
    first, _, third = three(desk)

    found = since(third, PARENT, to=first)

    assert found["from"] is None
    assert [(one["path"], *one["edits"]) for one in found["files"]] == [("a.py", (12, 1, 12, 1))]


def test_a_message_that_changed_is_told(desk: Desk):
    first = desk.git.commit({"a.py": lines(l12="twelve")}, "Change")
    see(desk, first)
    second = desk.git.amend({}, "Change, in better words")

    assert since(second, first)["message"] == {"old": "Change", "new": "Change, in better words"}
    assert since(second, first)["files"] == []


@pytest.mark.parametrize("name", ["main", "abc", "0" * 40, "../x"])
def test_what_is_no_version_is_refused(desk: Desk, name: str):
    _, _, third = three(desk)

    with pytest.raises(NotFound, match="is not a version of this commit"):
        since(third, name)


def test_one_file_of_a_comparison_is_the_same_as_in_the_whole(desk: Desk):
    first, _, third = three(desk)
    (file,) = since(third, first)["files"]

    assert comparison.file("pay", "api", third, first, "a.py") == file
    assert since(third, first, contents="none")["files"][0]["truncated"] is True
    with pytest.raises(NotFound, match="not a file that differs"):
        comparison.file("pay", "api", third, first, "b.py")


def test_a_version_is_kept_although_git_cleans_up(desk: Desk):
    first, second, third = three(desk)

    desk.git.git("reflog", "expire", "--expire=all", "--all")
    desk.git.git("gc", "-q", "--prune=now")

    assert desk.git.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/svc").split() == (
        sorted([first, second])
    )
    assert [sha for _, sha, _ in listed(desk, third)] == [first, second, third]
    assert since(third, first)["files"][0]["from_base"] == [0]


def test_a_repository_that_cannot_be_written_to_takes_comments_all_the_same(desk: Desk):
    first = desk.git.commit({"a.py": lines(l12="twelve")}, "Change")
    (desk.git.path / ".git" / "refs" / "svc").symlink_to("/nonexistent")

    desk.comment(first, "Said", "a.py", 12)

    assert len(desk.review(first)["threads"]) == 1


def churn(dice: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files a few random changes later: lines, names, whole files, bytes."""
    made = dict(files)
    for _ in range(dice.randint(1, 5)):
        name = dice.choice(sorted(made))
        found = made[name].splitlines(keepends=True)
        at = dice.randrange(len(found) + 1)
        match dice.randrange(8):
            case 0:
                made[f"n{dice.randrange(99)}.txt"] = b"".join(found[:at])
            case 1 if len(made) > 2:
                del made[name]
            case 2:
                made[f"moved {dice.randrange(99)} é.txt"] = made.pop(name)
            case 3:
                made[name] += b"\0"
            case 4:
                made[name] = made[name].rstrip(b"\n")
            case _:
                news = [b"w%d\n" % dice.randrange(9) for _ in range(dice.randrange(3))]
                made[name] = b"".join([*found[:at], *news, *found[at + dice.randrange(3) :]])
    return made


def put(desk: Desk, branch: str, files: dict[str, bytes], parent: str) -> str:
    """A commit of exactly these files on `parent`, which the branch then is."""
    desk.git.git("checkout", "-q", "-B", branch, parent)
    old = {name: None for name in desk.git.git("ls-files", "-z").split("\0") if name}
    desk.git.write(old)
    same = {"Change-Id": "I" + "5" * 40} if branch == "topic" else {}
    return desk.git.commit(files, "Change", trailers=same)


def told_by_git(desk: Desk, old: str, new: str) -> list[tuple[list[str], list[tuple[int, ...]]]]:
    """Status and names of each file, and the numbers of its hunks."""
    options = ("--no-color", "-M", "-l1000", "--diff-algorithm=myers")
    words = iter(desk.git.git("diff", "--name-status", "-z", *options, old, new).split("\0"))
    files = [
        [one[0], *(next(words) for _ in range(2 if one[0] == "R" else 1))] for one in words if one
    ]
    patch = b"\n" + desk.git.raw("diff", "-U0", *options, old, new)
    return list(zip(files, map(numbers, patch.split(b"\ndiff --git ")[1:]), strict=True))


def numbers(patch: bytes) -> list[tuple[int, ...]]:
    heads = re.findall(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", patch, re.MULTILINE)
    return [tuple(int(one or 1) for one in head) for head in heads]


def told(file: dict[str, Any]) -> tuple[list[str], list[tuple[int, ...]]]:
    letter = {"added": "A", "deleted": "D", "modified": "M", "renamed": "R"}[file["status"]]
    names = [name for name in (file["old_path"], file["path"]) if name]
    return [letter, *names], list(file["edits"])


def test_any_two_versions_differ_as_git_says(desk: Desk):
    dice = seeded()
    for _ in range(ring(fast=3, slow=60)):
        base = {f"f{n}.txt": text(LINES[: 10 + n]).encode() for n in range(4)}
        shas = []
        for _version in range(3):
            base = churn(dice, base) if dice.random() < 0.5 else base
            parent = put(desk, "main", base, "main")
            shas.append(put(desk, "topic", churn(dice, base), parent))
            desk.comment(shas[-1], "Seen")
        known = [one["sha"] for one in versions.versions("pay", "api", shas[-1])["versions"]]

        assert known[-3:] == shas
        for old, new in itertools.permutations(shas, 2):
            found = since(shas[-1], old, to=new, whole=True)
            assert [told(file) for file in found["files"]] == told_by_git(desk, old, new)
            for file in found["files"]:
                assert rebuilt(file) == file["new"]


def rebuilt(file: dict[str, Any]) -> str | None:
    """The new text, made of the old one and the edits alone."""
    fresh_text: str | None = file["new"]
    if file["old"] is None or fresh_text is None:
        return fresh_text
    old, new = (file[side].split("\n") for side in ("old", "new"))
    made, at = [], 0
    for start, count, fresh, many in file["edits"]:
        first = start - 1 if count else start
        made += old[at:first] + new[(fresh - 1 if many else fresh) :][:many]
        at = first + count
    return "\n".join(made + old[at:]).removesuffix("\n") + (
        "\n" if file["new"][-1:] == "\n" else ""
    )
