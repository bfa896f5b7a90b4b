"""Listeners over HTTP: listed, claimed, ignored, scanned for (cases D33, D35)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import yaml

from dashboard.files import tags
from tests.dashboard.api.raw import refused
from tests.dashboard.served import Served, scanning
from tests.described import Api
from tests.service import free_port, until

NOBODY = "o-000000000000"
GREETER = """
import http.server
http.server.HTTPServer(("127.0.0.1", {port}), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def rules(served: Served) -> list[dict[str, Any]]:
    path = served.data / "dashboard" / "ignore.yaml"
    found: list[dict[str, Any]] = yaml.safe_load(path.read_text())["rules"] if path.exists() else []
    return found


def test_a_claim_writes_the_file_once(served: Served, api: Api, mounted: Api, slug):
    dev = served.dev_server(slug)
    one = served.seen(dev)
    address = f"/api/observed/{one['id']}/claim"
    body = {"slug": slug, "name": "My shop", "expected": "always"}

    with served.events() as stream:
        made = mounted.post(address, body)
        stream.has(type="observed", reason="claimed")
        stream.has(type="app", slug=slug, reason="config")

    assert made.status_code == 201
    assert made.headers["Location"] == f"/dashboard/api/apps/{slug}"
    assert made.headers["ETag"] == tags.of(served.file(slug).read_bytes())
    assert made.json()["config"]["match"] == {"cwd": str(dev.cwd)}
    assert (made.json()["name"], made.json()["expected"]) == ("My shop", "always")
    assert made.json()["observedId"] == one["id"]
    assert not served.observed(dev.port)

    again = refused(api.post(address, body), 409, "exists")
    assert again["error"] == f"apps/{slug}.yaml exists already."
    other = refused(api.post(address, {"slug": f"{slug}-2"}), 409, "exists")
    assert other["error"] == f"apps/{slug}.yaml exists already."
    assert not served.file(f"{slug}-2").exists()


def test_a_claim_takes_no_name_that_is_taken(served: Served, api: Api, slug):
    one = served.seen(served.dev_server(slug))
    api.put(f"/api/apps/{slug}-old", {"health": {"type": "none"}})
    before = served.file(f"{slug}-old").read_bytes()

    refused(api.post(f"/api/observed/{one['id']}/claim", {"slug": f"{slug}-old"}), 409, "exists")

    assert served.file(f"{slug}-old").read_bytes() == before


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid"),
        ({"slug": 5}, "invalid"),
        ({"slug": "No Slug"}, "bad_slug"),
        ({"slug": "{slug}", "port": 3}, "invalid"),
        ({"slug": "{slug}", "name": 5}, "invalid"),
        ({"slug": "{slug}", "name": "x" * 81}, "invalid"),
        ({"slug": "{slug}", "name": ""}, "invalid"),
        ({"slug": "{slug}", "name": "a\nb"}, "invalid"),
        ({"slug": "{slug}", "name": "a\0"}, "invalid"),
        ({"slug": "{slug}", "name": {"a": 1}}, "invalid"),
        ({"slug": "{slug}", "expected": "often"}, "invalid"),
        ({"slug": "{slug}", "expected": [1]}, "invalid"),
        ({"slug": "{slug}", "expected": ""}, "invalid"),
    ],
    ids=range(13),
)
def test_a_claim_that_cannot_be_writes_nothing(served: Served, api: Api, slug, body, code):
    dev = served.dev_server(slug)
    one = served.seen(dev)
    sent = {key: slug if value == "{slug}" else value for key, value in body.items()}
    before = [*served.file(slug).parent.glob("*")]
    refused(api.post(f"/api/observed/{NOBODY}/claim", sent), 404, "not_found")

    told = refused(api.post(f"/api/observed/{one['id']}/claim", sent), 400, code)

    assert set(told) <= {"error", "code", "issues"}  # no line of a file that was never written
    assert [*served.file(slug).parent.glob("*")] == before
    dev.kill()


@pytest.mark.parametrize("key", ["slug", "name", "by", "reason"])
def test_half_a_character_is_no_text(served: Served, api: Api, key):
    one = api.get("/api/observed").json()["observed"][0]
    route = "claim" if key in ("slug", "name") else "ignore"
    more = '"slug": "half", ' if key == "name" else ""
    sent = f'{{{more}"{key}": "\\ud800"}}'.encode()
    headers = {"Content-Type": "application/json"}
    before = rules(served)

    answer = api.ask("POST", f"/api/observed/{one['id']}/{route}", content=sent, headers=headers)

    assert answer.status_code == 400
    assert rules(served) == before
    assert not served.file("half").exists()


@pytest.mark.parametrize("by", ["port", "process", "dir"])
def test_an_ignored_listener_is_listed_apart_and_its_rule_stands_once(served, api, slug, by):
    dev = served.dev_server(slug)
    one = served.seen(dev)
    address = f"/api/observed/{one['id']}/ignore"
    standing = rules(served)

    with served.events() as stream:
        done = api.post(address, {"by": by, "reason": "mine"})
        stream.has(type="observed", reason="ignored")
    again = api.post(address, {"by": by})

    rule = done.json()["rule"]
    assert (done.status_code, done.json()["ok"], done.json()["file"]) == (200, True, "ignore.yaml")
    assert rule["reason"] == "mine"
    assert set(rule) == {by, "reason", "at"}
    assert again.json() == done.json()
    assert rules(served) == [*standing, rule]
    found = api.get("/api/observed").json()
    assert one["id"] in {other["id"] for other in found["ignored"]}
    assert one["id"] not in {other["id"] for other in found["observed"]}
    assert slug not in {app["slug"] for app in api.get("/api/apps").json()["apps"]}

    dev.kill()
    (served.data / "dashboard" / "ignore.yaml").unlink()


