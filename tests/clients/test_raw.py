"""The plainest clients: HTTP by hand and curl, answered in the exact words they rely on."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from typing import Any

import httpx
import pytest

from tests.clients.conftest import TOKENS
from tests.config.mcp_world import HEADERS, call, request
from tests.service import Service, until
from tests.wire import read_until, segments
from tests.wire import request as raw_request

W = "/.well-known/oauth-protected-resource"
BEARER = {"authorization": f"Bearer {TOKENS['ADMIN']}"}


def post(service: Service, body: Any, **headers: str) -> httpx.Response:
    return service.http.post("/mcp", json=body, headers=HEADERS | BEARER | headers)


def test_without_a_credential_everything_is_401_before_anything_else(managed: Service):
    for method in ("GET", "PUT", "HEAD", "DELETE", "OPTIONS", "POST"):
        answer = managed.http.request(method, "/mcp", content=b"{" * 100)

        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == (
            'Bearer realm="svc", resource_metadata="https://svc.example.com/base'
            f'{W}/mcp", scope="svc:read svc:write"'
        )
        if method != "HEAD":
            assert answer.json() == {"error": "unauthorized", "code": "auth_required"}


def test_with_one_the_method_then_the_headers_then_the_body_decide(managed: Service):
    for method in ("GET", "PUT", "HEAD", "DELETE", "OPTIONS"):
        answer = managed.http.request(method, "/mcp", headers=BEARER)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    bare = {"accept": "*/*", "content-type": "text/plain"}
    assert managed.http.post("/mcp", content=b"{", headers=BEARER | bare).status_code == 406
    assert post(managed, {}, **{"content-type": "text/plain"}).status_code == 415
    malformed = managed.http.post("/mcp", content=b"{", headers=HEADERS | BEARER)
    assert (malformed.status_code, malformed.json()["error"]["code"]) == (400, -32700)


def test_five_mebibytes_are_too_large_with_and_without_a_length(managed: Service):
    large = b" " * (5 * 1024 * 1024)
    for content in (large, iter([large[: 1024 * 1024]] * 5)):
        try:
            answer = httpx.post(
                f"{managed.url}/mcp", content=content, headers=HEADERS | BEARER, trust_env=False
            )
        except httpx.WriteError:
            continue  # the answer was given, and the connection closed, while we still sent
        assert answer.status_code == 413


def test_the_answer_has_the_contracts_headers_and_bytes(managed: Service):
    answer = post(managed, request("ping", id=0))

    assert answer.text == 'event: message\ndata: {"result":{},"jsonrpc":"2.0","id":0}\n\n'
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert len(answer.headers.get_list("x-request-id")) == 1


def test_what_needs_no_tool_is_answered_in_one_piece(managed: Service):
    head = "".join(f"\n{name}: {value}" for name, value in (HEADERS | BEARER).items())

    with socket.create_connection(("127.0.0.1", managed.ports["main"]), timeout=10) as connection:
        pieces = []
        for asked in (request("ping"), request("tools/list")):
            body = json.dumps(asked).encode()
            post_head = f"POST /mcp HTTP/1.1\nContent-Length: {len(body)}{head}"
            before = segments(connection)
            connection.sendall(raw_request(post_head, body))
            assert b'"result":' in read_until(connection, b"0\r\n\r\n")
            pieces.append(segments(connection) - before)

    assert pieces == [1, 1]


def test_a_foreign_origin_is_refused_on_mcp_and_a_foreign_host_makes_no_difference(
    managed: Service,
):
    host, page = {"host": "evil.example"}, {"origin": "https://evil.example"}

    assert post(managed, request("ping"), **host).status_code == 200
    assert post(managed, request("ping"), **page).status_code == 403
    found = managed.http.get(W, headers={**host, **page})
    assert found.json()["resource"] == "https://svc.example.com/base/mcp"
    for path in (f"{W}/mcp", f"/base{W}", f"/base{W}/mcp", f"{W}/base/mcp"):
        assert managed.http.get(path).json() == found.json()
        assert managed.http.get(f"{path}/").status_code == 404


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/x", "/mcpfoo", "/.well-known/x", "/_svc/mcp"])
def test_neighbouring_paths_are_404_and_never_a_page(managed: Service, path: str):
    answer = managed.http.get(path, headers={"accept": "text/html"})

    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


@pytest.mark.parametrize("token", ["ADMIN", "ALPHA"])
def test_projects_are_required_where_there_is_no_current_one(managed: Service, token: str):
    who = {"authorization": f"Bearer {TOKENS[token]}"}
    text = post(managed, call("read_chat"), **who).text

    assert "Error: `project` is required (there is no current project over /mcp)." in text
    text = post(managed, call("read_chat", project="alpha"), **who).text
    assert "Error: `session_id` is required (there is no current chat over /mcp)." in text
    assert '"isError"' not in post(managed, call("list_chats"), **who).text


def test_the_whole_list_is_small(managed: Service):
    assert len(post(managed, request("tools/list")).content) < 10_240


def test_bad_tokens_are_counted_in_one_row_and_calls_in_their_own(managed: Service):
    for _ in range(25):
        wrong = managed.http.post("/mcp", headers={"authorization": "Bearer " + "x" * 40})
        assert wrong.status_code == 401
    post(managed, call("list_triggers", project="alpha"))

    def written() -> bool:
        rows = managed.http.get("/api/audit?outcome=auth_failed").json()["entries"]
        return sum(row["count"] for row in rows) >= 25 and len(rows) <= 2  # a minute may turn

    until(written, what="25 refusals in the audit")

    def called() -> list[tuple[str, str, str]]:
        rows = managed.http.get("/api/audit?operation=list_triggers").json()["entries"]
        return [(row["clientId"], row["project"], row["outcome"]) for row in rows]

    until(lambda: ("admin", "alpha", "ok") in called(), what="the call in the audit")
    shown = {row["clientId"]: row for row in managed.http.get("/api/clients").json()["clients"]}
    assert shown["admin"]["lastPeer"] == "127.0.0.1"
    assert shown["reader"]["operations"] == [
        "list_projects", "list_chats", "read_chat", "list_triggers",
    ]  # fmt: skip


def test_the_boot_lines_are_in_the_log(managed: Service):
    until(lambda: "management API: /mcp enabled" in managed.log(), what="the boot line")

    assert "clients: admin, alpha, reader; instanceId: home" in managed.log()
    assert "scope grants code execution" in managed.log()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_gets_an_answer_with_the_readmes_command(managed: Service):
    command = [
        "curl", "-s", f"{managed.url}/mcp", "-H", f"Authorization: Bearer {TOKENS['READER']}",
        "-H", "Content-Type: application/json",
        "-H", "Accept: application/json, text/event-stream",
        "-d", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_projects"}}',
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)

    assert '"structuredContent":{"count":2' in ran.stdout
