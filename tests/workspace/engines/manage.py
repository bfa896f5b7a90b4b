"""A stand-in for the service's own endpoint that speaks its protocol over a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workspace.engines.catalogue import SVC_READERS

TOKEN = "svct_" + "0123456789abcdef" * 4


def _listed(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"given": {"type": "string"}}}
    hints = {"readOnlyHint": name in SVC_READERS}
    described = {"description": f"About {name}", "annotations": hints}
    return {"name": name, "inputSchema": schema, **described}


def _told(asked: dict[str, Any], ops: dict[str, Any]) -> dict[str, Any]:
    """The answers of the protocol itself: who is there, and what can be called."""
    if asked["method"] == "tools/list":
        return {"tools": [_listed(name) for name in ops]}
    return {
        "protocolVersion": asked["params"]["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "svc_manage", "version": "1"},
    }


@contextmanager
def manage(answers: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[tuple[str, Any]]]]:
    """(the job's svc, the calls made; a GET is a page fetched).

    An answer is a text, or a list of texts, one per call; `Error: …` is a tool error.
    """
    calls: list[tuple[str, Any]] = []
    svc: dict[str, Any] = {"token": TOKEN, "ops": {name: {} for name in answers}}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send_error(404)
                return
            if "id" not in body:
                self._empty(202)
                return
            if body["method"] in ("initialize", "tools/list"):
                part = self.path.removeprefix("/_svc/mcp").strip("/")
                ops = svc["parts"][part] if part else svc["ops"]
                self._answer(body["id"], _told(body, ops))
                return
            if body["method"] != "tools/call":
                self._send({"error": {"code": -32601, "message": "Method not found"}}, body["id"])
                return
            params = body["params"]
            calls.append((params["name"], params["arguments"]))
            told = answers[params["name"]]
            text = told.pop(0) if isinstance(told, list) else told
            result = {
                "content": [{"type": "text", "text": text}],
                "isError": text.startswith("Error:"),
            }
            self._answer(body["id"], result)

        def _empty(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _answer(self, number: int, result: dict[str, Any]) -> None:
            self._send({"result": result}, number)

        def _send(self, outcome: dict[str, Any], number: int) -> None:
            message = outcome | {"jsonrpc": "2.0", "id": number}
            data = f": wait\n\nevent: message\ndata: {json.dumps(message)}\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if self.path.startswith("/_svc/mcp"):
                self._empty(405)
                return
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
        svc["url"] = url
        yield svc, calls
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
