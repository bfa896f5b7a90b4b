"""Images over HTTP: sent, refused early, served so that nothing in them runs."""

from __future__ import annotations

import hashlib
import socket

import pytest

from tests.review.api.served import Project, Served
from tests.wire import chunked, read_answer, request

LIMIT = 5 * 1024 * 1024
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PNG = b"\x89PNG\r\n\x1a\n"


def send(served: Served, pay: Project, data: bytes, kind: str = "image/png", query: str = ""):
    return served.api.ask(
        "POST", f"{pay.p}/assets{query}", content=data, headers={"Content-Type": kind}
    )


def test_an_image_is_kept_by_its_hash_and_once(served: Served, pay: Project):
    data = PNG + b"x"

    first = send(served, pay, data, query="?alt=a%5Db%0Ac")
    again = send(served, pay, data)

    name = f"{hashlib.sha256(data).hexdigest()}.png"
    assert first.status_code == 201
    assert first.json() == {
        "name": name,
        "markdown": f"![a\\]b c](/api/projects/{pay.slug}/assets/{name})",
        "created": True,
    }
    assert (again.status_code, again.json()["created"]) == (200, False)
    assert (pay.file.parent / "assets" / name).read_bytes() == data


def test_an_image_is_served_with_headers_that_let_nothing_run(served: Served, pay: Project):
    name = send(served, pay, SVG, "image/svg+xml").json()["name"]

    for api in (served.api, served.mounted):
        answer = api.get(f"{pay.p}/assets/{name}")

        assert (answer.status_code, answer.content) == (200, SVG)
        headers = answer.headers
        assert headers["Content-Type"] == "image/svg+xml"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'unsafe-inline'"
        )
        assert headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert headers["Content-Disposition"] == "inline"


def test_no_other_name_is_an_asset(served: Served, pay: Project):
    name = send(served, pay, PNG).json()["name"]
    stem = name.removesuffix(".png")

    for other in (stem, f"{stem.upper()}.png", f"{stem[1:]}.png", f"{stem}.gif", f"{name}%00",
                  "..%2Fproject.yaml", "%2E%2E", f"{name}/", "x" * 300):  # fmt: skip
        answer = served.api.client.get(f"{served.api.base}{pay.p}/assets/{other}")
        assert answer.status_code == 404, other


@pytest.mark.parametrize(
    ("data", "kind", "status", "text"),
    [
        (b"", "image/png", 400, "Upload is empty"),
        (b"x", "image/jpg", 415, "Unsupported image type: image/jpg"),
        (b"x", "application/json", 415, "Unsupported image type: application/json"),
        (b"x", "", 415, "Unsupported image type: "),
        (b"GIF89a", "image/png", 415, "Contents are not a PNG image"),
        (b"<html/>", "image/svg+xml", 415, "Contents are not an SVG image"),
        (b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG, "image/svg+xml", 415, "Contents are not"),
        (PNG + b"x" * (LIMIT - 7), "image/png", 413, "Image is larger than 5 MB"),
    ],
)
def test_what_is_no_image_is_refused_and_not_kept(
    served: Served, pay: Project, data: bytes, kind: str, status: int, text: str
):
    answer = send(served, pay, data, kind)

    assert answer.status_code == status
    assert answer.json()["error"].startswith(text)
    assert not (pay.file.parent / "assets").exists()


def test_five_megabytes_are_allowed(served: Served, pay: Project):
    assert send(served, pay, PNG + b"x" * (LIMIT - 8)).status_code == 201


@pytest.mark.parametrize("chunks", [False, True], ids=["by length", "chunked"])
def test_a_project_that_is_not_there_is_told_before_the_image_is_read(served, chunks: bool):
    length = "Transfer-Encoding: chunked" if chunks else "Content-Length: 1000000"
    head = f"POST /api/projects/nope/assets HTTP/1.1\n{length}\nContent-Type: image/png"
    port = served.service.ports["review"]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request(head))

        answer, body = read_answer(connection)  # nothing of the image was sent

    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"No such project: nope" in body


def test_a_client_that_leaves_half_way_leaves_nothing(served: Served, pay: Project):
    head = f"POST {pay.p}/assets HTTP/1.1\nTransfer-Encoding: chunked\nContent-Type: image/png"
    port = served.service.ports["review"]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request(head) + chunked(PNG))

    assert served.api.get("/api/health").status_code == 200
    assert not (pay.file.parent / "assets").exists()


def test_an_image_that_cannot_be_written_is_500_with_the_reason(served: Served, pay: Project):
    (pay.file.parent / "assets").write_text("in the way")

    answer = send(served, pay, PNG)

    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.json()["error"].startswith("Cannot write ")
