"""project.yaml is shared: this part writes its own keys and not one byte of the others'."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from config.errors import Conflict, Invalid, NotFound
from config.storage import displaced, yamlio
from review import projects
from tests.config.odd_yaml import OddFile
from tests.review.places import aged, put
from tests.review.repos import Repo
from workspace.projects import store as workspace_projects

pytestmark = pytest.mark.django_db

FOREIGN = b"""\
%YAML 1.2
--- # of the workspace
'name' :   "Pay"   # odd quotes
triggers: &all
    nightly: {trigger: {type: schedule, cron: '0 9 * * *'}, enabled: no}   # why

    weekly:
        run:
            prompt: |
                one
                  two # text

x: *all
"""
STACKS = b"""\
repos:
  - name: api   # the api
    path: ~/api
    stacks:
      # the first
      - title: A
        commits: ["1234567"]
      - title: B
        description: old   # note
# the end
"""


def text(home: Path) -> bytes:
    return (home / "pay" / "project.yaml").read_bytes()


def written(home: Path, data: bytes) -> projects.Project:
    put(home / "pay" / "project.yaml", data)
    return projects.get("pay")


def note(
    home: Path, n: int, description: str | None, *stacks: tuple[int, str | None, int | None],
    **guard: Any,
) -> None:  # fmt: skip
    listed = stacks or ((1, "A", 0), (2, "B", 1))
    projects.set_stack_note(projects.get("pay"), "api", n, listed, description=description, **guard)


# -- the intro -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept", "lines"),
    [
        ("Hello", "Hello", b"description: Hello\n"),
        ("no", "no", b'description: "no"\n'),
        ("# a\r\n\r\nb \n\n", "# a\n\nb", b"description: |-\n  # a\n\n  b\n"),
        ("\n\n  code\n", "  code", b'description: "  code"\n'),
        ("a\x07b", "a\x07b", b'description: "a\\u0007b"\n'),
        ("e\u2028\U0001f600", "e\u2028\U0001f600", 'description: "e\\u2028\U0001f600"\n'.encode()),
    ],
)
def test_the_intro_is_kept_as_it_is_read_again(home: Path, given: str, kept: str, lines: bytes):
    assert projects.set_description("pay", given) == kept

    assert text(home) == b"title: Pay\n" + lines
    assert projects.get("pay").description == kept


@pytest.mark.parametrize("given", [None, "", " \n\t "])
def test_a_blank_intro_is_removed(home: Path, given: str | None):
    written(home, b"title: T # t\ndescription: |\n  x\n\n  y\n# end\n")

    assert projects.set_description("pay", given) is None

    assert text(home) == b"title: T # t\n# end\n"


def test_the_same_intro_writes_nothing(home: Path):
    before = (home / "pay" / "project.yaml").stat()
    put(home / "pay" / "project.yaml", b"description: 'same'\n")
    before = (home / "pay" / "project.yaml").stat()

    assert projects.set_description("pay", "same") == "same"

    after = (home / "pay" / "project.yaml").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (5, '"description" must be a string or null'),
        ("x" * 65_537, '"description" must be at most 65,536 characters'),
    ],
)
def test_an_intro_that_is_no_text_is_refused(home: Path, given: Any, error: str):
    before = text(home)

    with pytest.raises(Invalid) as caught:
        projects.set_description("pay", given)

    assert caught.value.text == error
    assert text(home) == before


def test_the_file_stays_readable_for_the_workspace(home: Path):
    data = b"title: T\nx: |\n" + b"  0123456789\n" * 80_000
    assert len(data) < 1 << 20
    written(home, data)

    with pytest.raises(Invalid, match=r"^project\.yaml would be larger than 1 MB$"):
        projects.set_description("pay", "y" * 60_000)

    assert text(home) == data


def test_an_unknown_project_is_not_found_and_not_made(home: Path):
    with pytest.raises(NotFound):
        projects.set_description("other", "x")

    assert not (home / "other").exists()


def test_a_broken_file_refuses_and_stays(home: Path):
    aged(put(home / "pay" / "project.yaml", b"a: [\n"))

    writes: list[Callable[[], object]] = [
        lambda: projects.set_description("pay", "x"),
        lambda: add(home.parent / "repo", name="x"),
    ]
    Repo(home.parent / "repo")
    for write in writes:
        with pytest.raises(Conflict) as caught:
            write()
        assert caught.value.code == "invalid_file"
    assert text(home) == b"a: [\n"


# -- notes of stacks -----------------------------------------------------------------------------


def test_a_note_touches_its_own_lines_alone(home: Path):
    written(home, STACKS)

    note(home, 1, "two\nlines")
    note(home, 2, "new", title="B")

    assert text(home) == STACKS.replace(
        b'        commits: ["1234567"]\n',
        b'        commits: ["1234567"]\n        description: |-\n          two\n          lines\n',
    ).replace(b"description: old   # note", b"description: new   # note")


def test_a_blank_note_is_removed(home: Path):
    written(home, STACKS)

    note(home, 2, " ")
    note(home, 1, None)

    assert text(home) == STACKS.replace(b"        description: old   # note\n", b"")


@pytest.mark.parametrize(
    ("n", "title", "error"),
    [
        (2, "A", 'Stack 2 is now titled "B", not "A"'),
        (2, None, 'Stack 2 is now titled "B", not untitled'),
        (3, "A", 'Stack 3 is now untitled, not "A"'),
    ],
)
def test_a_title_that_is_no_longer_the_stacks_is_a_conflict(
    home: Path, n: int, title: str | None, error: str
):
    written(home, STACKS)

    with pytest.raises(Conflict) as caught:
        note(home, n, "x", (1, "A", 0), (2, "B", 1), (3, None, None), title=title)

    assert (caught.value.text, caught.value.code) == (error, "changed")
    assert text(home) == STACKS


def test_stacks_that_moved_since_they_were_shown_are_a_conflict(home: Path):
    written(home, STACKS.replace(b"title: B", b"title: C"))

    with pytest.raises(Conflict, match=r'^Stack 2 is now titled "C", not "B"$'):
        note(home, 2, "x")


def test_an_unknown_stack_is_not_found(home: Path):
    written(home, STACKS)

    for n, stacks in ((7, ()), (3, ((3, "C", 2),))):
        with pytest.raises(NotFound, match=f"^No such stack: {n}$"):
            note(home, n, "x", *stacks)


def test_a_repo_that_went_is_not_found(home: Path):
    project = written(home, STACKS)
    written(home, b"repos: []\n")

    with pytest.raises(NotFound, match=r"^No such repo: api$"):
        projects.set_stack_note(project, "api", 1, [(1, "A", 0)], description="x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"repos:\n- path: ~/api\n",
         b"repos:\n- path: ~/api\n  stacks:\n    - description: note\n"),
        (b"repos: [{path: ~/api}] # c\n",
         b"repos: [{path: ~/api, stacks: [{description: note}]}] # c\n"),
        (b"repos:\n- path: ~/api\n  stacks: []\n",
         b"repos:\n- path: ~/api\n  stacks:\n    - description: note\n"),
        (b"repos:\n- path: ~/api\n  stacks:\n  - title: A\n    commits: [] # c\n# d\n",
         b"repos:\n- path: ~/api\n  stacks:\n  - title: A\n    commits: [] # c\n"
         b"  - description: note\n# d\n"),
    ],
)  # fmt: skip
def test_the_implicit_stack_gets_an_entry_and_loses_it_with_its_note(
    home: Path, before: bytes, after: bytes
):
    written(home, before)

    note(home, 1, None, (1, None, None))
    assert text(home) == before

    note(home, 1, "note", (1, None, None))
    assert text(home) == after
    (entry,) = projects.get("pay").repos
    assert (entry.stacks[-1].description, entry.stacks[-1].commits) == ("note", None)

    note(home, 1, "again", (1, None, None))  # as it was shown before the first note
    assert text(home) == after.replace(b"note", b"again")

    note(home, 1, None, (1, None, entry.stacks[-1].index))
    (entry,) = projects.get("pay").repos
    assert [stack.description for stack in entry.stacks] == [None] * len(entry.stacks)
    assert all(stack.commits is not None for stack in entry.stacks)


def test_stacks_that_are_no_list_are_left_for_their_author(home: Path):
    data = b"repos:\n- path: ~/api\n  stacks: {a: b}\n"
    written(home, data)

    with pytest.raises(Conflict, match="Change it by hand; nothing was changed"):
        note(home, 1, "x", (1, None, None))

    assert text(home) == data


# -- repos ---------------------------------------------------------------------------------------


def add(place: Path | str | None, **given: Any) -> projects.RepoEntry:
    path = str(place) if isinstance(place, Path) else place
    wanted = {"range": None, "name": None, "working_dir": None} | given
    return projects.add_repo("pay", path=path, **wanted)


@pytest.fixture
def repo(home: Path) -> Repo:
    made = Repo(home.parent / "src" / "api")
    made.commit({"a": "1\n"}, "First")
    made.git("branch", "topic")
    return made


def test_a_repository_is_added_under_its_own_name(home: Path, repo: Repo):
    entry = add(repo.path)

    assert (entry.name, entry.path, entry.range, entry.errors) == ("api", repo.path, None, ())
    assert text(home) == f"title: Pay\nrepos:\n  - name: api\n    path: {repo.path}\n".encode()


def test_a_path_under_home_is_written_from_there(home: Path, repo: Repo, monkeypatch):
    monkeypatch.setenv("HOME", str(home.parent))

    first = add(repo.path, range="main..topic", name="1e3")
    second = add("../../src/api", range={"base": None, "head": "topic"}, name="b")
    third = add("~/src/api", range=" ", name="c")

    assert [one.shown_path for one in (first, second, third)] == ["~/src/api"] * 3
    assert [one.path for one in (first, second, third)] == [repo.path] * 3
    assert (first.name, first.range) == ("1e3", "main..topic")
    assert (second.range, third.range) == ({"base": None, "head": "topic"}, None)


def test_the_working_directory_stands_in_for_a_path(home: Path, repo: Repo):
    assert add(None, working_dir=repo.path).path == repo.path
    assert add(" ", name="b", working_dir=repo.path).path == repo.path


def test_repos_of_others_stay_as_they_are_written(home: Path, repo: Repo):
    written(home, STACKS)

    add(repo.path, name="web")

    assert text(home) == STACKS.replace(
        b"# the end\n", f"  - name: web\n    path: {repo.path}\n# the end\n".encode()
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"place": None}, '"path" is required: the project has no working directory'),
        ({"place": "/no/such"}, "Not a git repository: /no/such"),
        ({"place": "a\0b"}, "Not a git repository: ab"),
        ({"place": "~nobody-of-that-name/x"}, "Not a git repository: ~nobody-of-that-name/x"),
        ({"range": "main..gone"}, "Unknown revision: gone"),
        ({"range": "--upload-pack=x"}, "Unknown revision: --upload-pack=x"),
        ({"range": 5}, '"range" must be a string, or an object with base and head'),
        ({"range": {"base": "x"}}, '"range" must be a string, or an object with base and head'),
        ({"name": "a/b"}, '"name" must be 1 to 64 letters, digits, ".", "_" or "-"'),
        ({"name": ".."}, '"name" must be 1 to 64 letters, digits, ".", "_" or "-"'),
        ({"name": ""}, '"name" must be 1 to 64 letters, digits, ".", "_" or "-"'),
        ({"name": 5}, '"name" must be 1 to 64 letters, digits, ".", "_" or "-"'),
    ],
)
def test_what_cannot_be_reviewed_is_refused(
    home: Path, repo: Repo, given: dict[str, Any], error: str
):
    with pytest.raises(Invalid) as caught:
        add(**({"place": repo.path} | given))

    assert caught.value.text == error
    assert text(home) == b"title: Pay\n"


def test_a_folder_that_is_no_repository_is_refused(home: Path):
    with pytest.raises(Invalid, match=f"^Not a git repository: {home}$"):
        add(home)
    with pytest.raises(Invalid, match=r'^"path" must be a string$'):
        projects.add_repo("pay", path=5, range=None, name=None, working_dir=None)  # type: ignore[arg-type]


def test_a_used_name_is_a_conflict(home: Path, repo: Repo):
    add(repo.path)

    with pytest.raises(Conflict) as caught:
        add(repo.path)

    assert (caught.value.text, caught.value.code) == ('A repo named "api" already exists', "exists")


# -- the keys of others --------------------------------------------------------------------------


def test_every_byte_of_the_keys_of_others_survives(home: Path, repo: Repo):
    for start in (FOREIGN, b"\xef\xbb\xbf" + FOREIGN, FOREIGN.replace(b"\n", b"\r\n")):
        written(home, start)

        add(repo.path, name="a")
        add(repo.path, name="b")
        projects.set_description("pay", "one\ntwo")
        for name, words in (("a", "three"), ("b", "four"), ("b", None)):
            projects.set_stack_note(
                projects.get("pay"), name, 1, [(1, None, None)], description=words
            )
        assert text(home).startswith(start)
        assert projects.get("pay").description == "one\ntwo"
        projects.set_description("pay", None)
        assert text(home).startswith(start)


def test_odd_files_of_others_survive(home: Path, repo: Repo):
    rng = random.Random(11)
    for _ in range(60):
        odd = OddFile.make(rng)
        if not odd.final:
            continue
        written(home, odd.data())

        projects.set_description("pay", "one\ntwo")
        add(repo.path, range="main..topic")

        for line in odd.lines:
            assert line.text.encode() in text(home)
        assert text(home).startswith(odd.data())
        projects.set_description("pay", None)


@pytest.mark.django_db(transaction=True)  # each thread has a connection of its own
def test_both_parts_write_at_once_and_lose_nothing(home: Path, repo: Repo):
    written(home, FOREIGN)
    most = 100

    def review(number: int) -> None:
        if number % 2:
            projects.set_description("pay", f"take {number}\nof many")
        else:
            add(repo.path, name=f"repo-{number}")

    def workspace(number: int) -> None:
        project = workspace_projects.get("pay")
        workspace_projects.edit_file(
            project, lambda data: yamlio.set_entry(data, (f"theirs-{number}",), number)
        )

    def run(one: Callable[[int], None]) -> None:
        for number in range(most):
            one(number)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, (review, workspace)))
    displaced.settle()

    found = yamlio.parse(text(home)).value
    assert text(home).startswith(FOREIGN)
    assert [found[f"theirs-{number}"] for number in range(most)] == list(range(most))
    assert [entry.name for entry in projects.get("pay").repos] == [
        f"repo-{number}" for number in range(0, most, 2)
    ]
    assert projects.get("pay").description == f"take {most - 1}\nof many"
    assert [path.name for path in (home / "pay").iterdir()] == ["project.yaml"]
