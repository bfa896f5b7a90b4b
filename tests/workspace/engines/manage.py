"""A stand-in for the service's own endpoint that speaks its protocol over a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "svct_" + "0123456789abcdef" * 4


@contextmanager
def manage(answers: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[tuple[str, Any]]]]:
    """(the job's svc, the calls made; a GET is a page fetched).

    An answer is a text, or a list of texts, one per call; `Error: …` is a tool error.
    """
    calls: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send_error(404)
                return
            params = body["params"]
            calls.append((params["name"], params["arguments"]))
            told = answers[params["name"]]
            text = told.pop(0) if isinstance(told, list) else told
            result = {
                "content": [{"type": "text", "text": text}],
                "isError": text.startswith("Error:"),
            }
            message = {"result": result, "jsonrpc": "2.0", "id": body["id"]}
            data = f": wait\n\nevent: message\ndata: {json.dumps(message)}\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            calls.append(("GET", self.path))
            data = b'{"results": []}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/_svc/mcp"
        yield {"url": url, "token": TOKEN, "ops": {name: {} for name in answers}}, calls
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
