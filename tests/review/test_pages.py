"""The pages of review as a browser gets them, on both mounts; a 404 says what is missing."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import Resolver404, resolve

from review import pages

pytestmark = pytest.mark.django_db
ONE = "repos: [{path: ../api, name: api, range: main}]\n"


@pytest.fixture(autouse=True)
def pay(world) -> None:
    (world.home / "pay" / "project.yaml").write_text("title: Pay <now>\n" + ONE)


def asked(path: str, mount: str = ""):
    return RequestFactory().get(path, SCRIPT_NAME=mount)


@pytest.mark.parametrize("mount", ["", "/review"])
def test_a_page_names_its_project_and_its_mount(mount: str) -> None:
    response = pages.project(asked("/p/pay", mount), project="pay")

    text = response.content.decode()
    assert response.status_code == 200
    assert "<title>Pay &lt;now&gt;" in text
    assert f'data-base="{mount}"' in text
    assert 'data-project="pay"' in text
    assert f'<a href="{mount}/">Review</a>' in text


def test_the_page_of_a_commit_names_where_it_is() -> None:
    response = pages.commit(asked("/p/pay/api/ab12cd34"), project="pay", repo="api", sha="ab12cd34")

    text = response.content.decode()
    assert response.status_code == 200
    assert 'data-repo="api"' in text
    assert 'data-sha="ab12cd34"' in text
    assert '<a href="/p/pay">Pay &lt;now&gt;</a>' in text


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (("nope", "api", "ab12cd34"), "No such project: nope"),
        (("pay", "web", "ab12cd34"), "No such repo: web"),
        (("pay", "api", "<main>"), "&lt;main&gt; is not the sha of a commit."),
        (("pay", "api", "abc"), "abc is not the sha of a commit."),
        (("../pay", "api", "ab12cd34"), "No such project: ../pay"),
    ],
)
def test_what_is_not_there_is_a_404_in_the_shell(where: tuple[str, str, str], why: str) -> None:
    project, repo, sha = where

    response = pages.commit(asked("/x"), project=project, repo=repo, sha=sha)

    assert response.status_code == 404
    assert why in response.content.decode()
    assert b'class="rail"' in response.content


def test_an_unknown_project_is_a_404_in_the_shell() -> None:
    response: HttpResponse = pages.project(asked("/p/nope"), project="nope")

    assert response.status_code == 404
    assert b"No such project: nope" in response.content


@pytest.mark.parametrize(
    ("path", "view"),
    [
        ("/p/pay/api", pages.missing),
        ("/p/pay/", pages.missing),
        ("/p/pay", pages.project),
        ("/p/pay.v2/api/ab12cd34", pages.commit),
    ],
)
def test_an_address_leads_to_its_page(path: str, view: object) -> None:
    assert resolve(path, urlconf="config.urls.review").func is view


@pytest.mark.parametrize("path", ["/api/nope", "/api", "/mcpfoo", "/nothing.txt"])
def test_an_address_of_machines_or_files_is_no_page(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(path, urlconf="config.urls.review")


def test_a_missing_page_leads_home_on_its_mount() -> None:
    response = pages.missing(asked("/p/pay/api", "/review"))

    assert response.status_code == 404
    assert b"There is no page at /review/p/pay/api." in response.content
    assert b'href="/review/">Go to Review' in response.content
