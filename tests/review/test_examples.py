"""The examples: made, left alone, put away and brought back with everything in them."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.errors import Conflict, SvcError, Unavailable
from config.git import command
from config.git.command import GitError
from config.storage import files, yamlio
from review import projects
from review.examples import installing, repository
from review.files import state_dir
from tests.review.places import put

pytestmark = pytest.mark.django_db

BOTH = ["example-payments", "example-search"]
NOTHING: dict[str, list[str]] = {"created": [], "restored": [], "existing": [], "removed": []}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def repo_dir() -> Path:
    return state_dir() / "examples"


def test_both_are_created_in_an_empty_place(home: Path):
    assert installing.state() == "none"

    assert installing.add() == NOTHING | {"created": BOTH}

    assert installing.state() == "present"
    assert [projects.get(slug).example for slug in BOTH] == ["payments", "search"]
    assert [projects.get(slug).parse_error for slug in BOTH] == [None, None]


def test_the_shas_are_the_same_on_every_machine(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    put(Path(os.environ["HOME"]) / ".gitconfig", b"[init]\n\tdefaultObjectFormat = sha256\n")
    try:
        installing.add()
    finally:
        (Path(os.environ["HOME"]) / ".gitconfig").unlink()

    listed = command.run(repo_dir(), "for-each-ref", "--format=%(refname) %(objectname)").decode()
    assert dict(line.split() for line in listed.splitlines()) == repository.REFS
    command.run(repo_dir(), "fsck", "--strict")


def test_every_file_of_an_example_is_of_a_commit_that_is_there(home: Path):
    installing.add()
    shas = {path.stem for slug in BOTH for path in (home / slug).rglob("*/*/*.yaml")}

    kinds = command.run(
        repo_dir(),
        "cat-file",
        "--batch-check=%(objecttype)",
        stdin="\n".join(sorted(shas)).encode(),
    )
    assert set(kinds.decode().split()) == {"commit"}
    assert len(shas) >= 7


def test_every_file_of_an_example_can_be_read(home: Path):
    installing.add()

    for slug in BOTH:
        for path in (home / slug).rglob("*.yaml"):
            assert yamlio.parse(path.read_bytes()).value


def test_each_repo_of_an_example_leads_to_the_repository(home: Path):
    installing.add()

    for slug in BOTH:
        for repo in projects.get(slug).repos:
            assert (repo.path.resolve(), repo.errors) == (repo_dir().resolve(), ())


def test_examples_can_be_moved_with_the_data_they_lie_in(settings, tmp_path: Path):
    settings.DATA_DIR = tmp_path / "data"
    settings.PROJECTS_DIR = tmp_path / "data" / "projects"
    installing.add()
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    settings.DATA_DIR = tmp_path / "elsewhere"
    settings.PROJECTS_DIR = tmp_path / "elsewhere" / "projects"

    assert projects.get(BOTH[0]).repos[0].path.resolve() == repo_dir().resolve()


def test_again_changes_nothing(home: Path):
    installing.add()
    put(home / BOTH[0] / "reviews" / "payments" / "note.txt", b"mine")
    before = tree(home)

    assert installing.add() == NOTHING | {"existing": BOTH}
    assert tree(home) == before


def test_removing_only_renames_project_yaml(home: Path):
    installing.add()
    before = tree(home)

    assert installing.remove() == NOTHING | {"removed": BOTH}

    assert installing.state() == "removed"
    assert {name.partition(".removed-")[0]: data for name, data in tree(home).items()} == before
    assert installing.remove() == NOTHING


def test_what_was_written_into_an_example_comes_back_with_it(home: Path):
    installing.add()
    review = next((home / BOTH[0] / "reviews" / "payments").glob("*.yaml"))
    put(review, b"threads: [{comments: [{author: me, body: mine}]}]\n")
    put(
        home / BOTH[0] / "project.yaml",
        (home / BOTH[0] / "project.yaml").read_bytes() + b"# mine\n",
    )
    before = tree(home)
    installing.remove()

    assert installing.add() == NOTHING | {"restored": BOTH}
    assert tree(home) == before


def test_the_newest_one_comes_back_and_the_others_stay(home: Path):
    installing.add()
    put(home / BOTH[0] / "project.yaml", b"example: payments\ntitle: newest\n")
    installing.remove()
    for year in (b"2019", b"2020"):
        name = f"project.yaml.removed-{year.decode()}0101T000000000000Z"
        put(home / BOTH[0] / name, b"title: " + year + b"\n")

    assert installing.add() == NOTHING | {"restored": BOTH}
    assert projects.get(BOTH[0]).title == "newest"
    assert len(list((home / BOTH[0]).glob("project.yaml.removed-*"))) == 2


@pytest.mark.parametrize("text", [b"title: My own\n", b"example: mine\n", b"a: [\n", b""])
def test_a_project_of_a_person_keeps_its_name(home: Path, text: bytes):
    put(home / BOTH[1] / "project.yaml", text)
    before = tree(home)

    with pytest.raises(Conflict) as refused:
        installing.add()

    sentence = 'A project named "example-search" already exists and is not an example'
    assert (refused.value.text, refused.value.code) == (sentence, "exists")
    assert tree(home) == before
    assert not repo_dir().exists()


def test_a_project_of_a_person_is_not_removed(home: Path):
    put(home / BOTH[0] / "project.yaml", b"title: My own\n")
    before = tree(home)

    assert installing.remove() == NOTHING
    assert tree(home) == before
    assert installing.state() == "none"


def test_files_that_lie_where_an_example_will_be_stay(home: Path):
    sha = repository.REFS["refs/heads/payments/retry"]
    mine = put(home / BOTH[0] / "reviews" / "payments" / f"{sha}.yaml", b"threads: []\n")
    put(home / BOTH[0] / "chats" / "1.jsonl", b"{}\n")

    assert installing.add()["created"] == BOTH
    assert mine.read_bytes() == b"threads: []\n"


@pytest.mark.parametrize("failing", ["project.yaml", "prs", "second"])
def test_a_failure_removes_what_it_made(home: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    put(home / BOTH[0] / "notes.txt", b"mine")
    before, write = tree(home), files.write

    def fail(path: Path, *args: object, **how: object) -> object:
        if failing in str(path) or (failing == "second" and BOTH[1] in str(path)):
            raise Unavailable("Cannot write: the disk is full")
        return write(path, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write", fail)
    with pytest.raises(SvcError, match="the disk is full"):
        installing.add()

    assert tree(home) == before
    assert sorted(path.name for path in home.iterdir()) == [BOTH[0], "pay"]
    assert [path.name for path in (home / BOTH[0]).iterdir()] == ["notes.txt"]
    assert list(state_dir().glob("*examples*")) == []
    monkeypatch.undo()
    assert installing.add()["created"] == BOTH


def test_a_failure_puts_what_it_brought_back_away_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    installing.add()
    installing.remove()
    shutil.rmtree(home / BOTH[1])
    before = tree(home)

    def fail(*_: object, **__: object) -> None:
        raise Unavailable("full")

    monkeypatch.setattr(files, "write", fail)
    with pytest.raises(Unavailable):
        installing.add()

    assert tree(home) == before


def test_without_git_the_reason_is_told_and_nothing_is_made(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object, **__: object) -> bytes:
        raise GitError("failed", "git is not installed, or not in PATH")

    monkeypatch.setattr(command, "run", fail)
    before = tree(home)

    with pytest.raises(SvcError, match="git is not installed"):
        installing.add()
    assert tree(home) == before
    assert list(state_dir().iterdir()) == []


@pytest.mark.parametrize("damage", ["gone", "branch", "objects", "file"])
def test_a_repository_that_is_damaged_is_made_anew(home: Path, damage: str):
    installing.add()
    match damage:
        case "gone":
            shutil.rmtree(repo_dir())
        case "branch":
            command.run(repo_dir(), "update-ref", "-d", "refs/heads/search/index")
        case "objects":
            shutil.rmtree(repo_dir() / "objects")
        case "file":
            shutil.rmtree(repo_dir())
            repo_dir().write_text("not a repository")

    assert installing.add()["existing"] == BOTH
    command.run(repo_dir(), "fsck", "--strict")
    kept = list(state_dir().glob("examples.damaged-*"))
    assert len(kept) == (damage != "gone")


def test_a_repository_somebody_works_in_is_left_alone(home: Path):
    installing.add()
    tip = repository.REFS["refs/heads/payments/main"]
    command.run(repo_dir(), "update-ref", "refs/heads/payments/retry", tip)
    installing.remove()
    installing.add()

    shown = command.run(repo_dir(), "rev-parse", "refs/heads/payments/retry").decode().strip()
    assert shown == tip


def test_what_a_killed_run_left_is_removed(home: Path):
    put(state_dir() / ".examples-0123" / "HEAD", b"half")

    installing.add()

    assert [path.name for path in state_dir().iterdir()] == ["examples"]


class Held:
    """A first `add` that stands still in the middle until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.inside, self.go = threading.Event(), threading.Event()
        self.calls = 0
        ensure = repository.ensure

        def wait(path: Path) -> bool:
            self.calls += 1
            self.inside.set()
            assert self.go.wait(20)
            return ensure(path)

        monkeypatch.setattr(repository, "ensure", wait)


