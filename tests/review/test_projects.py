"""project.yaml by hand: what can be read is used, the rest becomes warnings, nothing crashes."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.errors import NotFound
from config.git.command import GitError
from review import projects
from review.files import state_dir
from review.projects import entries, reading
from tests.review.places import aged, put
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def written(home: Path, text: str) -> projects.Project:
    put(home / "pay" / "project.yaml", text.encode())
    return projects.get("pay")


def only(project: projects.Project) -> projects.RepoEntry:
    assert len(project.repos) == 1
    return project.repos[0]


def test_a_whole_project_is_read(home: Path):
    project = written(
        home,
        """\
title: Payments rewrite
description: |
  Why this *exists*.
archived: true
example: payments
triggers: {x: 1}
repos:
  - name: api
    path: ~/src/api
    range: main..feature
    trunk: main
    stacks:
      - title: Schema
        color: blue
        description: What this stack does.
        follow_on: true
        commits: ["ab12cd3", 1234567, 0123456, 12e5678, AB12CD34]
      - title: Rest
        color: "#ABCDEF"
  - path: ../web/
    range: {base: null, head: topic}
""",
    )

    assert (project.title, project.description) == ("Payments rewrite", "Why this *exists*.\n")
    assert (project.archived, project.example, project.parse_error) == (True, "payments", None)
    assert (project.dir, project.file) == (home / "pay", home / "pay" / "project.yaml")
    api, web = project.repos
    assert api == entries.RepoEntry(
        name="api",
        shown_path="~/src/api",
        path=Path.home() / "src" / "api",
        range="main..feature",
        trunk="main",
        stacks=(
            entries.StackEntry(
                title="Schema",
                color="#0072b2",
                description="What this stack does.",
                follow_on=True,
                commits=("ab12cd3", "1234567", "0123456", "12e5678", "ab12cd34"),
                index=0,
            ),
            entries.StackEntry("Rest", "#abcdef", None, False, None, 1),
        ),
        index=0,
    )
    assert (web.name, web.path, web.index) == ("web", home / "web", 1)
    assert (web.range, web.trunk, web.stacks) == ({"base": None, "head": "topic"}, None, ())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", "pay"),
        ("name: Pay", "Pay"),
        ("title: T\nname: Pay", "T"),
        ("title: ' '\nname: 12", "12"),
        ("title: [1]\nname: {}", "pay"),
    ],
)
def test_the_title_falls_back_to_name_and_slug(home: Path, text: str, title: str):
    assert written(home, text).title == title


@pytest.mark.parametrize(
    ("repo", "name", "error"),
    [
        ("path: /x/a", "a", None),
        ("path: /x/a.git/", "a.git", None),
        ("{}", "repo-1", '"path" is required'),
        ("text", "repo-1", "an entry of `repos` must be a mapping with `path`"),
        ("", "repo-1", "an entry of `repos` must be a mapping with `path`"),
        ("{path: [1], name: x}", "x", '"path" is required'),
        ("{path: /x/a, name: ../b}", "..-b", entries.NAME_RULE),
        ("{path: /x/a, name: ..}", "repo-1", entries.NAME_RULE),
        ("{path: /x/a, name: [b]}", "a", entries.NAME_RULE),
        ("{path: /x/my repo}", "my-repo", None),
        ("{path: /}", "repo-1", None),
        ("{path: ~nobody-of-that-name/x}", "repo-1", "No such directory: ~nobody-of-that-name/x"),
        ('{path: "a\\0b"}', "repo-1", "No such directory: a\0b"),
        ("{path: /x/a, range: [1]}", "a", '"range" must be text, or a mapping with base and head'),
        ("{path: /x/a, range: {base: x}}", "a", '"range" must have a head, and a base or null'),
        (
            "{path: /x/a, range: {base: {}, head: y}}",
            "a",
            '"range" must have a head, and a base or',
        ),
    ],
)
def test_a_repo_that_cannot_be_used_is_listed_with_its_error(
    home: Path,
    repo: str,
    name: str,
    error: str | None,
):
    entry = only(written(home, f"repos:\n  - {repo}\n"))

    assert entry.name == name
    if error is None:
        assert entry.errors == ()
    else:
        assert [text[: len(error)] for text in entry.errors] == [error]


def test_a_name_used_twice_is_an_error_of_the_second(home: Path):
    project = written(home, "repos: [{path: /x/api}, {path: /y/api}, {path: /z, name: api}]\n")

    assert [entry.errors for entry in project.repos] == [
        (), ('The name "api" is used twice',), ('The name "api" is used twice',),
    ]  # fmt: skip
    assert projects.repo(project, "api").path == Path("/x/api")


def test_fields_of_a_wrong_type_are_told_and_ignored(home: Path):
    project = written(
        home,
        """\
description: [x]
archived: maybe
repos:
  - path: /x/a
    trunk: {a: b}
    stacks:
      - text
      - {title: [1], color: pinkish, description: {}, follow_on: 3, commits: abc1234}
      - {commits: [xyz, abc1234, [1], ~]}
