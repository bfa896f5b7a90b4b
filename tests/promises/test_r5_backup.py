"""A backup made under a storm of writes comes back whole, and the doctor finds nothing."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from config.kernel.storage import yamlio
from tests.promises.rings import ring
from tests.service import Service, until

PROJECTS = 5


class Storm:
    """Writes through the running service, and straight into the files, until told to stop."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.stop = threading.Event()
        self.writes = 0
        self.threads = [threading.Thread(target=work) for work in (self.over_http, self.by_hand)]

    def __enter__(self) -> Storm:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def over_http(self) -> None:
        while not self.stop.is_set():
            slug = f"p{self.writes % PROJECTS}"
            answer = self.service.http.patch(
                f"/api/projects/{slug}", json={"summary": f"write {self.writes}"}
            )
            assert answer.status_code == 200, answer.text
            self.writes += 1
            self.stop.wait(0.005)

    def by_hand(self) -> None:
        """Transcripts grow and files come and go while they are read."""
        folder = self.service.projects / "p0"
        with (folder / "growing.jsonl").open("ab", buffering=0) as stream:
            number = 0
            while not self.stop.is_set():
                number += 1
                stream.write(json.dumps({"seq": number, "text": "x" * 500}).encode() + b"\n")
                passing = folder / f"passing-{number}"
                passing.write_bytes(b"x")
                passing.unlink()
                self.stop.wait(0.001)


@pytest.mark.service
@pytest.mark.promise("R5")
def test_a_backup_under_writes_is_restored_elsewhere_without_a_finding(tmp_path: Path):
    with Service(tmp_path / "here", scheduler=False) as service:
        for number in range(PROJECTS):
            made = service.http.post("/api/projects", json={"name": f"P{number}"})
            assert made.status_code == 201, made.text
        for round_number in range(ring(fast=1, slow=100)):
            archive = tmp_path / f"backup-{round_number}.tar.gz"
            with Storm(service) as storm:
                until(lambda: storm.writes > 3, what="the storm blows")
                done = service.run("backup", str(archive))
            assert done.returncode == 0, done.stderr
            assert "left out on purpose: secret key" in done.stdout
            there = Service(tmp_path / f"there-{round_number}", scheduler=False)
            restored_well(there, archive)


def restored_well(there: Service, archive: Path) -> None:
    done = there.run("restore", str(archive))
    assert done.returncode == 0, done.stderr
    assert f"workspace: {PROJECTS} projects" in done.stdout
    for number in range(PROJECTS):
        text = (there.projects / f"p{number}" / "project.yaml").read_bytes()
        assert yamlio.parse(text).value["name"] == f"P{number}"
    lines = (there.projects / "p0/growing.jsonl").read_bytes().split(b"\n")[:-1]
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines
    assert secrets(there) == []
    examined = there.run("doctor", "--json")
    findings = [json.loads(line) for line in examined.stdout.splitlines()]
    assert [f for f in findings if f["level"] == "fault"] == []


def secrets(there: Service) -> list[str]:
    """Files of the restored directory that hold a secret of the first one."""
    own = (there.data / "state/secret").read_bytes()
    first = (there.data.parent.parent / "here/data/state/secret").read_bytes()
    assert own != first
    held = []
    for root, _, names in os.walk(there.data):
        paths = [Path(root) / name for name in names]
        held += [str(p) for p in paths if p.is_file() and first in p.read_bytes()]
    return held
