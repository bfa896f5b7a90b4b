"""What every route does with bodies, methods, formats and defects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config import jsonio
from workspace.models import AuditEntry, Run, TriggerState, Turn
from workspace.projects import store

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize(
    "raw",
    [b"[]", b'"x"', b"null", b"1", b"{", b"{'a':1}", b'{"name":NaN}', b'{"name":Infinity}',
     b"\xff\xfe", b'{"a":' * 101 + b"1" + b"}" * 101, b'{"name":1e999}'],
)  # fmt: skip
def test_a_body_that_is_no_json_object_is_refused(api, raw):
    answer = api.ask("POST", "/api/projects", raw)

    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid"
    assert answer.json()["error"].startswith("body: ")


def test_a_body_over_four_mebibytes_is_413(api):
    answer = api.ask("POST", "/api/projects", b'{"name":"' + b"x" * 4 * 1024 * 1024 + b'"}')

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_415(api, kind):
    answer = api.client.generic(
        "POST", "/api/projects", b'{"name":"x"}', content_type=kind, **{"svc.principal": api.user}
    )

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json"])
def test_an_empty_body_counts_as_an_empty_object_whatever_its_type(api, alpha, kind):
    answer = api.client.generic(
        "POST", "/api/projects/alpha/chats", b"", content_type=kind, **{"svc.principal": api.user}
    )

    assert answer.status_code == 201


def test_an_answer_is_compact_utf8(api):
    api.post("/api/projects", {"name": "Übung", "slug": "ue"})

    answer = api.get("/api/projects/ue")

    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert '"name":"Übung"'.encode() in answer.content
    assert b"\n" not in answer.content


def test_a_person_gets_a_page_and_a_program_json(api, alpha):
    page = api.get("/api/projects/alpha", **HTML)
    plain = api.get("/api/projects/alpha", Accept="*/*")
    both = api.get("/api/projects/alpha", Accept="application/json, text/html")

    assert page["Content-Type"] == "text/html; charset=utf-8"
    assert b"Alpha" in page.content
    assert plain["Content-Type"] == both["Content-Type"] == "application/json; charset=utf-8"
    assert "Accept" in page["Vary"]
    assert "Accept" in plain["Vary"]


def test_errors_and_writes_are_json_whatever_is_accepted(api, alpha):
    missing = api.get("/api/projects/nope", **HTML)
    wrong = api.ask("POST", "/api/projects", b"[]", HTML)
    made = api.ask("POST", "/api/projects", b'{"name":"Beta"}', HTML)

    for answer, status in ((missing, 404), (wrong, 400), (made, 201)):
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/json; charset=utf-8"
        assert answer.json()


@pytest.mark.parametrize("accept", ["image/png", "text/html;q=0, */*", "", "x" * 5000])
def test_an_accept_nobody_serves_gets_json(api, accept):
    assert api.get("/api/me", Accept=accept).json()["username"] == "anonymous"


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "BOGUS"])
def test_a_method_a_route_does_not_have_is_405_with_the_ones_it_has(api, method):
    answer = api.ask(method, "/api/projects")

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert set(answer["Allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_head_is_get_without_a_body(api, alpha):
    answer = api.ask("HEAD", "/api/projects/alpha")

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["ETag"] == api.get("/api/projects/alpha")["ETag"]


def test_a_defect_is_500_without_a_word_about_it(api, alpha, monkeypatch, caplog):
    def crash(slug: str) -> None:
        raise RuntimeError("the secret")

    monkeypatch.setattr(store, "get", crash)

    answer = api.get("/api/projects/alpha")

    assert answer.status_code == 500
    assert answer.json() == {"error": "internal error", "code": "internal"}
    assert "the secret" in caplog.text


@pytest.mark.parametrize("rest", ["/nope", "/", "", "/projects/", "/projects/a/b"])
def test_an_address_of_the_api_that_nobody_serves_is_a_json_404(api, rest):
    for method in ("GET", "POST"):
        answer = api.ask(method, f"/api{rest}", headers=HTML)

        assert answer.status_code == 404
        assert answer.json() == {"error": "not found", "code": "not_found"}


@pytest.mark.parametrize("path", ["/nowhere", "/nope.css", "/projects/x/y.json"])
def test_any_other_address_is_a_page_that_says_so_to_who_reads_pages(api, path):
    answer = api.ask("GET", path, headers=HTML)

    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/css,*/*;q=0.1"}])
def test_a_file_that_nobody_serves_is_a_json_404_to_what_asks_for_one(api, headers):
    answer = api.ask("GET", "/nope.css", headers=headers)

    assert answer.status_code == 404
    assert answer.json() == {"error": "not found", "code": "not_found"}


def test_no_get_changes_anything(api, chat, alpha):
    api.post(f"{chat}/messages", {"prompt": "hi"})
    api.put("/api/projects/alpha/triggers/t", {
        "trigger": {"type": "schedule", "interval": "1h"}, "run": {"prompt": "hi"}, "enabled": True,
    })  # fmt: skip
    described = jsonio.loads(api.get("/api/schema").content)["paths"]
    real = {"slug": "alpha", "session_id": chat.split("/")[5], "name": "t"}
    before = everything(alpha)

    for path, methods in described.items():
        if "get" in methods:
            api.get(re.sub(r"{(\w+)}", lambda found: real.get(found[1], "x"), path))

    assert everything(alpha) == before


def everything(folder: Path) -> object:
    """The project's files (not the writer's own spares) and the ledgers."""
    rows = [list(model.objects.values()) for model in (Run, Turn, TriggerState, AuditEntry)]
    found = (path for path in folder.rglob("*") if path.is_file())
    return rows, {
        str(path): path.read_bytes() for path in found if not path.name.startswith(".svc-tmp-")
    }


def test_the_description_names_every_documented_route(api):
    paths = jsonio.loads(api.get("/api/schema").content)["paths"]

    assert "/api/projects/{slug}/chats/{session_id}/messages" in paths
    assert set(paths["/api/projects"]) == {"get", "post"}
    assert len(paths) >= 28


def test_the_documentation_page_runs_no_inline_script(api):
    page = api.get("/api/docs", **HTML).content.decode()

    assert "swagger-ui" in page
    assert "<script>" not in page
    assert "cdn." not in page
