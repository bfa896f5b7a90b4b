"""What is read for a turn is read behind its wall, whatever it exchanges in the middle of it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.errors import SvcError
from config.git import command
from config.git.command import GitError
from config.storage import syscalls
from review import caches, files, projects
from review.git.repository import Repository
from review.stacks import changes, details
from review.stacks.asking import turns, wall
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.asking.conftest import FIRST, Desk, worktree
from tests.workspace.engines.test_sandbox import inside
from workspace.engines import sandbox, select

pytestmark = [pytest.mark.django_db, inside]
SECRET = "the plan of the stranger"


def slow(case: Any) -> Any:
    """What the first cases nearly show."""
    return pytest.param(case, marks=pytest.mark.slow)


@dataclass
class Field:
    """The project `pay` works in `top`; `place` in it is its repository. What is at each of `names`
    can be exchanged for its counterpart, which leads to the `secret` repository."""

    top: Path
    place: Path
    own: str
    theirs: str
    names: list[tuple[Path, Path]]
    away: bool = False

    def exchange(self) -> None:
        self.away = not self.away
        for one, other in self.names:
            folder = os.open("/", os.O_PATH)
            syscalls.exchange(str(one), str(other), folder)
            os.close(folder)

    def told(self) -> str:
        """All that a turn hears of its stacks, and of a commit of each repository."""
        here = self.top
        if self.away:
            self.exchange()
        calls: list[Callable[[], Any]] = [
            lambda: turns.list_stacks(here, project=None),
            lambda: turns.list_threads(here, commit=None, state="all", project=None),
            lambda: turns.read_diff(here, commit=self.own, path=None, project=None),
            lambda: turns.read_diff(here, commit=self.theirs, path=None, project=None),
        ]
        return "".join(map(_said, calls))


def _said(call: Callable[[], Any]) -> str:
    try:
        return json.dumps(call())
    except (SvcError, GitError) as error:
        return error.text


def a_link(place: Path, secret: Path, spare: Path) -> list[tuple[Path, Path]]:
    (spare / "git").symlink_to(secret / ".git")
    return [(place / ".git", spare / "git")]


def its_parts(place: Path, secret: Path, spare: Path) -> list[tuple[Path, Path]]:
    names = ("objects", "refs")
    for name in names:
        (spare / name).symlink_to(secret / ".git" / name)
    return [(place / ".git" / name, spare / name) for name in names]


def what_it_borrows(place: Path, secret: Path, spare: Path) -> list[tuple[Path, Path]]:
    made, branch = spare / "git", "refs/heads/work"
    shutil.copytree(place / ".git", made)
    (made / "objects/info/alternates").write_text(f"{secret}/.git/objects\n")
    (made / branch).unlink()
    (made / branch).symlink_to(secret / ".git" / branch)
    return [(place / ".git", made)]


def the_folder_above(place: Path, secret: Path, spare: Path) -> list[tuple[Path, Path]]:
    (spare / "above").symlink_to(secret)
    return [(place, spare / "above")]


def where_its_file_leads(place: Path, secret: Path, spare: Path) -> list[tuple[Path, Path]]:
    """A turn may write its home, too, which is not its directory."""
    (place / ".git").rename(kept := spare.parent.parent / "kept")
    (place / ".git").write_text(f"gitdir: {kept}\n")
    with (kept / "config").open("a") as config:
        config.write(f"[core]\n\tworktree = {place}\n")
    (spare / "kept").symlink_to(secret / ".git")
    return [(kept, spare / "kept")]


WAYS = [a_link, where_its_file_leads, *map(slow, (its_parts, what_it_borrows, the_folder_above))]


@pytest.fixture
def confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns see nothing of what lies here but what is theirs."""
    walls = sandbox.Sandbox("bwrap", hide=(str(tmp_path),))
    monkeypatch.setattr(select, "confinement", lambda: walls)


def stacked(path: Path, subject: str) -> Repo:
    repo = Repo(path)
    repo.commit({"README": "x\n"}, "Begin")
    repo.git("checkout", "-q", "-b", "work")
    repo.commit({"a.txt": f"{subject}\n"}, subject)
    return repo


@pytest.fixture(params=WAYS)
def field(request: pytest.FixtureRequest, confined: None, home: Path, tmp_path: Path) -> Field:
    secret, top = stacked(tmp_path / "secret", SECRET), tmp_path / "mine"
    mine = stacked(top / "api", "Mine")
    said = f"title: Pay\npath: {top}\nrepos: [{{name: api, path: {mine.path}}}]\n"
    put(home / "pay/project.yaml", said.encode())
    changes.start_thread("pay", "api", files.WORKTREE, me="kim", body="Here?")
    (spare := top / "spare").mkdir()
    names = request.param(mine.path, secret.path, spare)
    return Field(top, mine.path, mine.sha(), secret.sha(), names)


@pytest.fixture
def late(field: Field, monkeypatch: pytest.MonkeyPatch) -> Field:
    """Whenever a repository was looked at and is about to be read, it is the other one."""
    real = projects.open_at

    def opened(path: Path) -> Repository:
        if field.away:
            field.exchange()
        found = real(path)
        field.exchange()
        return found

    monkeypatch.setattr(projects, "open_at", opened)
    return field


