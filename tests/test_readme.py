"""The console walk-throughs run as they stand: each command, and what it is said to print.

In an expected line `…` stands for anything. The three addresses of the service become those of the
one under test, and the port of the app it finds a free one; the home is that of the service, and
nothing else is changed.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.promises.rings import few
from tests.service import ROOT, Service, free_port

NAMES = ("README.md", "docs/review.md", "docs/loop.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
ADDRESSES = {"localhost:8000": "main", "localhost:5622": "review", "localhost:4255": "dashboard"}
APP_PORT = "3210"  # of the server that the README starts
LEAVE_NOTHING = "trap 'kill $(jobs -p) 2> /dev/null || :' EXIT"
MARK = "printf '\\n--- step ---\\n'"


@dataclass(slots=True)
class Step:
    """One command (with the lines of its here-document) and the lines it is said to print."""

    command: str
    prints: list[str] = field(default_factory=list)

    def printed(self, output: str) -> bool:
        pattern = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in self.prints)
        return re.fullmatch(pattern, output.strip()) is not None


def steps(page: str) -> list[Step]:
    found: list[Step] = []
    ending = ""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if ending:
                found[-1].command += f"\n{line}"
                ending = "" if line == ending else ending
            elif line.startswith("$ "):
                found.append(Step(line[2:]))
                heredoc = re.search(r"<<'(\w+)'", line)
                ending = heredoc[1] if heredoc else ""
            else:
                found[-1].prints.append(line)
    return found


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all pages: its dashboard finds what a page starts, and it has the channel that
    docs/loop.md names.
    """
    folder, scanning = tmp_path_factory.mktemp("readme"), {"screenshots": {"enabled": False}}
    blocks = re.findall(
        r"^```yaml\n(notify:.*?)^```", PAGES["docs/loop.md"], re.MULTILINE | re.DOTALL
    )
    with Service(folder, config=yaml.safe_load(blocks[0]), dashboard=scanning) as running:
        yield running


@pytest.mark.parametrize("name", few([*PAGES], 1))
def test_a_walk_through_prints_what_its_page_says(
    shared_service: Service, tmp_path: Path, name: str
) -> None:
    walk, ports = steps(PAGES[name]), shared_service.ports
    script = "\n".join([LEAVE_NOTHING, *(f"{MARK}\n{step.command}" for step in walk)])
    for said, part in ADDRESSES.items():
        script = script.replace(said, f"127.0.0.1:{ports[part]}")
    script = script.replace(APP_PORT, str(free_port()))

    done = subprocess.run(
        ["timeout", "150", "bash", "-eu", "-c", script],
        cwd=tmp_path, env=os.environ | {"HOME": str(shared_service.home)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    outputs = done.stdout.split("\n--- step ---\n")[1:]
    wrong = [
        (step.command, output)
        for step, output in zip(walk, outputs, strict=True)
        if not step.printed(output)
    ]
    assert wrong == []


def test_every_relative_link_of_the_readme_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGES["README.md"])

    assert [link for link in links if not (ROOT / link).exists()] == []