def test_a_rule_is_taken_back_in_the_text_of_ignore_yaml(served, api, slug):
    dev = served.dev_server(slug)
    one = served.seen(dev)
    before = api.get("/api/ignore")
    assert before.json() == {"text": "", "etag": '"absent"'}
    tag = {"If-Match": before.headers["etag"]}
    done = api.ask("POST", f"/api/observed/{one['id']}/ignore", json={}, headers=tag)

    late = api.ask("PUT", "/api/ignore", json={"text": "# mine\n"}, headers=tag)
    wrong = api.ask("PUT", "/api/ignore", json={"text": "rules:\n- {prt: 1}\n"})
    tag = {"If-Match": done.headers["etag"]}
    back = api.ask("PUT", "/api/ignore", json={"text": "# mine\n"}, headers=tag)

    assert (late.status_code, late.json()["code"]) == (409, "changed")
    assert (wrong.status_code, wrong.json()["line"]) == (400, 2)
    assert (back.status_code, back.json()["text"]) == (200, "# mine\n")
    assert served.data.joinpath("dashboard/ignore.yaml").read_text() == "# mine\n"
    assert served.observed(dev.port)["id"] == one["id"]
    dev.kill()
    (served.data / "dashboard" / "ignore.yaml").unlink()


def test_ignoring_a_script_by_process_hides_no_other_of_its_language(served, api, slug, tmp_path):
    script, port = tmp_path / "greeter", free_port()
    script.write_text(f"#!{sys.executable}\n{GREETER.format(port=port)}")
    script.chmod(0o755)
    other = served.dev_server(slug)
    with subprocess.Popen([script], cwd=tmp_path) as process:
        one = until(lambda: served.observed(port), seconds=15, what="observed")
        served.seen(other)

        done = api.post(f"/api/observed/{one['id']}/ignore", {"by": "process"})
        process.kill()

    assert done.json()["rule"]["process"] == "greeter"
    assert served.observed(other.port)
    (served.data / "dashboard" / "ignore.yaml").unlink()


def test_a_directory_with_signs_of_a_pattern_is_ignored_alone(served, api, slug):
    odd = served.seen(served.dev_server(f"{slug}-[ab]*"))
    near = served.seen(served.dev_server(f"{slug}-a"))

    api.post(f"/api/observed/{odd['id']}/ignore", {"by": "dir"})

    found = api.get("/api/observed").json()
    assert odd["id"] in {one["id"] for one in found["ignored"]}
    assert near["id"] in {one["id"] for one in found["observed"]}
    (served.data / "dashboard" / "ignore.yaml").unlink()


def test_a_directory_that_no_file_can_hold_cannot_be_ignored_by_name(served, api, slug):
    odd = served.seen(served.dev_server(f"{slug}-\udce9"))
    address = f"/api/observed/{odd['id']}/ignore"
    before = rules(served)

    told = refused(api.post(address, {"by": "dir"}), 400, "invalid")

    assert "no file can hold the directory of this listener" in told["error"]
    assert rules(served) == before


def test_a_rule_is_bound_to_the_file_that_was_read(served, api, slug):
    one = served.seen(served.dev_server(slug))
    address = f"/api/observed/{one['id']}/ignore"
    etag = api.get("/api/observed").json()["ignoreEtag"]

    stale = refused(api.post(address, {}, headers={"If-Match": '"x"'}), 409, "changed")
    assert stale["etag"] == etag
    assert api.post(address, {}, headers={"If-Match": etag}).status_code == 200
    refused(api.post(address, {"by": "dir"}, headers={"If-Match": etag}), 409, "changed")
    path = served.data / "dashboard" / "ignore.yaml"
    path.write_text("rules: 5\n")
    refused(api.post(address, {"by": "dir"}), 409, "invalid_file")
    path.unlink()


@pytest.mark.parametrize(
    "body",
    [
        {"by": "name"},
        {"by": 5},
        {"reason": 5},
        {"reason": "x" * 501},
        {"reason": "\0"},
        {"port": 5},
    ],
)
def test_an_ignore_that_cannot_be_writes_nothing(served, api, body):
    one = api.get("/api/observed").json()["observed"][0]
    before = rules(served)
    told = refused(api.post(f"/api/observed/{NOBODY}/ignore", body), 404, "not_found")
    assert told["error"] == f'No listener "{NOBODY}".'

    refused(api.post(f"/api/observed/{one['id']}/ignore", body), 400, "invalid")

    assert rules(served) == before


def test_a_scan_finds_what_has_just_begun_to_listen(served, api, slug):
    dev = served.dev_server(slug)
    found: list[dict[str, Any]] = []

    def scanned() -> bool:
        found.append(api.post("/api/scan").json())
        return bool(served.observed(dev.port))

    until(scanned, seconds=10)
    assert set(found[-1]) == {"scannedAt", "observed", "added", "gone", "ms"}
    assert isinstance(found[-1]["observed"], int)


def test_no_scan_while_scanning_is_off(served, api):
    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    config.write_text(scanning(before, enabled=False))
    try:
        until(lambda: api.post("/api/scan").status_code == 409, seconds=5)
        told = refused(api.post("/api/scan"), 409, "scan_off")
        assert told["error"] == "Scanning is off (scan.enabled in config.yaml)."
    finally:
        config.write_text(before)
    until(lambda: api.post("/api/scan").status_code == 200, seconds=5)
