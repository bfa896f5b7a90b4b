"""Which directories a project may work in, and that nothing of ours comes into one."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from config.errors import Conflict, Invalid
from workspace.access.principals import User
from workspace.projects import folders, schema, store
from workspace.projects.project import Project

USER = User()


@pytest.fixture
def home(settings, tmp_path: Path, monkeypatch) -> Path:
    """A home as people have it: the data directory in it, and a checkout."""
    home = tmp_path / "home" / "ada"
    settings.DATA_DIR = home / ".svc"
    settings.PROJECTS_DIR = home / ".svc" / "projects"
    settings.PROJECTS_DIR.mkdir(parents=True)
    (home / "code" / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def notes(home: Path, db) -> Path:
    return home / "code" / "notes"


def make(name: str = "Notes", **values):
    return store.create(principal=USER, name=name, **values)


def refusal(path: object) -> str:
    place = folders.of({"path": path})
    assert place is not None
    return place.problem


@contextmanager
def another_user() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_path_is_a_directory_from_the_root_or_from_home_on(home: Path):
    notes = home / "code" / "notes"

    for written in (str(notes), "~/code/notes", "~//code/notes", f" {notes}/ ", f"{notes}/."):
        assert folders.of({"path": written}) == folders.WorkingDirectory(notes, apart=True)


@pytest.mark.parametrize(
    "written",
    [
        "notes", "./notes", "$HOME/notes", "~bob/notes", "../x", 5, ["/tmp"], True,
        "/home/ada\nx", "/nul\0", "/" + "x" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_whole_path_on_one_line_is_refused(home: Path, written: object):
    place = folders.of({"path": written})

    assert place is not None
    assert place.problem.startswith("must be ")
    with pytest.raises(Conflict, match=r"This project cannot work: path: must be"):
        store.workable(Project("x", home, data={"path": written}))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("/", folders.ROOT),
        ("/..//", folders.ROOT),
        ("~", folders.A_HOME),
        ("~/", folders.A_HOME),
        ("~/code/..", folders.A_HOME),
        ("~/..", folders.HOLDS_OURS),
        ("~/.svc", folders.OURS),
        ("~/.svc/projects", folders.OURS),
        ("~/.svc/projects/alpha", folders.OURS),
        ("~/.svc/home/alpha/not/there", folders.OURS),
        ("/proc", folders.OF_SYSTEM),
        ("/proc/self/root/proc/1", folders.OF_SYSTEM),
        ("/sys/kernel", folders.OF_SYSTEM),
        ("/dev/shm", folders.OF_SYSTEM),
        ("/var/tmp", folders.OF_ALL),
        ("~/nowhere", folders.GONE),
        ("~/code/file", folders.NO_FOLDER),
        ("~/code/file/in", folders.GONE),
        ("~/code/pipe", folders.NO_FOLDER),
        ("/dev/null", folders.OF_SYSTEM),
        ("~/code/root", folders.ROOT),
        ("~/code/ours", folders.OURS),
        ("~/code/ours/projects", folders.OURS),
        ("~/code/back", folders.A_HOME),
        ("~/code/over", folders.HOLDS_OURS),
    ],
)
def test_what_the_sandbox_hides_is_no_place_for_a_project(home: Path, written: str, reason: str):
    code = home / "code"
    (code / "file").write_text("")
    os.mkfifo(code / "pipe")
    (code / "root").symlink_to("/")
    (code / "ours").symlink_to(home / ".svc")
    (code / "back").symlink_to(home)
    (code / "over").symlink_to(home.parent)

    assert refusal(written) == reason


def test_links_in_a_circle_and_names_too_long_are_told(home: Path):
    (home / "code" / "circle").symlink_to("circle")

    assert "circle" in refusal("~/code/circle") or "links" in refusal("~/code/circle")
    assert "too long" in refusal("~/code/" + "x" * 300)


def test_a_projects_directory_elsewhere_is_refused_too_and_what_holds_it(home: Path, settings):
    settings.PROJECTS_DIR = home / "work" / "svc" / "projects"
    settings.PROJECTS_DIR.mkdir(parents=True)
    (home / "work" / "other").mkdir()

    assert refusal("~/work/svc/projects/alpha") == folders.OURS
    assert refusal("~/work") == folders.HOLDS_OURS
    assert refusal("~/work/other") == ""


def test_what_holds_the_home_is_refused_where_the_data_lies_elsewhere(home: Path, settings):
    settings.DATA_DIR = settings.PROJECTS_DIR = home.parent.parent / "data"

    assert refusal(str(home.parent)) == folders.HOLDS_HOME


def test_what_holds_the_config_file_is_refused_for_it_names_commands(home: Path, settings):
    (home / "code" / "svc" / "inner").mkdir(parents=True)
    config = home / "code" / "svc" / "svc.config.yaml"
    settings.SVC = replace(settings.SVC, config_file=config)

    assert refusal("~/code/svc") == refusal("~/code") == folders.HOLDS_CONFIG
    assert refusal("~/code/svc/inner") == ""


@pytest.fixture
def checkout(home: Path, settings, monkeypatch) -> Path:
    """What the service runs from: a checkout, its environment by a link, and a second checkout."""
    work = home / "code" / "work"
    for name in ("svc/docs", "svc-2", "venvs/svc/bin"):
        (work / name).mkdir(parents=True)
    (work / "svc" / ".venv").symlink_to(work / "venvs" / "svc")
    settings.BASE_DIR = work / "svc"
    monkeypatch.setattr(sys, "prefix", str(work / "svc" / ".venv"))
    return work


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("svc", folders.CODE),
        ("svc/docs", folders.CODE),
        ("svc/not/there", folders.CODE),
        ("svc/.venv", folders.CODE),
        ("venvs/svc/bin", folders.CODE),
        ("link", folders.CODE),
        ("venvs", folders.HOLDS_CODE),
        (".", folders.HOLDS_CODE),
        ("..", folders.HOLDS_CODE),
        ("../..", folders.A_HOME),
        ("svc-2", ""),
    ],
)
def test_what_the_service_runs_from_is_no_place_for_a_project_nor_what_holds_it(
    checkout: Path, written: str, reason: str
):
    (checkout / "link").symlink_to(checkout / "svc" / "docs")

    assert refusal(str(checkout / written)) == reason


def test_the_library_of_python_is_none_either_and_what_else_lies_in_its_prefix_is(home: Path):
    library = Path(sysconfig.get_path("stdlib"))

    assert refusal(str(library / "json")) == folders.CODE
    assert refusal(str(library.parent)) == folders.HOLDS_CODE
    assert refusal("/usr/share") == ""


def test_a_checkout_that_holds_the_data_directory_still_has_projects_of_its_own(
    checkout: Path, settings, db
):
    settings.DATA_DIR = checkout / "svc" / ".data"
    settings.PROJECTS_DIR = settings.DATA_DIR / "projects"
    settings.PROJECTS_DIR.mkdir(parents=True)

    own = make()

    assert store.workable(own) == own.dir
    assert refusal(str(settings.DATA_DIR / "home")) == folders.OURS


def test_a_link_that_is_turned_to_the_checkout_later_is_refused_then(checkout: Path, db):
    link = checkout / "link"
    link.symlink_to(checkout / "svc-2")
    project = make(path=str(link))
    assert store.workable(project) == checkout / "svc-2"

    link.unlink()
    link.symlink_to(checkout / "svc")

    with pytest.raises(Conflict, match="what this service runs from"):
        store.workable(project)


def test_a_checkout_in_the_projects_directory_is_no_project(checkout: Path, settings, db):
    settings.PROJECTS_DIR = checkout
    (checkout / "svc" / "project.yaml").write_text("name: Svc\n")
    (checkout / "svc-2" / "project.yaml").write_text("name: Other\n")

    assert store.get("svc").place.problem == folders.CODE
    assert store.get("svc").warnings == [f"path: {folders.CODE}"]
    assert store.get("svc-2").place.problem == ""
    with pytest.raises(Conflict, match="what this service runs from"):
        store.workable(store.get("svc"))


def test_a_directory_that_may_not_be_read_or_entered_is_told(home: Path):
    shut, unlisted = home / "code" / "shut", home / "code" / "unlisted"
    for folder, mode in ((shut, 0o000), (unlisted, 0o444)):
        (folder / "in").mkdir(parents=True)
        folder.chmod(mode)
    for level in (home.parent, *home.parent.parents[:3]):
        if level.owner() == "root" and level != Path("/tmp"):
            level.chmod(0o755)

    with another_user():
        found = [refusal(str(path)) for path in (shut, shut / "in", unlisted)]

    shut.chmod(0o700)
    unlisted.chmod(0o700)
    assert found == [folders.SHUT] * 3


def test_a_project_of_a_directory_keeps_its_files_in_the_projects_directory(notes: Path):
    project = make(path="~/code/notes", summary="Mine")

    assert project.data["path"] == "~/code/notes"
    assert project.working_dir == store.working_dir("notes") == store.workable(project) == notes
    assert (project.own_dir, project.dir) == (
        project.dir,
        notes.parent.parent / ".svc/projects/notes",
    )
    assert list(notes.iterdir()) == []


@pytest.mark.parametrize("path", ["~", "/", "notes", "~/nowhere", "~/co\nde", "~/.svc/projects"])
def test_a_path_that_is_refused_makes_nothing(notes: Path, settings, path: str):
    with pytest.raises(Invalid, match=r"^path: "):
        make(path=path)

    assert [*settings.PROJECTS_DIR.iterdir()] == []


def test_a_repository_and_a_path_together_are_refused(notes: Path, settings):
    with pytest.raises(Invalid, match="not both"):
        make(path=str(notes), repo="https://example.com/a.git")

    assert [*settings.PROJECTS_DIR.iterdir()] == []


def test_a_path_is_changed_with_the_same_checks_and_taken_away(notes: Path):
    make()

    with pytest.raises(Invalid, match="home directory"):
        store.update("notes", {"path": "~"})
    moved, _ = store.update("notes", {"path": str(notes)})
    same, _ = store.update("notes", {"path": str(notes), "name": "N"})
    back, _ = store.update("notes", {"path": None})

    assert (moved.working_dir, same.working_dir) == (notes, notes)
    assert back.working_dir == back.dir


def test_a_path_is_not_added_to_a_clone(notes: Path, settings):
    (settings.PROJECTS_DIR / "c").mkdir()
    (settings.PROJECTS_DIR / "c" / "project.yaml").write_text("repo: https://example.com/a.git\n")

    with pytest.raises(Invalid, match="not both"):
        store.update("c", {"path": str(notes)})


@pytest.mark.parametrize(
    "text",
    [
        "path: ~/.svc\n",
        "path: [a]\n",
        "path: notes\n",
        "path: 5\n",
        "path: ~/code/notes\nrepo: https://example.com/a.git\n",
    ],
)
def test_a_path_written_by_hand_that_cannot_be_used_lets_nothing_work_anywhere(
    notes: Path, settings, text: str
):
    (settings.PROJECTS_DIR / "odd").mkdir()
    (settings.PROJECTS_DIR / "odd" / "project.yaml").write_text(f"name: Odd\n{text}")

    project = store.get("odd")

    assert (project.error, project.name) == ("", "Odd")
    assert [warning for warning in project.warnings if warning.startswith("path: ")]
    assert store.working_dir("odd") is None
    with pytest.raises(Conflict) as told:
        store.workable(project)
    assert told.value.code == "no_folder"
    assert str(notes) not in told.value.text


def test_a_directory_that_went_is_told_and_is_back_when_it_is_back(notes: Path):
    project = make(path=str(notes))
    notes.rename(notes.with_name("away"))

    assert (project.place.gone, project.place.problem) == (True, folders.GONE)
    assert store.get("notes").warnings == [f"path: {folders.GONE}"]

    notes.with_name("away").rename(notes)
    assert store.get("notes").warnings == []
    assert store.workable(store.get("notes")) == notes


def test_a_link_that_is_turned_to_a_walled_directory_later_is_refused_then(notes: Path):
    link = notes.with_name("link")
    link.symlink_to(notes)
    project = make(path=str(link))
    assert store.workable(project) == notes

    link.unlink()
    link.symlink_to(notes.parent.parent / ".svc")

    assert project.place.problem == folders.OURS
    assert store.working_dir("notes") is None


def test_projects_that_share_a_directory_are_known(notes: Path):
    make("One", path=str(notes))
    notes.with_name("link").symlink_to(notes)
    make("Two", path=str(notes.with_name("link")))
    make("Three")

    assert store.working_at() == {notes: ["one", "two"]}


def test_the_reader_of_the_key_takes_text_alone():
    with pytest.raises(schema.Unfit, match="whole path"):
        schema.folder("x")