def test_two_at_once_are_one_and_get_the_same(home: Path, monkeypatch: pytest.MonkeyPatch):
    held = Held(monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(installing.add)
        assert held.inside.wait(20)
        others = [pool.submit(installing.add) for _ in range(3)]
        held.go.set()
        results = [one.result(20) for one in (first, *others)]

    assert results[0] == NOTHING | {"created": BOTH}
    assert all(one in (results[0], NOTHING | {"existing": BOTH}) for one in results)
    assert results.count(results[0]) >= 1
    assert held.calls == 1 + sum(one["existing"] == BOTH for one in results)


def test_who_comes_while_one_runs_waits_for_its_result(home: Path, monkeypatch: pytest.MonkeyPatch):
    held = Held(monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(installing.add)
        assert held.inside.wait(20)
        running = installing._adding
        assert running is not None
        waiting = threading.Event()
        monkeypatch.setattr(running, "result", _telling(waiting, running.result))
        second = pool.submit(installing.add)
        assert waiting.wait(20)
        held.go.set()

        assert first.result(20) == second.result(20) == NOTHING | {"created": BOTH}
    assert held.calls == 1


def _telling(event: threading.Event, call):
    def told(*args):
        event.set()
        return call(*args)

    return told


def test_removing_while_one_is_added_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch):
    held = Held(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(installing.add)
        assert held.inside.wait(20)
        with pytest.raises(Conflict) as refused:
            installing.remove()
        held.go.set()

        assert adding.result(20)["created"] == BOTH
    assert (refused.value.text, refused.value.code) == ("Examples are still being added", "busy")


def test_a_failed_run_does_not_stand_in_the_way_of_the_next(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    mine = put(home / BOTH[0] / "project.yaml", b"title: My own\n")
    with pytest.raises(Conflict):
        installing.add()
    mine.unlink()

    assert installing.add()["created"] == BOTH
