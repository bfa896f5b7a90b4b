"""A program under npm that writes a title over its arguments, before and after a reboot."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dashboard.served import NO_PICTURES, Served
from tests.service import free_port, until

# As Next.js does: what npm starts forks the server, which calls itself something else.
PROGRAM = """
const serve = (port) => require("http").createServer((question, answer) => {
  answer.setHeader("Content-Type", "text/html"); answer.end("<title>Shop</title>");
}).listen(+port, "127.0.0.1");
const [, file, port, forked] = process.argv;
if (forked === "--alone" || forked === "--forked") {
  process.title = "shop-server (v1)";
  serve(port);
} else {
  require("child_process").fork(file, [port, "--forked"]);
}
"""


@pytest.mark.slow
def test_a_title_is_never_a_command_what_was_typed_is(typed: tuple[Served, int, int]) -> None:
    served, npm, alone = typed

    lost = until(lambda: items(served, {npm, alone}), what="the notice")
    kept = served.api.post(f"/api/lost/{lost[npm]['id']}/service", json={"slug": "kept"}).json()

    assert (lost[npm]["command"], lost[npm]["name"]) == ("npm run dev", "shop")
    assert lost[alone]["blocked"].startswith("it wrote a title over its command line")
    assert kept["ok"], kept
    block = yaml.safe_load(served.file("kept").read_text())["service"]
    assert (block["command"], block["cwd"]) == (["npm", "run", "dev"], lost[npm]["cwd"])


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[tuple[Served, int, int]]:
    """After the reboot: the service, and the ports of what npm ran and of what ran alone."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    npm, alone = free_port(), free_port()
    folder = tmp_path / "src" / "shop"
    folder.mkdir(parents=True)
    (folder / "dev.js").write_text(PROGRAM)
    (folder / "package.json").write_text(
        json.dumps({"name": "shop", "scripts": {"dev": f"node dev.js {npm}"}})
    )
    scan = {"ports": f"{npm},{alone}"}
    served = Served(tmp_path, dashboard={**NO_PICTURES, "scan": scan, "lost": {"grace": 1}})
    served.env["SVC_TEST_BOOT_ID"] = "first"
    with served:
        with running(folder, ["npm", "run", "dev"], ["node", "dev.js", str(alone), "--alone"]):
            until(lambda: {npm, alone} <= remembered(served), seconds=30, what="remembered")
            served.kill9()
        served.env["SVC_TEST_BOOT_ID"] = "second"
        served.start()
        yield served, npm, alone


@contextlib.contextmanager
def running(folder: Path, *commands: list[str]) -> Iterator[None]:
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    env = {**os.environ, "npm_config_update_notifier": "false"}
    found = [
        subprocess.Popen(one, cwd=folder, env=env, start_new_session=True, **quiet)
        for one in commands
    ]
    try:
        yield
    finally:
        for process in found:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)


def remembered(served: Served) -> set[int]:
    with contextlib.suppress(FileNotFoundError):
        path = served.data / "state/dashboard/running.json"
        return {one["port"] for one in json.loads(path.read_bytes())["listeners"]}
    return set()


def items(served: Served, ports: set[int]) -> dict[int, dict[str, Any]]:
    found = (served.state()["lost"] or {"items": []})["items"]
    by_port = {one["port"]: one for one in found}
    return by_port if by_port.keys() == ports else {}
