"""Raw HTTP for tests: a request byte for byte, an answer as it came, a stream with its ids.

Also the wire server's process (tests/config/wire_server.py) and the words it says.
"""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Self

from tests.service import ROOT

WAIT_S = 10.0
DATA_SEGMENTS_IN = 152  # where Linux's struct tcp_info has tcpi_data_segs_in
_ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)


class Wire:
    """The wire server's process, and the words it says."""

    def __init__(self, *tls: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.config.wire_server", *tls],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline() or 0)
        self.words: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.words.put(line.strip())

    def heard(self, word: str) -> str:
        """The next line that starts with `word`; earlier ones are dropped."""
        while True:
            try:
                line = self.words.get(timeout=WAIT_S)
            except Empty:
                raise AssertionError(f"never said {word!r}") from None
            if line.startswith(word):
                return line

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.close()

    def close(self) -> str:
        """Stop it; returns what it wrote to stderr."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        with self.process.stderr:
            return self.process.stderr.read()


def request(head: str, body: bytes = b"", *, host: str = "localhost") -> bytes:
    """`head`: the request line and further headers, one a line."""
    lines = head.strip().splitlines()
    return "\r\n".join([lines[0], f"Host: {host}", *lines[1:], "", ""]).encode() + body


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


def read_all(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(65536):
            parts.append(data)
    return b"".join(parts)


def read_answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of one answer with a Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += received(connection)
    return head, body


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """What comes, up to a piece that ends with `end`."""
    data = b""
    while not data.endswith(end):
        data += received(connection)
    return data


def segments(connection: socket.socket) -> int:
    """How many TCP segments with data have come: on loopback, one for each write."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    found: int = struct.unpack_from("=I", info, DATA_SEGMENTS_IN)[0]
    return found


def received(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError("closed in the middle of an answer")
    return data


class EventClient:
    """One event stream read from a raw socket, resumed by its last whole event's id.

    HTTP/1.0, so that the stream comes unchunked.
    """

    def __init__(self, port: int, path: str) -> None:
        self.port, self.path = port, path
        self.last = b""
        self.ids: list[int] = []
        self.text = b""

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        head = f"GET {self.path} HTTP/1.0\nAccept: text/event-stream"
        if self.last:
            head += f"\nLast-Event-ID: {self.last.decode()}"
        self.socket.sendall(request(head))
        self.text = b""

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if hasattr(self, "socket"):
            self.socket.close()

    def read(self, size: int = 65536) -> bool:
        """Take what comes, at most `size` bytes; False once the server has closed."""
        data = self.socket.recv(size)
        self.text += data
        *blocks, self.text = self.text.split(b"\n\n")
        for block in blocks:
            self._take(block)
        return bool(data)

    def _take(self, block: bytes) -> None:
        found = _ID.search(block)
        if found:
            self.last = found[1]
            if b"data: " in block:
                self.ids.append(int(found[1]))


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost "
        f"-keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )
    return certificate, key
