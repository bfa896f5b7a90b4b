"""`manage.py doctor`: what it finds, and that it ends with 1 only for a fault."""

from __future__ import annotations

import os
import signal
import socket

import pytest


def test_a_healthy_service_has_no_fault(stopped_service):
    stopped_service.start()

    found = stopped_service.findings()

    texts = {one["subject"]: one["text"] for one in found}
    assert stopped_service.faults() == []
    assert texts["server"].endswith("healthy")
    assert texts["port main"] == f"{stopped_service.ports['main']}, served"
    faults = sum(one["level"] == "fault" for one in found)
    last = stopped_service.run("doctor").stdout.splitlines()[-1]
    assert last == ("no faults" if not faults else "1 fault")  # of a disk that is full


@pytest.mark.parametrize(
    ("env", "level", "text"),
    [
        ({"TZ": "Asia/Tokyo"}, "ok", "Asia/Tokyo, the host's (TZ)"),
        (
            {"TZ": "Asia/Tokyo", "SVC_TIMEZONE": "Europe/Berlin"},
            "ok",
            "Europe/Berlin, as the configuration says; the host's is Asia/Tokyo",
        ),
        (
            {"TZ": "Nowhere"},
            "hint",
            'UTC: "Nowhere" names no time zone; UTC is used; '
            "name one with `timezone:` in svc.config.yaml",
        ),
    ],
)
def test_the_time_zone_is_named_with_who_said_it(stopped_service, env, level, text):
    stopped_service.env |= env

    (found,) = [one for one in stopped_service.findings() if one["subject"] == "time zone"]

    assert (found["level"], found["text"]) == (level, text)


@pytest.mark.slow
def test_a_server_that_hangs_is_a_fault(stopped_service):
    stopped_service.start()
    pid = stopped_service.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        found = stopped_service.faults()
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
        found = "\n".join(service.faults())

    assert f"port main: {service.ports['main']} is held by " in found
    assert f"data directory: {service.data} is open to others (0755)" in found
    assert "project alpha: project.yaml: " in found


def test_a_damaged_database_is_a_fault(stopped_service):
    service = stopped_service
    service._use_template()
    with (service.data / "svc.sqlite3").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40960)

    assert any("database" in text or "data_base" in text for text in service.faults())
