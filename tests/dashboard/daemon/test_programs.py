"""Servers that people really run, from npm, Debian and PyPI: found, named, moved, remembered.

Each runs in a directory of its own without git or manifest, unless it says otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.served import Served
from tests.service import free_port, until
from tests.wire import make_certificate

PAGE = "<!doctype html><title>Page</title><h1>Page</h1>"
ASGI = """
async def app(scope, receive, send):
    if scope["type"] == "http":
        kind = [(b"content-type", b"text/html")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": b"<title>Orders</title>"})
"""
TOOL = """#!{python}
import http.server, sys
class Tool(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Data tool</title>")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tool).serve_forever()
"""
TLS = """
import http.server, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[2:])
server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
NGINX = """
daemon off; pid {0}/pid; error_log {0}/errors; events {{}}
http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;
  fastcgi_temp_path {0}/fast; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  server {{ listen 127.0.0.1:{1}; root {0}; }} }}
"""


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with vite and http-server."""
    needed("npm")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text('{"name": "storefront", "private": true}')
    quiet = (
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--prefer-offline",
        "--loglevel=error",
    )
    subprocess.run(
        ["npm", "install", *quiet, "vite", "http-server"], cwd=folder, check=True, timeout=300
    )
    return folder


def needed(program: str) -> str:
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def folder(served: Served, name: str) -> Path:
    made = served.tmp / "src" / name
    made.mkdir(parents=True)
    (made / "index.html").write_text(PAGE)
    return made


@contextlib.contextmanager
def runs(*argv: str, cwd: Path) -> Iterator[None]:
    """The program and whatever it starts, as somebody's who is not our parent."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    env = {**os.environ, "npm_config_update_notifier": "false"}
    process = subprocess.Popen(argv, cwd=cwd, env=env, start_new_session=True, **quiet)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)


def app(served: Served, port: int) -> dict[str, Any]:
    """The one app that is found on a port."""
    found = until(
        lambda: [one for one in served.state()["apps"] if one["port"] == port],
        seconds=30,
        what=f"an app on {port}",
    )
    [one] = found
    return dict(served.until_state(one["slug"], "up", seconds=20))


def remembered(served: Served, port: int) -> dict[str, Any]:
    """What would start it again after a reboot."""

    def entry() -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError):
            text = (served.data / "state/dashboard/running.json").read_bytes()
            return next((one for one in json.loads(text)["listeners"] if one["port"] == port), {})
        return {}

    return until(entry, seconds=20, what=f"{port} in the journal")


@pytest.mark.slow
def test_vite_under_npm_is_called_by_its_package_and_remembered_as_typed(
    served: Served, npm: Path
) -> None:
    port = free_port()
    (npm / "index.html").write_text(PAGE)
    script = {"dev": f"vite --port {port} --strictPort --host 127.0.0.1"}
    (npm / "package.json").write_text(json.dumps({"name": "storefront", "scripts": script}))

    with runs("npm", "run", "dev", cwd=npm):
        found, kept = app(served, port), remembered(served, port)

    assert found["name"] == "storefront"
    assert (kept["argv"], kept["cwd"]) == (["npm", "run", "dev"], str(npm))


@pytest.mark.slow
def test_http_server_is_an_app_and_its_title_no_command(served: Served, npm: Path) -> None:
    port, cwd = free_port(), folder(served, "brochure")
    program = str(npm / "node_modules" / ".bin" / "http-server")

    with runs(program, "-a", "127.0.0.1", "-p", str(port), cwd=cwd):
        found, kept = app(served, port), remembered(served, port)

    assert found["name"] == "brochure"
    assert kept["argv"] == []
    assert "title over its command line" in kept["withheld"]


@pytest.mark.slow
@pytest.mark.parametrize("more", [("--workers", "2"), ("--reload",)])
def test_uvicorn_is_one_app_however_many_processes_it_is(
    served: Served, more: tuple[str, ...]
) -> None:
    port, cwd = free_port(), folder(served, f"orders{len(more)}")
    (cwd / "main.py").write_text(ASGI)
    argv = (sys.executable, "-m", "uvicorn", "main:app", "--port", str(port), *more)

    with runs(*argv, cwd=cwd):
        found, kept = app(served, port), remembered(served, port)

    assert found["name"] == cwd.name
    assert kept["argv"] == list(argv)


@pytest.mark.slow
def test_a_console_script_comes_back_on_another_port_as_the_same_app(served: Served) -> None:
    first, second, cwd = free_port(), free_port(), folder(served, "datatool")
    (cwd / "serve-data").write_text(TOOL.format(python=sys.executable))
    (cwd / "serve-data").chmod(0o755)

    with runs("./serve-data", str(first), cwd=cwd):
        before = app(served, first)
    with runs("./serve-data", str(second), cwd=cwd):
        after = app(served, second)

    assert (before["name"], after["slug"]) == ("datatool", before["slug"])
    assert not [one for one in served.state()["apps"] if one["port"] == first]


@pytest.mark.slow
def test_caddy_a_go_binary_and_nginx_of_the_user_are_apps(served: Served) -> None:
    caddy, nginx = needed("caddy"), needed("nginx")
    ports = {name: free_port() for name in ("handbook", "intranet")}
    cwds = {name: folder(served, name) for name in ports}
    (config := cwds["intranet"] / "nginx.conf").write_text(
        NGINX.format(cwds["intranet"], ports["intranet"])
    )
    listens = ("--listen", f"127.0.0.1:{ports['handbook']}")

    with (
        runs(caddy, "file-server", *listens, cwd=cwds["handbook"]),
        runs(nginx, "-p", str(config.parent), "-c", str(config), cwd=cwds["intranet"]),
    ):
        found = {name: app(served, port) for name, port in ports.items()}
        kept = remembered(served, ports["intranet"])

    assert {name: one["name"] for name, one in found.items()} == {name: name for name in ports}
    assert kept["argv"] == [nginx, "-p", str(config.parent), "-c", str(config)]


def test_tls_of_python_is_an_app_with_an_https_address(served: Served, tmp_path: Path) -> None:
    port, cwd = free_port(), folder(served, "vault")
    made = make_certificate(tmp_path)

    with runs(sys.executable, "-c", TLS, str(port), *map(str, made), cwd=cwd):
        found = app(served, port)

    assert (found["name"], found["url"]) == ("vault", f"https://localhost:{port}/")
