"""Projects: slugs, project.yaml as it is now, partial changes, broken files."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Conflict, Invalid, NotFound, Stale
from config.storage import homes
from tests.service import until
from workspace import models
from workspace.access.principals import User
from workspace.projects import cloning, schema, store

USER = User()


@pytest.fixture
def folder(db, settings, tmp_path: Path) -> Path:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    return tmp_path / "projects"


def make(name: str = "Alpha", **values):
    return store.create(principal=USER, name=name, **values)


def write(folder: Path, text: str, slug: str = "alpha") -> None:
    (folder / slug).mkdir(exist_ok=True)
    (folder / slug / "project.yaml").write_text(text)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Notes", "notes"),
        ("  Ünïcode & Friends! ", "unicode-friends"),
        ("a" * 80, "a" * 64),
        ("a" * 63 + "-b", "a" * 63),
        ("--x--", "x"),
    ],
)
def test_a_name_gives_its_slug(name: str, slug: str):
    assert schema.derive_slug(name) == slug


@given(st.text(min_size=1, max_size=120))
def test_a_derived_slug_is_always_a_slug(name: str):
    letters = [c for c in unicodedata.normalize("NFKD", name) if c.isascii() and c.isalnum()]
    if letters:
        assert schema.is_slug(schema.derive_slug(name))
    else:
        with pytest.raises(Invalid, match="no usable letters or digits"):
            schema.derive_slug(name)


@pytest.mark.parametrize("slug", ["", "A", "a_b", "-a", "a-", "a--b", "a" * 65, "../x", "a/b", "ä"])
def test_a_slug_that_is_none_is_refused_and_not_found(folder: Path, slug: str):
    with pytest.raises(Invalid, match="slug"):
        make(slug=slug)
    with pytest.raises(NotFound, match="Project not found"):
        store.get(slug)


def test_a_new_project_is_a_directory_with_its_file(folder: Path):
    project = make("My Notes", summary="Things", group="Home ", status="IDEA")

    assert project.slug == "my-notes"
    assert (project.status, project.group) == ("idea", "home")
    assert project.working_dir == folder / "my-notes"
    assert (folder / "my-notes" / "project.yaml").stat().st_mode & 0o777 == 0o600
    assert names(folder) == ["my-notes"]
    assert models.Project.objects.get(slug="my-notes").data["name"] == "My Notes"


def test_an_existing_slug_is_told_and_nothing_is_changed(folder: Path):
    make()
    before = (folder / "alpha" / "project.yaml").read_bytes()

    with pytest.raises(Conflict, match="Project already exists: alpha") as told:
        make()

    assert told.value.code == "exists"
    assert (folder / "alpha" / "project.yaml").read_bytes() == before


@pytest.mark.django_db(transaction=True)
def test_of_two_creations_at_once_one_wins(settings, tmp_path: Path):
    settings.PROJECTS_DIR = tmp_path
    outcomes: list[str] = []

    def create() -> None:
        try:
            store._make(tmp_path / "alpha", {"name": "Alpha"}, local=True)
            outcomes.append("made")
        except Conflict as error:
            outcomes.append(error.code)

    racers = [threading.Thread(target=create) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(20)

    assert sorted(outcomes) == ["exists"] * 7 + ["made"]
    assert names(tmp_path) == ["alpha"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "a\nb"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "A", "status": "busy"}, "status"),
        ({"name": "A", "summary": 7}, "summary"),
        ({"name": "!!!"}, "name"),
    ],
)
def test_a_creation_with_a_mistake_names_the_field(folder: Path, values, field: str):
    with pytest.raises(Invalid, match=field):
        store.create(principal=USER, **values)
    assert names(folder) == []


def test_a_patch_changes_only_what_it_names(folder: Path):
    text = "# mine\nname: 'Alpha'   # the name\nstatus: active\nother:\n  - kept # too\n"
    write(folder, text)

    project, warnings = store.update("alpha", {"status": "PAUSED"})

    after = (folder / "alpha" / "project.yaml").read_text()
    assert (project.status, warnings) == ("paused", [])
    lines = set(after.splitlines())
    assert {"# mine", "name: 'Alpha'   # the name", "status: paused", "  - kept # too"} <= lines
    assert any(line.startswith("updated:") for line in lines)


def test_a_patch_that_changes_nothing_writes_nothing(folder: Path):
    make()
    stat = (folder / "alpha" / "project.yaml").stat()

    store.update("alpha", {"name": "Alpha", "status": "Active"})

    assert (folder / "alpha" / "project.yaml").stat() == stat


def test_null_removes_a_key_and_a_blank_group_too(folder: Path):
    make(summary="x", group="home")

    project, _ = store.update("alpha", {"summary": None, "group": " "})

    assert {"summary", "group"} & project.data.keys() == set()


def test_immutable_keys_may_be_sent_back_and_not_changed(folder: Path):
    project = make()
    same = {"slug": "alpha", "started": project.effective("started"), "updated": "x", "dir": "/x"}

    store.update("alpha", {**same, "summary": "ok"})

    for change in ({"slug": "beta"}, {"repo": "https://x/y"}, {"started": "2020-01-01"}):
        with pytest.raises(Invalid, match="cannot be changed"):
            store.update("alpha", change)


@pytest.mark.parametrize(
    "patch",
    [
        {"name": 1}, {"status": "x"}, {"links": [{"label": "a", "url": "javascript:x"}]},
        {"links": [{"label": "a"}]}, {"visibility": "hidden"}, {"pinned": ["../x"]},
        {"pinned": ["/etc/passwd"]}, {"permissionMode": "yolo"}, {"maxTurns": 0},
        {"maxTurns": 1001}, {"maxTurns": True}, {"maxSpawnDepth": -1}, {"hooksMcpEnabled": "yes"},
        {"curation": {"every": 1}}, {"domain": "one"}, {"model": "two words"},
    ],
)  # fmt: skip
def test_a_value_a_key_cannot_hold_is_refused_and_named(folder: Path, patch):
    make()
    before = (folder / "alpha" / "project.yaml").read_bytes()

    with pytest.raises(Invalid, match=next(iter(patch))):
        store.update("alpha", patch)

    assert (folder / "alpha" / "project.yaml").read_bytes() == before


def test_all_problems_of_a_patch_are_told_together(folder: Path):
    make()

    with pytest.raises(Invalid) as told:
        store.update("alpha", {"status": "x", "maxTurns": 0, "visibility": 3})

    assert [problem.field for problem in told.value.problems] == [
        "status",
        "maxTurns",
        "visibility",
    ]


def test_unknown_keys_of_a_patch_are_warned_about_and_not_stored(folder: Path):
    make()

    project, warnings = store.update("alpha", {"colour": "red", "summary": "s"})

    assert warnings == ['unknown key "colour" ignored']
    assert "colour" not in project.data


def test_an_etag_that_no_longer_holds_refuses_the_patch(folder: Path):
    project = make()
    store.update("alpha", {"summary": "s"}, if_match=project.etag)

    with pytest.raises(Stale):
        store.update("alpha", {"summary": "t"}, if_match=project.etag)


def test_a_hand_edit_is_what_the_next_read_says(folder: Path):
    make()
    write(folder, "name: By hand\n")

    assert store.get("alpha").name == "By hand"


def test_a_broken_file_shows_its_error_beside_the_last_good_value_and_refuses_writes(folder: Path):
    make(summary="Good")
    assert store.get("alpha").effective("summary") == "Good"
    write(folder, "name: Alpha\nsummary: [oops\n")
    before = (folder / "alpha" / "project.yaml").read_bytes()

    project = store.get("alpha")

    assert project.error
    assert project.error_line is not None
    assert project.effective("summary") == "Good"
    with pytest.raises(Conflict) as told:
        store.update("alpha", {"summary": "x"})
    assert told.value.code == "bad_project_file"
    assert (folder / "alpha" / "project.yaml").read_bytes() == before
    assert [one.slug for one in store.all()] == ["alpha"]


def test_one_broken_project_hides_no_other(folder: Path):
    make("Alpha")
    write(folder, "]broken", slug="beta")
    (folder / "notes.txt").write_text("not a project")
    (folder / "Upper").mkdir()
    (folder / "empty").mkdir()

    assert [project.slug for project in store.all()] == ["alpha", "beta"]


def test_a_foreign_slug_key_is_ignored_with_a_warning(folder: Path):
    write(folder, "name: A\nslug: other\nstatus: 7\n")

    project = store.get("alpha")

    assert project.slug == "alpha"
    assert any("other" in warning for warning in project.warnings)
    assert project.status == "active"
    assert any(warning.startswith("status:") for warning in project.warnings)


def test_what_the_file_does_not_say_is_inherited(folder: Path, settings):
    write(folder, "name: A\nmaxTurns: 5\n")

    project = store.get("alpha")

    assert project.max_turns == 5
    assert project.max_spawn_depth == settings.SVC.max_spawn_depth
    assert "maxTurns" not in project.inherited
    assert {"maxSpawnDepth", "status", "curation"} <= set(project.inherited)


def test_an_entry_that_cannot_be_spliced_is_refused_naming_the_line(folder: Path):
    write(folder, "name: A\nstatus: &s active\nother: *s\n")

    with pytest.raises(Conflict, match="line 2") as told:
        store.update("alpha", {"status": "done"})

    assert told.value.code == "conflict"


def test_a_missing_project_asked_for_writes_nothing(folder: Path, django_assert_num_queries):
    asked = bool(homes.home())  # whether it lives elsewhere
    with django_assert_num_queries(asked), pytest.raises(NotFound, match="Project not found: nope"):
        store.get("nope")


def repository(path: Path) -> Path:
    """A small repository with a hook, a submodule entry and one file."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(path)]
    path.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    (path / "read.me").write_text("hi")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
    return path


