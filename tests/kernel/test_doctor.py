"""`manage.py doctor`: what it finds, and that it ends with 1 only for a fault."""

from __future__ import annotations

import json
import os
import signal
import socket
from typing import Any

import pytest

from tests.service import Service

pytestmark = pytest.mark.service


def findings(service: Service, code: int = 0) -> list[dict[str, Any]]:
    done = service.run("doctor", "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def faults(service: Service) -> list[str]:
    return [
        f"{one['subject']}: {one['text']}"
        for one in findings(service, 1)
        if one["level"] == "fault"
    ]


def test_a_healthy_service_has_no_fault(stopped_service):
    stopped_service.start()

    found = findings(stopped_service)

    texts = {one["subject"]: one["text"] for one in found}
    assert "fault" not in {one["level"] for one in found}
    assert texts["server"].endswith("healthy")
    assert texts["port main"] == f"{stopped_service.ports['main']}, served"
    assert stopped_service.run("doctor").stdout.endswith("no faults\n")


def test_a_server_that_hangs_is_a_fault(stopped_service):
    stopped_service.start()
    pid = stopped_service.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        found = faults(stopped_service)
    finally:
        os.kill(pid, signal.SIGCONT)

    assert [text for text in found if text.startswith(f"server: pid {pid} does not answer")]


def test_everything_that_is_wrong_is_named_at_once(stopped_service):
    service = stopped_service
    service._use_template()
    service.data.chmod(0o755)
    broken = service.projects / "alpha" / "project.yaml"
    broken.parent.mkdir(parents=True)
    broken.write_text("name: Alpha\ntriggers: [\n")
    with socket.create_server(("127.0.0.1", service.ports["main"])):
        found = "\n".join(faults(service))

    assert f"port main: {service.ports['main']} is held by " in found
    assert f"data directory: {service.data} is open to others (0755)" in found
    assert "project alpha: project.yaml: " in found


def test_a_damaged_database_is_a_fault(stopped_service):
    service = stopped_service
    service._use_template()
    with (service.data / "svc.sqlite3").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40960)

    assert any("database" in text or "data_base" in text for text in faults(service))
