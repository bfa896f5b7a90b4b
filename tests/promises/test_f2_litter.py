"""After kills and one start nothing is left: no temporary file, no lock, no process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.promises.rings import ring
from tests.service import ROOT, Service, still_running, until

WRITER = """
import sys, pathlib
from config.storage import files
path = pathlib.Path(sys.argv[1])
number = 0
while True:
    number += 1
    files.write(path, b"name: Demo\\n# %d\\n" % number)
    print(number, flush=True)
"""


def litter(service: Service) -> list[Path]:
    return [
        *service.data.rglob(".svc-tmp-*"),
        *(service.data / "state/locks").glob("*.lock"),
        *service.data.rglob("*.conflict-*"),
    ]


@pytest.mark.promise("F2")
def test_one_start_removes_all_that_killed_writers_left(tmp_path: Path):
    service = Service(tmp_path, scheduler=False)
    project = service.data / "projects/demo"
    project.mkdir(parents=True)
    for _ in range(ring(fast=1, slow=20)):
        kill_a_writer(service, project / "project.yaml")
    (service.data / "state/locks").mkdir(parents=True, exist_ok=True)
    (service.data / "state/locks/0123.lock").touch()
    assert litter(service)

    with service:
        until(lambda: not litter(service), what="the start swept")
        family = [
            psutil.Process(service.pid),
            *psutil.Process(service.pid).children(recursive=True),
        ]

    assert still_running(family, 10) == []
    assert (project / "project.yaml").read_bytes().startswith(b"name: Demo\n")


def kill_a_writer(service: Service, path: Path) -> None:
    argv = [sys.executable, "manage.py", "shell", "-v", "0", "-c", WRITER]
    code = WRITER.replace("sys.argv[1]", repr(str(path)))
    writer = subprocess.Popen(
        [*argv[:-1], code], cwd=ROOT, env=service.env, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for _ in range(5):
        assert writer.stdout.readline()
    writer.kill()
    writer.stdout.close()
    writer.wait()