def test_a_clone_is_the_working_directory(folder: Path, tmp_path: Path):
    source = repository(tmp_path / "notes.git")

    project = make("Cloned", repo=str(source))

    assert project.repo_backed
    assert project.working_dir == folder / "cloned" / "notes"
    assert (project.working_dir / "read.me").read_text() == "hi"
    assert project.repo == str(source)


@pytest.mark.process
def test_a_failed_clone_leaves_nothing_and_tells_no_path(folder: Path, tmp_path: Path):
    with pytest.raises(Invalid, match="clone failed") as told:
        make("Cloned", repo=str(tmp_path / "absent" / "repo"))

    assert names(folder) == []
    assert str(tmp_path) not in told.value.text
    assert len(told.value.text) <= 500


def test_a_clone_says_how_far_it_is(folder: Path, tmp_path: Path, monkeypatch):
    told: list[tuple[str, int]] = []

    class Watched(cloning.Clone):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "percent" and isinstance(value, int):
                assert [clone.slug for clone in cloning.running()] == ["cloned"]
                told.append((self.step, value))

    monkeypatch.setattr(cloning, "Clone", Watched)
    make("Cloned", repo=str(repository(tmp_path / "notes.git")))

    assert ("Receiving objects", 100) in told
    assert cloning.running() == []


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/notes.git"


