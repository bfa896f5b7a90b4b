"""G1 and G3 for the dashboard: who may not write changes nothing, and no body outgrows its limit.

Every route under every attack is in tests/dashboard/api/test_guarded.py.
"""

from __future__ import annotations

import socket

import httpx
import psutil
import pytest

from tests.service import Service
from tests.wire import chunked, read_answer, request

LIMIT = 256 * 1024
FOREIGN = (
    {"Host": "evil.example"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
)
WRITES = (
    ("PUT", "/api/apps/evil"),
    ("PUT", "/api/bookmarks/evil"),
    ("PATCH", "/api/apps/mine"),
    ("DELETE", "/api/apps/mine"),
)


def tree(service: Service) -> dict[str, bytes]:
    home = service.data / "dashboard"
    files = sorted(path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


@pytest.mark.promise("G1")
@pytest.mark.parametrize("mount", ["port", "mount"])
def test_a_refused_write_of_the_dashboard_changes_nothing(shared_service: Service, mount: str):
    port = mount == "port"
    base = shared_service.dashboard_url if port else f"{shared_service.url}/dashboard"
    mine = shared_service.data / "dashboard" / "apps" / "mine.yaml"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("name: Mine\n")
    before = tree(shared_service)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "put_app", "arguments": {"slug": "evil", "config": {"name": "x"}}}}  # fmt: skip

    with httpx.Client(base_url=base, trust_env=False) as client:
        for headers in FOREIGN:
            for method, path in (*WRITES, ("POST", "/mcp")):
                body = call if path == "/mcp" else {"name": "Evil"}
                answer = client.request(method, path, json=body, headers=headers)
                assert (answer.status_code, list(answer.json())) == (403, ["error", "code"])

    assert tree(shared_service) == before


@pytest.mark.promise("G3")
@pytest.mark.parametrize("chunks", [False, True], ids=["by length", "chunked"])
@pytest.mark.parametrize("path", ["/api/apps/large", "/api/bookmarks/large"])
def test_a_file_over_256_kib_is_refused_before_the_body_ends(shared_service, path, chunks):
    server = psutil.Process(shared_service.pid)
    memory = server.memory_info().rss
    length = "Transfer-Encoding: chunked" if chunks else f"Content-Length: {LIMIT + 1}"
    head = f"PUT {path} HTTP/1.1\n{length}\nContent-Type: application/json"
    address = ("127.0.0.1", shared_service.ports["dashboard"])
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(request(head))
        if chunks:
            connection.sendall(chunked(b'{"name": "', b"x" * LIMIT))

        answer, body = read_answer(connection)  # of a body that never ended

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"too_large"' in body
    assert server.memory_info().rss - memory < 10_000_000
    assert not any("large" in name for name in tree(shared_service))


@pytest.mark.promise("G3")
def test_a_foreign_page_is_refused_before_its_body(shared_service: Service):
    head = (
        "PUT /api/apps/evil HTTP/1.1\nContent-Length: 100000000\nContent-Type: application/json"
        "\nOrigin: https://evil.example\nExpect: 100-continue"
    )
    address = ("127.0.0.1", shared_service.ports["dashboard"])
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(request(head))

        assert read_answer(connection)[0].startswith(b"HTTP/1.1 403 ")
