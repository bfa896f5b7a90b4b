"""The pages as a browser gets them: one shell, no inline code, a 404 that says what is missing."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from config.network import NetworkSetting
from dashboard import pages as dashboard
from review import pages as review
from workspace import demo
from workspace.access.principals import User
from workspace.chats import actions, files, index
from workspace.engines import select
from workspace.engines.sandbox import Sandbox
from workspace.projects import store

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
    store.create(principal=User(), name="Alpha <one>")

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
    store.create(principal=User(), name="Alpha")

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
    means = "Commands of agents run without a sandbox (why): a command of a turn can do all"
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("off", "auto", "why"))

    for path in ("/", "/runs", "/nothing-here"):
        assert means in get(path).content.decode()
    for of_part in (review.start, dashboard.start):
        assert means in of_part(RequestFactory().get("/")).content.decode()


def test_a_project_on_the_machines_own_network_says_so_on_each_of_its_pages(
    monkeypatch: pytest.MonkeyPatch, settings
) -> None:
    means = (
        "Commands of agents in this project use this machine&#x27;s own network (network: host): "
        "they can reach this service and everything that listens here."
    )
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("bwrap", "auto"))
    for name in ("Alpha", "Beta"):
        store.create(principal=User(), name=name)
    chat = actions.create(principal=User(), project=store.get("alpha")).chat.id
    pages = [*(f"/projects/alpha{path}" for path in PAGES), f"/projects/alpha/chats/{chat}"]
    assert [path for path in pages if means in get(path).content.decode()] == []

    settings.SVC = dataclasses.replace(settings.SVC, network=NetworkSetting("host"))
    store.update("beta", {"network": "guarded"})

    assert [path for path in pages if means not in get(path).content.decode()] == []
    for path in ("/", "/projects/beta", "/projects/nope"):
        assert 'class="bar bad"' not in get(path).content.decode()


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