@pytest.mark.process
def test_a_clone_can_be_stopped_and_leaves_nothing(folder: Path, silent: str):
    with ThreadPoolExecutor() as pool:
        making = pool.submit(make, "Cloned", repo=silent)
        until(cloning.running, what="the clone runs")
        cloning.stop("cloned")

        with pytest.raises(Conflict, match="was stopped") as told:
            making.result(20)

    assert told.value.code == "stopped"
    assert names(folder) == []
    with pytest.raises(NotFound):
        cloning.stop("cloned")


@pytest.mark.process
def test_a_clone_that_takes_too_long_is_ended(folder: Path, silent: str, monkeypatch):
    monkeypatch.setattr(cloning, "TIMEOUT_S", 0.2)
    with pytest.raises(Invalid, match="clone took more than 5 minutes"):
        make("Cloned", repo=silent)
    assert names(folder) == []


@pytest.mark.parametrize(
    "url",
    [
        "-oProxyCommand=touch /tmp/x", "--upload-pack=x", "ext::sh -c id", "fd::3", "rsync://h/x",
        "ftp://h/x", "relative/path", "http://", "ssh://-oProxyCommand=x/y", "https://u:p@h/x",
        "https://h/x\n", "a@b:\0", "file:relative", "git@host:",
        "ssh://a$(id)/x", "ssh://u@a`id`b:22/x", "ssh://a|id/x", "ssh://a'b/x",
        "https://[x/y", "https://a\u2100b/x",
    ],
)  # fmt: skip
def test_an_url_that_is_not_cloned_is_refused(url: str):
    with pytest.raises(Invalid, match="repo"):
        cloning.check(url, local=True)


@pytest.mark.parametrize("host", ["my_alias", "git.example.com", "10.0.0.7", "[2001:db8::1]"])
def test_hosts_and_names_of_the_ssh_configuration_are_cloned_from(host: str):
    assert cloning.check(f"ssh://git@{host}:2222/team/notes", local=False) == "ssh"


@pytest.mark.parametrize("url", ["/srv/repo", "file:///srv/repo"])
@pytest.mark.django_db
def test_paths_of_this_machine_are_not_cloned_over_mcp(folder: Path, url: str):
    assert cloning.check(url, local=True) == "file"
    with pytest.raises(Invalid, match="repo"):
        make("Cloned", repo=url, over_mcp=True)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/team/notes.git", "notes"),
        ("git@example.com:team/notes", "notes"),
        ("git@example.com:notes.git/", "notes"),
        ("https://example.com/..", "repo"),
        ("https://example.com/.git", "repo"),
        ("https://example.com/project.yaml", "repo"),
        ("https://example.com/a b", "a-b"),
    ],
)
def test_the_checkout_is_named_after_the_repository(url: str, name: str):
    assert cloning.directory_name(url) == name


def test_what_a_crash_left_of_a_creation_is_cleared(folder: Path):
    stale = folder / ".svc-new-01"
    stale.mkdir()
    os.utime(stale, (0, 0))
    (folder / ".svc-new-02").mkdir()

    store.clear_staging()

    assert names(folder) == [".svc-new-02"]
