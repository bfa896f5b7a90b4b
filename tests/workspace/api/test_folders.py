"""What "Open a folder" offers: typed paths go on, and what is known is told once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson
import pytest

from review.stacks.worktree import looks
from tests.workspace.api import known as folders
from workspace.projects import completing, sessions

FEW = 5  # times; 6 to 7 while all that each lies in was looked at again and again
SESSION = {"type": "user", "sessionId": "x", "message": {"content": '{"cwd": "/wrong"}'}}


@pytest.fixture
def home(settings, tmp_path: Path, monkeypatch) -> Path:
    home = tmp_path / "home" / "ada"
    settings.DATA_DIR = home / ".svc"
    for name in ("code/notes/.git", "code/Nothing", "code/.hidden", ".svc"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    sessions._known.clear()
    return home


def paths(api, prefix: str) -> list[str]:
    answer = api.get(f"/api/folders?prefix={prefix}")
    assert answer.status_code == 200
    return [one["path"] for one in answer.json()["folders"]]


def claude(home: Path, name: str, *lines: object) -> Path:
    folder = home / ".claude" / "projects" / name
    folder.mkdir(parents=True)
    text = b"\n".join(one if isinstance(one, bytes) else orjson.dumps(one) for one in lines)
    (folder / "0a1b.jsonl").write_bytes(text)
    return folder


def codex(home: Path, day: str, *lines: object) -> None:
    folder = home / ".codex" / "sessions" / day
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-{len(list(folder.iterdir()))}.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(one) for one in lines))


def known(api) -> list[tuple[str, list[str], bool, str | None]]:
    rows = api.get("/api/folders").json()["folders"]
    return [(one["path"], one["sources"], one["repository"], one["project"]) for one in rows]


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("~", ["~/code"]),
        ("~/", ["~/code"]),
        ("~/co", ["~/code"]),
        ("~/code", ["~/code"]),
        ("~/code/", ["~/code/notes", "~/code/Nothing"]),
        ("~/code/n", ["~/code/notes", "~/code/Nothing"]),
        ("~/code/.", ["~/code/.hidden"]),
        ("~/code/file", []),
        ("~/code/file/", []),
        ("~/code/pipe", []),
        ("~/code/pipe/", []),
        ("~/nowhere/", []),
        ("~/code/notes/", []),
    ],
)
def test_a_typed_path_goes_on_with_directories_alone(
    api, home: Path, prefix: str, found: list[str]
):
    (home / "code" / "file").write_text("")
    os.mkfifo(home / "code" / "pipe")
    (home / "code" / "new\nline").mkdir()
    (home / "code" / "gone").symlink_to("nowhere")

    assert paths(api, prefix) == found


def test_a_prefix_that_is_no_path_or_leads_nowhere_says_so(api, home: Path):
    for prefix, problem in (("notes", "must be a whole path"), ("~/no/", "~/no: No such file")):
        answer = api.get(f"/api/folders?prefix={prefix}").json()
        assert answer["folders"] == []
        assert answer["problem"].startswith(problem)


def test_the_root_is_listed_too(api, home: Path):
    assert "/usr" in paths(api, "/us")


def test_a_huge_directory_is_told_in_part(home: Path, monkeypatch):
    monkeypatch.setattr(completing, "LOOKED", 300)
    many = home / "many"
    for n in range(310):
        (many / f"a{n:03}").mkdir(parents=True)

    found = completing.complete(f"{many}/")

    assert (len(found.paths), found.more) == (completing.MOST, True)
    assert completing.complete(f"{home}/co").more is False


def test_sessions_of_other_agents_are_known_by_the_directory_they_name(api, home: Path):
    notes, other = home / "code" / "notes", home / "code" / "Nothing"
    claude(home, "-a", {"type": "summary"}, SESSION, {"cwd": str(notes)})
    claude(home, "-gone", {"cwd": str(home / "gone")})
    claude(home, "-home", {"cwd": str(home)})
    claude(home, "-odd", b'{"cwd": 5}', b"\xff\0no json", b'{"cwd": "\\ud800"}')
    codex(home, "2026/01/02", {"payload": {"cwd": str(other)}})
    codex(home, "2026/11/02", {"payload": {"cwd": f"{notes}/."}})
    made = api.post("/api/projects", {"name": "Other", "path": str(other)})
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}

    assert made.status_code == 201
    assert known(api) == [
        ("~/code/notes", ["claude", "codex"], True, None),
        ("~/code/Nothing", ["codex"], False, "other"),
    ]
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_what_is_no_session_file_is_neither_waited_for_nor_followed(api, home: Path):
    folder = claude(home, "-a", {"no": "cwd"})
    (folder / "0.jsonl").symlink_to(home / "secret")
    (home / "secret").write_bytes(orjson.dumps({"cwd": str(home / "code" / "notes")}))
    os.mkfifo(folder / "1.jsonl")
    (home / ".codex").write_text("no directory")

    assert known(api) == []


def test_repositories_under_review_are_known_and_found_from_the_project(
    api, home: Path, projects_dir
):
    notes = home / "code" / "notes"
    api.post("/api/projects", {"name": "Notes", "path": str(notes)})
    (projects_dir / "pay").mkdir()
    (projects_dir / "pay" / "project.yaml").write_text(
        f"name: Pay\nrepos:\n  - {{path: {notes}}}\n  - {{path: {home}/code/Nothing}}\n  - 5\n"
    )

    assert known(api) == [
        ("~/code/notes", ["review"], True, "notes"),
        ("~/code/Nothing", ["review"], False, None),
    ]
    (place,) = api.get("/api/projects/notes/around").json()["places"]
    assert (place["label"], place["kind"], place["part"]) == ("notes", "review", "review")
    assert place["url"].endswith("/p/pay")
    assert looks.count("pay", "notes") is None  # git finds no work tree in it


def test_a_project_without_a_directory_has_nothing_around_it(api, home: Path):
    api.post("/api/projects", {"name": "Notes", "path": "~/code/notes"})
    (home / "code" / "notes" / ".git").rmdir()
    (home / "code" / "notes").rmdir()

    assert api.get("/api/projects/notes/around").json() == {"places": []}
    assert api.get("/api/projects/nope/around").status_code == 404


def test_two_hundred_known_directories_are_told_in_few_times_what_the_disk_takes(api, home: Path):
    store = home / ".claude" / "projects"
    folders.keep(store, home / "code", 200)
    known(api)  # what is loaded once is no part of it

    def ours() -> None:
        sessions._known.clear()
        assert len(known(api)) == 200

    rounds = [(spent(partial(folders.look, store)), spent(ours)) for _ in range(5)]
    least, took = map(min, zip(*rounds, strict=True))

    assert took < FEW * least, rounds


def spent(work: Callable[[], None]) -> float:
    """Of this process alone, whatever else the machine does."""
    began = time.process_time()
    work()
    return time.process_time() - began
