"""A backup made under a storm of writes comes back whole, and the doctor finds nothing."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from secrets import token_hex

import pytest

from config.storage import yamlio
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.promises.rings import few, ring
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
        growing = folder / "growing.jsonl"
        with growing.open("ab", buffering=0) as stream:
            number = growing.read_bytes().count(b"\n")  # of the storms before
            while not self.stop.is_set():
                number += 1
                stream.write(json.dumps({"seq": number, "text": "x" * 500}).encode() + b"\n")
                passing = folder / f"passing-{number}"
                passing.write_bytes(b"x")
                passing.unlink()
                self.stop.wait(0.001)


# The first crossing shows both stores, each on one side.
WAYS = [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite"), ("postgres",) * 2]


@pytest.mark.promise("R5")
@pytest.mark.parametrize(("store", "other"), few(WAYS, 1))
def test_a_backup_under_writes_is_restored_elsewhere_without_a_finding(
    tmp_path: Path, store: str, other: str, request: pytest.FixtureRequest
):
    def on(kind: str, folder: str) -> Service:
        url = {} if kind == "sqlite" else {"SVC_DATABASE_URL": fresh(request)}
        service = Service(tmp_path / folder, scheduler=False, env=url)
        if kind == "sqlite":
            service.env.pop("SVC_DATABASE_URL", None)
        return service

    here = on(store, "here")
    if store == "postgres":
        here.run("migrate", "--verbosity", "0").check_returncode()
    with here as service:
        for number in range(PROJECTS):
            made = service.http.post("/api/projects", json={"name": f"P{number}"})
            assert made.status_code == 201, made.text
        for round_number in range(ring(fast=1, slow=25)):
            archive = tmp_path / f"backup-{round_number}.tar.gz"
            with Storm(service) as storm:
                until(lambda: storm.writes > 3, what="the storm blows")
                done = service.run("backup", str(archive))
            assert done.returncode == 0, done.stderr
            assert "left out on purpose: secret key" in done.stdout
            assert "<projects>/.svc (not that of a project, which is in it)" in done.stdout
            assert ("all compared" in done.stdout) is (store == "postgres")
            restored_well(on(other, f"there-{round_number}"), archive)


def fresh(request: pytest.FixtureRequest) -> str:
    """The address of an empty database, on a server that is started when it is asked for."""
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.create(f"r5-{token_hex(6)}")


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
    assert there.faults() == []


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
