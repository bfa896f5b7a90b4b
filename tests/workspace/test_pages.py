"""The pages as a browser gets them: one shell, no inline code, a 404 that says what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from workspace import demo, projects
from workspace.access.principals import User
from workspace.chats import files, index
from workspace.engines import select

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def world(settings, tmp_path: Path) -> None:
    settings.PROJECTS_DIR = tmp_path


def get(path: str) -> HttpResponse:
    return Client().get(path, **{"svc.principal": User()})  # type: ignore[arg-type,return-value]


PAGES = ("", "/chats", "/triggers", "/runs", "/settings")


@pytest.mark.parametrize("path", ["/", "/runs", "/audit", "/clients"])
def test_the_pages_of_the_instance_are_there(path: str) -> None:
    assert get(path).status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_each_page_of_a_project_names_it(path: str) -> None:
    projects.create(principal=User(), name="Alpha <one>")

    response = get(f"/projects/alpha-one{path}")

    assert response.status_code == 200
    assert b"Alpha &lt;one&gt;" in response.content
    assert b'data-project="alpha-one"' in response.content


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/projects/nope", "Project not found: nope"),
        ("/projects/nope/triggers", "Project not found: nope"),
        ("/projects/alpha/chats/not-a-uuid", "Chat not found: not-a-uuid in project alpha"),
        ("/projects/%3Cscript%3E", "Project not found: &lt;script&gt;"),
        ("/somewhere/else", "There is no page at /somewhere/else."),
    ],
)
def test_what_is_not_there_is_a_404_in_the_shell(path: str, why: str) -> None:
    projects.create(principal=User(), name="Alpha")

    response = get(path)

    assert response.status_code == 404
    assert why in response.content.decode()
    assert b'class="rail"' in response.content


def test_a_page_holds_no_inline_script_and_no_inline_style() -> None:
    demo.make(User())

    text = get("/projects/demo/triggers").content.decode()

    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", text) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", text) == []


@pytest.mark.parametrize(
    ("cookie", "shown"), [("dark", 'data-theme="dark"'), ('"><script>', '<html lang="en">')]
)
def test_the_theme_comes_from_its_cookie_or_from_the_system(cookie: str, shown: str) -> None:
    client = Client()
    client.cookies["svc_theme"] = cookie

    response = client.get("/", **{"svc.principal": User()})  # type: ignore[arg-type]

    assert shown in response.content.decode()


def test_a_missing_sandbox_is_said_on_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "warnings", lambda: ["Agent commands run without a sandbox"])

    for path in ("/", "/runs", "/nothing-here"):
        assert "Agent commands run without a sandbox" in get(path).content.decode()


def test_a_page_is_not_kept_by_a_cache() -> None:
    assert get("/")["Cache-Control"] == "no-store"


def test_the_demo_is_an_ordinary_project_with_a_disabled_trigger_and_a_chat() -> None:
    project = demo.make(User())

    assert project.slug == "demo"
    assert project.data["triggers"]["nightly-check"].get("enabled", False) is False
    assert [chat.name for chat in index.entries(project)] == ["First look around"]
    assert (project.working_dir / "tides.py").exists()


def test_making_the_demo_again_changes_nothing() -> None:
    before = demo.make(User())
    (before.working_dir / "tides.py").write_text("# mine\n")

    after = demo.make(User())

    assert (after.etag, len(files.all(after))) == (before.etag, 1)
    assert (after.working_dir / "tides.py").read_text() == "# mine\n"