""",
    )

    assert project.warnings == (
        '"description" must be text; it is ignored',
        '"archived" must be true or false; it is ignored',
    )
    entry = only(project)
    assert entry.errors == ()
    assert entry.warnings == (
        '"trunk" must be text; it is ignored',
        "stack 1 must be a mapping; it is ignored",
        '"title" of stack 2 must be text; it is ignored',
        '"color" of stack 2 must be a palette name or #rrggbb; it is ignored',
        '"description" of stack 2 must be text; it is ignored',
        '"follow_on" of stack 2 must be true or false; it is ignored',
        '"commits" of stack 2 must be a list; it is ignored',
        "xyz of stack 3 is not a sha; it is ignored",
        "an entry of commits of stack 3 is not a sha; it is ignored",
        "an entry of commits of stack 3 is not a sha; it is ignored",
    )
    assert [(stack.index, stack.commits) for stack in entry.stacks] == [
        (1, None),
        (2, ("abc1234",)),
    ]


def test_no_repos_is_no_error(home: Path):
    for text in ("", "repos:\n", "repos: []\n"):
        assert (written(home, text).repos, projects.get("pay").parse_error) == ((), None)


def test_a_broken_file_keeps_the_repos_it_had(home: Path):
    written(home, "title: T\nrepos: [{path: /x/a}]\n")
    aged(put(home / "pay" / "project.yaml", b"repos: {a: b}\n"))

    project = projects.get("pay")

    assert project.parse_error == 'line 1, column 8: "repos" must be a list'
    assert (project.title, only(project).name) == ("T", "a")


def test_only_directories_with_a_project_file_are_projects(home: Path):
    put(home / "Zoo.v2_x" / "project.yaml", b"")
    put(home / "no" / "other.yaml", b"")
    put(home / ".hidden" / "project.yaml", b"")
    put(home / "project.yaml", b"")
    (home / "folder" / "project.yaml").mkdir(parents=True)

    assert [project.slug for project in projects.all()] == ["Zoo.v2_x", "pay"]


@pytest.mark.parametrize("slug", ["none", "../pay", ".hidden", "", "pay\n", "x" * 300, "a\0b"])
def test_an_unknown_slug_is_not_found(home: Path, slug: str):
    with pytest.raises(NotFound, match=r"^No such project: "):
        projects.get(slug)


def test_the_files_of_all_projects_are_looked_up_in_one_question(home: Path):
    for slug in ("a", "b"):
        put(home / slug / "project.yaml", f"title: {slug}\n".encode())

    with CaptureQueriesContext(connection) as asked:
        assert [project.slug for project in projects.all()] == ["a", "b", "pay"]

    questions = [one["sql"] for one in asked.captured_queries if one["sql"].startswith("SELECT")]
    assert len(questions) == 1


def test_an_unknown_repo_is_not_found(home: Path):
    with pytest.raises(NotFound, match=r"^No such repo: \.\./x$"):
        projects.repo(projects.get("pay"), "../x\n")


def test_projects_are_equal_when_only_keys_of_others_differ(home: Path):
    one = written(home, "title: T\ntriggers: {a: 1}\n")
    two = written(home, "title: T\ntriggers: {a: 2}\n")

    assert one == two
    assert one.etag != two.etag


def test_the_state_folder_is_for_its_user_alone(home: Path):
    assert state_dir().stat().st_mode & 0o777 == 0o700


def redirected(top: Path, other: Path) -> None:
    (top / ".git").rename(top / "was")
    (top / ".git").write_text(f"gitdir: {other}/.git\n")


@pytest.mark.parametrize("where", ["projects/pay", "data/worktrees/chat/api", "mine/api"])
def test_where_agents_work_a_repository_has_to_name_its_directory(
    home: Path, tmp_path: Path, where: str
):
    put(home / "pay/project.yaml", f"title: Pay\npath: {tmp_path}/mine\n".encode())
    projects.all()
    private = Repo(tmp_path / "private")
    private.commit({"a": "1\n"})
    repo = Repo(tmp_path / where)
    repo.commit({"a": "1\n"})
    beside = repo.path.parent / "beside"
    repo.git("worktree", "add", "-q", str(beside))
    for place in (repo.path, beside):
        assert projects.open_at(place).common_dir == repo.path / ".git"

    redirected(repo.path, private.path)

    with pytest.raises(GitError, match="a repository that does not name this directory") as caught:
        projects.open_at(repo.path)
    assert caught.value.kind == "not_git"


def test_anywhere_else_a_repository_opens_as_git_has_it(home: Path, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"})
    repo = Repo(tmp_path / "elsewhere")

    redirected(repo.path, other.path)

    assert projects.open_at(repo.path).common_dir == other.path / ".git"
    put(home / "pay/project.yaml", f"title: Pay\npath: {tmp_path}/elsewhere\n".encode())
    projects.get("pay")
    with pytest.raises(GitError):
        projects.open_at(repo.path)
    put(home / "pay/project.yaml", b"title: Pay\n")
    projects.get("pay")
    assert projects.open_at(repo.path).common_dir == other.path / ".git"


def test_a_directory_is_worked_in_by_the_name_in_the_file_and_by_the_one_behind_its_links(
    home: Path, tmp_path: Path
):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    put(home / "pay/project.yaml", f"title: Pay\npath: {tmp_path}/link/mine\n".encode())
    projects.all()
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"})
    repo = Repo(tmp_path / "disk/mine")

    redirected(repo.path, other.path)

    for place in (tmp_path / "link/mine", tmp_path / "disk/mine"):
        with pytest.raises(GitError):
            projects.open_at(place)


def test_a_project_that_nobody_has_read_yet_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    projects.all()
    other = Repo(tmp_path / "other")
    other.commit({"a": "1\n"})
    repo = Repo(tmp_path / "mine")
    redirected(repo.path, other.path)
    put(home / "pay/project.yaml", f"title: Pay\npath: {tmp_path}/mine\n".encode())
    monkeypatch.setattr(reading, "LOOK_S", 0)  # a second has gone by

    with pytest.raises(GitError):
        projects.open_at(repo.path)


def test_a_path_that_no_disk_can_have_keeps_no_repository_from_being_opened(
    home: Path, tmp_path: Path
):
    put(home / "odd/project.yaml", b'title: Odd\npath: "/a\\0b"\n')
    projects.all()
    repo = Repo(tmp_path / "api")
    repo.commit({"a": "1\n"})

    assert projects.open_at(repo.path).common_dir == repo.path / ".git"