def test_what_is_exchanged_between_the_look_and_git_tells_a_turn_nothing(late: Field):
    told = late.told()

    assert SECRET not in told
    assert late.theirs not in told


@pytest.mark.parametrize("field", [a_link], indirect=True)
def test_what_a_person_was_shown_meanwhile_is_told_to_no_turn(late: Field):
    shown = _said(lambda: details.project("pay"))

    told = late.told()

    assert SECRET in shown
    assert SECRET not in told
    assert late.theirs not in told


@pytest.mark.parametrize("field", [a_link], indirect=True)
def test_a_turn_hears_of_its_own_repository_as_before(field: Field):
    told = field.told()

    assert "Mine" in told
    assert "Here?" in told
    assert "+Mine" in told
    assert SECRET not in told


def test_every_git_that_reads_for_a_turn_runs_in_the_sandbox(
    desk: Desk, confined: None, monkeypatch: pytest.MonkeyPatch
):
    started: list[str] = []

    class Seen(command.Process):
        def __init__(self, argv: list[str], *args: Any, **named: Any) -> None:
            started.append(argv[0])
            super().__init__(argv, *args, **named)

    monkeypatch.setattr(command, "Process", Seen)
    here, nowhere = desk.repo.path, {"project": None}
    desk.rewrite(f"# cents\n{FIRST}")  # what is gone is looked for, aside
    changes.start_thread("pay", "api", files.WORKTREE, me="kim", body="Here?")
    started.clear()
    caches.clear()

    turns.list_stacks(here, **nowhere)
    turns.list_threads(here, commit=None, state="all", **nowhere)
    turns.read_thread(here, thread=desk.thread, **nowhere)
    turns.read_diff(here, commit=desk.low, path=None, **nowhere)
    turns.reply(here, thread=desk.thread, body="Done.", author="agent:x", **nowhere)
    turns.propose_resolved(here, thread=desk.thread, author="agent:x", **nowhere)

    assert len(started) > 10
    assert {*started} == {"bwrap"}
    with pytest.raises(GitError) as refused:
        wall.within(lambda here: command.run(here, "rev-parse", "--verify", "nothing"))(here)
    assert refused.value.text == "git rev-parse failed: Needed a single revision"
    assert desk.low in desk.repo.git("for-each-ref", "refs/svc/reviewed")


def below_its_top(repo: Repo, tmp_path: Path) -> Path:
    (repo.path / "deep").mkdir()
    return repo.path / "deep"


def in_a_worktree_elsewhere(repo: Repo, tmp_path: Path) -> Path:
    return worktree(repo, tmp_path / "elsewhere")


def in_a_worktree_of_its_own_repository(repo: Repo, tmp_path: Path) -> Path:
    return worktree(repo, repo.path / "within")


def beside_what_it_borrows(repo: Repo, tmp_path: Path) -> Path:
    repo.git("clone", "-q", "--bare", ".", "lender")
    (repo.path / ".git/objects/info/alternates").write_text(f"{repo.path}/lender/objects\n")
    for name in ("lender/config", "README"):  # objects of its own are gone
        assert (repo.path / name).exists()
    for folder in (repo.path / ".git/objects").glob("??"):
        shutil.rmtree(folder)
    return repo.path


@pytest.mark.parametrize(
    "place",
    [
        in_a_worktree_elsewhere,
        slow(below_its_top),
        slow(in_a_worktree_of_its_own_repository),
        slow(beside_what_it_borrows),
    ],
)
def test_a_turn_reads_the_review_of_a_repository_that_is_not_all_in_its_directory(
    desk: Desk, confined: None, tmp_path: Path, place: Callable[[Repo, Path], Path]
):
    here = place(desk.repo, tmp_path)
    caches.clear()

    (stack,) = turns.list_stacks(here, project=None)["stacks"]
    diff = turns.read_diff(here, commit=desk.low, path=None, project=None)

    assert [one["title"] for one in stack["commits"]] == ["Add the total", "Print"]
    assert "+    return sum(items)" in diff["diff"]


def in_a_submodule(repo: Repo, tmp_path: Path) -> tuple[Path, Path]:
    above = Repo(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.path), "part")
    return above.path, above.path / "part"


def in_a_worktree_of_another(repo: Repo, tmp_path: Path) -> tuple[Path, Path]:
    (top := tmp_path / "top").mkdir()
    return top, worktree(repo, top / "tree")


@pytest.mark.parametrize("inner", [in_a_submodule, slow(in_a_worktree_of_another)])
def test_a_repository_in_the_directory_is_reached_where_it_keeps_its_objects(
    desk: Desk,
    confined: None,
    tmp_path: Path,
    inner: Callable[[Repo, Path], tuple[Path, Path]],
):
    top, place = inner(desk.repo, tmp_path)
    said = f"title: Inner\nrepos: [{{name: inner, path: {place}, range: main..{desk.high}}}]\n"
    if inner is in_a_submodule:
        said = said.replace("main..", "origin/main..")
    put(desk.pay.root / "inner/project.yaml", said.encode())

    (stack,) = turns.list_stacks(top, project="inner")["stacks"]

    assert [one["title"] for one in stack["commits"]] == ["Add the total", "Print"]
