"""G11: a file tool sees and changes no more than a command does, in every mode and whatever engine
runs it, also as root; and a command has no capability with which to move the wall."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.promises.rings import few
from tests.workspace.chats.turns.world import World, book, fence, only
from tests.workspace.engines.conformance.drivers import ALL, Driver, Use, driving
from tests.workspace.engines.test_sandbox import confined, inside

pytestmark = [pytest.mark.promise("G11"), inside]

MARK = "MARK-OF-A-SECRET"
WITH_FILE_TOOLS = [name for name in ALL if name != "acp"]  # its agents bring their own


def secrets(world: World) -> list[Path]:
    """What lies behind the wall: keys, settings, another project, and links to them."""
    names = ("user/.ssh/id_rsa", "user/.npmrc", "data/svc.config.yaml", "projects/beta/notes.md")
    paths = [world.root / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{MARK}\n")
    (world.project / "link").symlink_to(paths[0])
    (world.project / "folder").symlink_to(world.root / "user")
    return [*paths, world.project / "link", world.project / "folder/.npmrc"]


def attempts(path: Path) -> list[Use]:
    """Each tool that could show or change a file."""
    change = {"file_path": str(path), "old_string": MARK, "new_string": "x"}
    return [
        Use("Read", {"file_path": str(path)}),
        Use("Grep", {"pattern": MARK, "path": str(path.parent), "output_mode": "content"}),
        Use("Glob", {"pattern": "**/*", "path": str(path.parent)}),
        Use("Edit", change),
        Use("Write", {"file_path": str(path), "content": "x"}),
        Use("Bash", {"command": f"cat {path}"}),
    ]


def tried(driver: Driver, uses: list[Use], mode: str) -> list[dict[str, Any]]:
    driver.expect(*uses)
    around = {**confined(driver.world), "mode": mode, "attended": False}
    tools = sorted({use.tool for use in uses})
    return driver.run(**around, tools=tools)


@pytest.mark.parametrize("name", WITH_FILE_TOOLS)
@pytest.mark.parametrize("mode", few(["bypassPermissions", "acceptEdits", "default"], 1))
def test_no_tool_shows_or_changes_what_lies_behind_the_wall(name, mode, tmp_path):
    if missing := ALL[name].missing():
        pytest.skip(missing)
    with driving(name, tmp_path) as driver:
        paths = secrets(driver.world)
        # What is written over a covered folder lies in the cover, and is seen there afterwards.
        uses = [use for path in paths for use in attempts(path)]
        records = tried(driver, sorted(uses, key=lambda use: use.tool == "Write"), mode)

    tools = {record["call"]: record["tool"] for record in records if record["type"] == "tool_use"}
    results = [record for record in records if record["type"] == "tool_result"]
    assert len(results) >= len(paths) * len(attempts(paths[0]))
    for result in results:
        assert result["text"].strip() != MARK
        assert f":{MARK}" not in result["text"]
        assert f"\t{MARK}" not in result["text"]
        if tools[result["call"]] == "Glob":
            assert not any(path.name in result["text"] for path in paths[:4])
    for path in paths[:4]:
        assert path.read_text() == f"{MARK}\n"


@pytest.mark.parametrize("tool", ["Read", "Bash"])
def test_no_tool_reads_this_machine_by_its_processes(tool, tmp_path):
    world = World(tmp_path)
    os.environ["SVC_TEST_SECRET"] = MARK
    path = f"/proc/{os.getpid()}/environ"
    use = fence("Bash", f"cat {path}", "allow_failure")
    if tool == "Read":
        use = fence("Read", json.dumps({"file_path": path}), "allow_failure")
    found = only(world.run(book(use), **confined(world)), "tool_result")
    assert found["is_error"]
    assert MARK not in found["text"]


@pytest.mark.skipif(os.geteuid() != 0, reason="what root could do is tried as root")
def test_root_inside_moves_no_wall(tmp_path):
    world = World(tmp_path)
    (world.project / "project.yaml").write_text("name: alpha\n")
    (tmp_path / "of-another-user").write_text(MARK)
    os.chown(tmp_path / "of-another-user", 65534, 65534)
    (tmp_path / "of-another-user").chmod(0o600)
    tries = (
        "mount -t tmpfs x /mnt", 'umount "$PWD/project.yaml"', "echo x >> project.yaml",
        "unshare -m true", f"cat {tmp_path}/of-another-user", "chroot / true",
        "mknod x b 1 1", "echo x > /proc/sys/kernel/core_pattern", "mkdir -p .svc/triggers",
    )  # fmt: skip
    quiet = "{ %s; } >/dev/null 2>&1 && echo worked: %d"
    command = "; ".join(quiet % (one, i) for i, one in enumerate(tries))
    records = world.run(
        book(fence("Bash", command, "allow_failure")), **confined(world), mode="default",
        tools=["Bash"],
    )  # fmt: skip
    assert "worked" not in only(records, "tool_result")["text"]
    assert (world.project / "project.yaml").read_text() == "name: alpha\n"
