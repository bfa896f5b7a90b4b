"""What developers do every day goes on inside the sandbox: the real programs, over https to another
machine, through the proxy that their environment names."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import postgres as pg
from tests.far import THERE, far
from tests.network import SKIPPED, possible
from tests.workspace.chats.turns.world import World, book, fence, only
from tests.workspace.engines.test_sandbox import confined, inside
from workspace.engines.network import Network

pytestmark = [inside, pytest.mark.skipif(not possible(), reason=SKIPPED)]

BASE = f"https://{THERE}:8443"
SERVE = f"""
import functools, http.server, ssl
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="www")
server = http.server.ThreadingHTTPServer(("{THERE}", 8443), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("ca.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print("serving", flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A machine with a git repository and two package registries, and its certificate."""
    folder = tmp_path_factory.mktemp("site")
    certify(folder)
    www = folder / "www"
    (www / "npm").mkdir(parents=True)
    repository(folder, www / "repo.git")
    wheel(www / "simple" / "tiny")
    package(www / "npm")
    with ExitStack() as stack:
        machine = stack.enter_context(far())
        machine.start(sys.executable, "-c", SERVE, says="serving", cwd=folder, stderr=-3)
        yield folder


def certify(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-keyout", "key.pem", "-out", "ca.pem", "-subj", f"/CN={THERE}",
         "-addext", f"subjectAltName=IP:{THERE}"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


def git(*words: str | Path, cwd: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


def repository(folder: Path, bare: Path) -> None:
    """As files, the way any web server can offer it."""
    source = folder / "source"
    git("init", "-q", "-b", "main", source, cwd=folder)
    (source / "README").write_text("far away\n")
    git("add", ".", cwd=source)
    git("commit", "-qm", "One", cwd=source)
    git("clone", "-q", "--bare", source, bare, cwd=folder)
    git("update-server-info", cwd=bare)


def wheel(page: Path) -> None:
    page.mkdir(parents=True)
    meta = "tiny-1.0.dist-info"
    with zipfile.ZipFile(page / "tiny-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tiny.py", "WORD = 'from the index'\n")
        archive.writestr(f"{meta}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{meta}/WHEEL", tags)
        archive.writestr(f"{meta}/RECORD", "")
    (page / "index.html").write_text("<a href='tiny-1.0-py3-none-any.whl'>tiny</a>")


def package(registry: Path) -> None:
    data = io.BytesIO()
    described = {"name": "tiny", "version": "1.0.0", "main": "index.js"}
    files = {
        "package/package.json": json.dumps(described),
        "package/index.js": "module.exports = 'from the registry'\n",
    }
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    (registry / "tiny-1.0.0.tgz").write_bytes(data.getvalue())
    digest = base64.b64encode(hashlib.sha512(data.getvalue()).digest()).decode()
    dist = {"tarball": f"{BASE}/npm/tiny-1.0.0.tgz", "integrity": f"sha512-{digest}"}
    versions = {"1.0.0": {**described, "dist": dist}}
    index = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
    (registry / "tiny").write_text(json.dumps(index))


def work(tmp_path: Path, site: Path, command: str, ports: tuple[int, ...] = ()) -> str:
    world = World(tmp_path / "world")
    shutil.copy(site / "ca.pem", world.project / "ca.pem")
    records = world.run(
        book(fence("Bash", command)), **confined(world), network=Network(ports=ports)
    )
    text: str = only(records, "tool_result")["text"]
    assert only(records, "turn_end")["status"] == "ok", text
    return text


def test_git_clones_and_fetches_over_https(tmp_path, site):
    command = (
        "export GIT_SSL_CAINFO=$PWD/ca.pem; "
        f"git clone -q {BASE}/repo.git here && cd here && git fetch -q && cat README"
    )
    assert work(tmp_path, site, command) == "far away"


def test_pip_installs_from_an_index(tmp_path, site):
    command = (
        f"{sys.executable} -m pip install -q --disable-pip-version-check --no-deps --target lib "
        f"--cert ca.pem --index-url {BASE}/simple/ tiny && PYTHONPATH=lib {sys.executable} -c "
        "'import tiny; print(tiny.WORD)'"
    )
    assert work(tmp_path, site, command).endswith("from the index")


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed: apt install npm")
def test_npm_installs_from_a_registry(tmp_path, site):
    # behind a proxy npm compares a certificate with names only, never with an address
    command = (
        f"npm install --silent --no-update-notifier --no-audit --no-fund --strict-ssl=false "
        f"--registry {BASE}/npm/ tiny >/dev/null && node -p \"require('tiny')\""
    )
    assert work(tmp_path, site, command) == "from the registry"


@pytest.mark.skipif(pg.programs() is None, reason=pg.MISSING)
def test_a_test_suite_talks_to_the_postgresql_of_a_listed_port(tmp_path, site):
    with ExitStack() as stack:
        cluster = pg.Cluster(listen="127.0.0.1").start()
        stack.callback(cluster.remove)
        port = 5432
        ask = f"psql -h 127.0.0.1 -p {port} -U svc -d postgres -Atc 'select 6 * 7'"
        assert work(tmp_path, site, ask, (port,)) == "42"
