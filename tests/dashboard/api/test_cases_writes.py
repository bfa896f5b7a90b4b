"""Writes over HTTP, clause by clause where the other modules leave one out (cases D7 to D22)."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.files import tags
from tests.dashboard.api.raw import MOUNTS, refused, send
from tests.dashboard.api.test_routes import ESCAPED, tree
from tests.dashboard.served import Event, Served, Stream
from tests.described import Api
from tests.service import until

SHOP = {"name": "Shop", "health": {"type": "none"}}
JSON = {"Content-Type": "application/json"}
STALE = '"00000000000000000000000000000000"'
DEEP = b'{"x-deep": ' + b"[" * 32 + b"]" * 32 + b"}"
BROKEN = {
    DEEP: "it is nested deeper than 32 levels",
    b'{"name": "a", "name": "b"}': 'duplicate key "name"',
    b"[]": "it must be an object",
}
READ_ONLY = "a%2fhistory"  # without its escape a route that no write has: 405
ODD = (
    "\ufeff# mine\r\nname:   'Shop'   # why\r\n\r\n\r\nhealth:\r\n      type: none   # t\r\n"
    "      path: /a   # p\r\ntags: [web]   # goes\r\n# stays\r\n"
    "x-flow: {a: 1,   b: [ 2,3 ]}  # f\r\n"
)


def path(slug: str) -> str:
    return f"/api/apps/{slug}"


# -- names and mounts -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [one for one in ESCAPED if one != READ_ONLY])
@pytest.mark.parametrize("kind", ["apps", "bookmarks"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_write_to_an_escaped_name_touches_nothing(served: Served, method, kind, name):
    before = tree(served)
    head = f"{method} /api/{kind}/{name} HTTP/1.1\nContent-Type: application/json"

    status, _, body = send(served, "dashboard", f"{head}\nContent-Length: 2", b"{}")

    assert (status, body["code"]) == (400, "bad_slug")
    assert tree(served) == before


@pytest.mark.parametrize(("port", "mount"), MOUNTS)
def test_a_client_cannot_move_where_a_claim_is_to_be_found(served: Served, slug, port, mount):
    one = served.seen(served.dev_server(slug))
    body = f'{{"slug": "{slug}"}}'.encode()
    head = (
        f"POST {mount}/api/observed/{one['id']}/claim HTTP/1.1\nContent-Type: application/json\n"
        f"Content-Length: {len(body)}\nDaphne-Root-Path: /evil"
    )

    status, headers, _ = send(served, port, head, body)

    assert (status, headers["location"]) == (201, f"{mount}/api/apps/{slug}")


# -- bodies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "detail"), BROKEN.items(), ids=BROKEN.values())
@pytest.mark.parametrize("kind", ["apps", "bookmarks"])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_body_that_is_no_plain_object_changes_no_file(
    served, api, slug, method, kind, body, detail
):
    assert api.put(f"/api/{kind}/{slug}", {"name": "Mine"}).status_code == 201
    before = tree(served)

    answer = api.ask(method, f"/api/{kind}/{slug}", content=body, headers=JSON)

    assert refused(answer, 400, "bad_json")["error"] == f"The body is not valid JSON: {detail}."
    assert tree(served) == before


def test_a_body_of_32_levels_is_stored(api: Api, slug):
    body = DEEP.replace(b"[" * 32, b"[" * 31).replace(b"]" * 32, b"]" * 31)

    assert api.ask("PUT", path(slug), content=body, headers=JSON).status_code == 201


def test_a_patch_of_an_odd_file_leaves_every_other_byte(served: Served, api: Api, slug):
    api.put(path(slug), SHOP)
    served.file(slug).write_bytes(ODD.encode())

    patch = {"health": {"path": "/x"}, "tags": None, "x-flow": {"a": 5}}
    assert api.patch(path(slug), patch).status_code == 200

    wanted = ODD.replace("/a ", "/x ").replace("tags: [web]   # goes\r\n", "")
    assert served.file(slug).read_bytes() == wanted.replace("{a: 1", "{a: 5").encode()


# -- what is told ---------------------------------------------------------------------------------


def of(stream: Stream, slug: str) -> list[Event]:
    return [one for one in stream.all if one.get("slug") == slug and one["type"] == "app"]


def test_a_write_that_changes_nothing_is_told_to_nobody(served: Served, api: Api, slug):
    with served.events() as stream:
        api.put(path(slug), SHOP)
        stream.has(type="app", slug=slug, reason="config")
        stat, told = served.file(slug).stat(), len(of(stream, slug))

        assert api.put(path(slug), SHOP).status_code == 200
        assert api.patch(path(slug), {"name": "Shop"}).status_code == 200
        api.put(path(f"{slug}-after"), SHOP)
        stream.has(type="app", slug=f"{slug}-after", reason="config")  # what came before is told

        assert len(of(stream, slug)) == told
    assert served.file(slug).stat().st_mtime_ns == stat.st_mtime_ns


def test_a_broken_file_is_told_as_an_error_and_then_as_a_change_and_keeps_nobody_else(
    served: Served, api: Api, slug
):
    other = f"{slug}-other"
    api.put(path(other), SHOP)
    with served.events() as stream:
        api.put(path(slug), SHOP)
        stream.has(type="app", slug=slug, reason="config")
        served.file(slug).write_text("name: Shop\nport: 3000\n  port: [\n")
        stream.has(type="app", slug=slug, reason="error")

        told = refused(api.patch(path(slug), {"name": "x"}), 409, "invalid_file")
        (listed,) = api.get(path(slug)).json()["fileErrors"]
        assert api.get(path(slug)).json()["config"] == SHOP
        assert (listed["line"], listed["column"]) == (told["line"], told["column"])
        assert isinstance(told["column"], int)
        assert api.delete(path(other)).status_code == 200

        served.file(slug).write_text("name: Healed\n")
        until(lambda: len(of(stream, slug)) == 3, what="the repair is told")
        assert [one["reason"] for one in of(stream, slug)] == ["config", "error", "config"]
    assert api.get(path(slug)).json()["fileErrors"] == []


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_file_that_an_editor_has_just_written_is_an_app(served: Served, api: Api, slug, method):
    for number in range(5):  # the daemon may have seen one of them by itself
        body = {} if method == "GET" else {"json": {"notes": "mine"}}
        served.declare(f"{slug}-{number}", "name: Mine\nhealth: {type: none}\n")

        answer = api.ask(method, path(f"{slug}-{number}"), **body)

        assert (answer.status_code, answer.json()["name"]) == (200, "Mine")


# -- tags of ignore.yaml --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "status", "code"),
    [
        ("*", 200, None),
        (f"{STALE}, {{etag}}", 200, None),
        (STALE, 409, "changed"),
        ("W/{etag}", 409, "changed"),
        ("bare", 400, "bad_etag"),
    ],
)
def test_a_rule_may_be_bound_to_the_rules_that_were_read(
    served: Served, api: Api, slug, match, status, code
):
    one = served.seen(served.dev_server(slug))
    file = served.data / "dashboard" / "ignore.yaml"
    file.write_text("# mine\nrules: []\n")
    try:
        etag, before = tags.of(file.read_bytes()), file.read_bytes()
        headers = {"If-Match": match.format(etag=etag)}

        answer = api.post(f"/api/observed/{one['id']}/ignore", {}, headers=headers)

        assert answer.status_code == status
        if code is not None:
            told = refused(answer, status, code)
            assert file.read_bytes() == before
            assert told.get("etag") == (etag if code == "changed" else None)
    finally:
        file.unlink()


def test_rules_that_were_never_written_match_nothing(served: Served, api: Api, slug):
    one = served.seen(served.dev_server(slug))
    file = served.data / "dashboard" / "ignore.yaml"

    told = refused(
        api.post(f"/api/observed/{one['id']}/ignore", {}, headers={"If-Match": "*"}), 409, "changed"
    )

    assert told["etag"] == tags.ABSENT
    assert not file.exists()
    until(lambda: api.get("/api/observed").json()["ignoreEtag"] == told["etag"], seconds=5)


# -- history --------------------------------------------------------------------------------------


def test_a_removed_app_keeps_its_history_and_has_it_back_with_its_name(
    served: Served, api: Api, slug
):
    dev = served.dev_server(f"{slug}-source")
    config = {"port": dev.port, "health": {"interval": "1s"}, "match": {"cwd": str(dev.cwd)}}
    api.put(path(slug), config)
    served.until_state(slug, "up")
    until(lambda: history(api, slug)["seconds"]["up"] > 0, what="a second check")
    dev.kill()
    served.until_state(slug, "stopped")
    old = history(api, slug)

    assert api.delete(path(slug)).status_code == 200
    refused(api.get(path(slug)), 404, "not_found")
    kept = history(api, slug)
    assert api.put(path(slug), config).status_code == 201
    back = history(api, slug)

    moves = [(one["at"], one["from"], one["to"]) for one in old["transitions"]]
    assert "up" in {to for _at, _from, to in moves}
    for found in (kept, back):
        assert found["checks"] >= old["checks"] > 0
        assert found["seconds"]["up"] >= old["seconds"]["up"]
        told = [(one["at"], one["from"], one["to"]) for one in found["transitions"]]
        assert told[: len(moves)] == moves


def history(api: Api, slug: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"{path(slug)}/history").json()
    return found
