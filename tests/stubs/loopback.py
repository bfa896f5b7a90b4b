"""A scripted HTTP server on loopback: what the stand-ins for both model protocols share."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers whole, as JSON, or in pieces that can be cut off. `stub` is set by `serving`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Quiet: the record is in the stub."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def send_json(
        self, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        length = {"Content-Length": str(len(data))}
        self._head(status, {"Content-Type": "application/json", **(headers or {}), **length})
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin_stream(self, headers: Mapping[str, str] | None = None) -> None:
        kind = {"Content-Type": "text/event-stream"}
        self._head(200, {**kind, **(headers or {}), "Transfer-Encoding": "chunked"})

    def send_event(self, lines: str) -> None:
        """One event of a stream; its lines without the empty one that ends it."""
        data = f"{lines}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def break_off(self, ends: bool) -> None:
        """End a stream in the middle, `ends`: as one that is whole."""
        if ends:
            self.end_stream()
        else:
            self.cut()

    def cut(self) -> None:
        """End the connection in the middle."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving(handler: type[Handler], stub: object) -> Iterator[str]:
    """The URL of a running server whose handlers know `stub`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (handler,), {"stub": stub}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pieces(words: str, size: int) -> Iterator[str]:
    return (words[start : start + size] for start in range(0, len(words), size))
