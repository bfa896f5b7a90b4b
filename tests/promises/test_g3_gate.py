"""G3: a caller that may not send is refused before its body, and no body outgrows its limit."""

from __future__ import annotations

import contextlib
import select
import socket
import threading

import psutil
import pytest

from tests.service import Service
from tests.wire import chunked, read_answer, received, request

MB = 1_000_000
TOKEN = "svc_" + "0" * 48


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    """A service with one management client, and with browser auth by a trusted header."""
    client = {"auth": {"type": "token", "ref": "env:CI_TOKEN"}}
    config = {
        "auth": {"mode": "trusted-header"},
        "managementApi": {"publicUrl": "http://localhost", "clients": {"ci": client}},
    }
    with Service(
        tmp_path_factory.mktemp("gated"),
        config=config,
        env={"CI_TOKEN": TOKEN},
        scheduler=False,
    ) as service:
        service.http.post("/mcp")  # what is imported at the first call is not the body's memory
        yield service


@pytest.mark.promise("G3")
@pytest.mark.parametrize("path", ["/mcp", "/api/projects"])
@pytest.mark.parametrize("length", ["Content-Length: 100000000", "Transfer-Encoding: chunked"])
def test_a_caller_without_a_credential_is_refused_before_its_body(gated, path, length):
    memory = psutil.Process(gated.pid).memory_info().rss
    with socket.create_connection(("127.0.0.1", gated.ports["main"]), timeout=10) as connection:
        head = f"POST {path} HTTP/1.1\n{length}\nContent-Type: application/json"
        connection.sendall(request(head + "\nExpect: 100-continue"))

        answer, body = read_answer(connection)  # before a byte of the body was sent
        pour(connection, [])

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"auth_required" in body
    assert psutil.Process(gated.pid).memory_info().rss - memory < 10 * MB


@pytest.mark.promise("G3")
@pytest.mark.parametrize("chunks", [False, True], ids=["by length", "chunked"])
@pytest.mark.parametrize(
    ("path", "admitted", "told"),
    [
        ("/api/projects", "X-Forwarded-User: ada", b'"too_large"'),
        (
            "/mcp",
            f"Accept: application/json, text/event-stream\nAuthorization: Bearer {TOKEN}",
            b'"Request body is larger than 4194304 bytes"',
        ),
    ],
    ids=["rest", "mcp"],
)
def test_a_body_over_the_limit_is_refused_before_it_has_come(gated, path, admitted, told, chunks):
    length = "Transfer-Encoding: chunked" if chunks else f"Content-Length: {100 * MB}"
    head = f"POST {path} HTTP/1.1\n{length}\nContent-Type: application/json\n{admitted}"
    memory = psutil.Process(gated.pid).memory_info().rss
    with socket.create_connection(("127.0.0.1", gated.ports["main"]), timeout=10) as connection:
        connection.sendall(request(head))
        poured: list[int] = []
        sender = threading.Thread(target=pour, args=(connection, poured), kwargs={"chunks": chunks})
        sender.start()
        answer, body = read_answer(connection)
        sent = sum(poured)
        connection.shutdown(socket.SHUT_RDWR)
        sender.join(10)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert told in body
    assert sent < 20 * MB  # 4 MiB were read, the rest stood in the sockets' buffers
    assert psutil.Process(gated.pid).memory_info().rss - memory < 10 * MB


@pytest.mark.promise("G3")
def test_a_body_is_not_even_asked_for_before_the_gate(gated):
    with socket.create_connection(("127.0.0.1", gated.ports["main"]), timeout=10) as connection:
        head = "POST /mcp HTTP/1.1\nContent-Length: 10\nExpect: 100-continue"
        connection.sendall(request(head))

        assert received(connection).startswith(b"HTTP/1.1 401 ")


IMAGE = 5 * 1024 * 1024  # bytes that are allowed


@pytest.mark.promise("G3")
@pytest.mark.parametrize("chunks", [False, True], ids=["by length", "chunked"])
def test_an_image_over_five_megabytes_is_refused_before_six_have_come(gated: Service, chunks):
    project = gated.projects / "pictures"
    project.mkdir(parents=True, exist_ok=True)
    (project / "project.yaml").write_text("title: Pictures\n")
    length = "Transfer-Encoding: chunked" if chunks else f"Content-Length: {IMAGE + 1}"
    head = f"POST /api/projects/pictures/assets HTTP/1.1\n{length}\nContent-Type: image/png"
    head += "\nX-Forwarded-User: ada"
    with socket.create_connection(("127.0.0.1", gated.ports["review"]), timeout=10) as connection:
        connection.sendall(request(head))
        if chunks:
            connection.sendall(chunked(b"\x89PNG\r\n\x1a\n", b" " * IMAGE))

        answer, body = read_answer(connection)  # of a body that never ended

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"Image is larger than 5 MB" in body
    assert [path.name for path in project.iterdir()] == ["project.yaml"]


def pour(connection: socket.socket, sent: list[int], *, chunks: bool = False) -> None:
    """Send 100 MB of body, or as much as the server takes; `sent` tells how far it
    was when an answer lay there, however late that is read."""
    piece = b" " * (MB // 10)
    data = chunked(piece) if chunks else piece
    with contextlib.suppress(OSError):
        for _ in range(1000):
            connection.sendall(data)
            if not select.select([connection], [], [], 0)[0]:
                sent.append(len(piece))
