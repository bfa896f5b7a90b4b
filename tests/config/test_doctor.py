"""`manage.py doctor`: what it finds, and that it ends with 1 only for a fault."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from tests.service import free_port


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


def test_a_directory_that_was_never_started_has_no_fault(stopped_service):
    service = stopped_service
    service.env.pop("SVC_DATABASE_URL", None)
    channels = "notify: [{name: bell, command: ['true'], events: [asked]}]\n"
    (service.data / "svc.config.yaml").write_text(channels)

    assert service.faults() == []
    assert "bell: true" in service.run("notify").stdout
    assert not (service.data / "svc.sqlite3").exists()


def test_a_project_whose_turns_lack_their_directory_or_network_is_a_fault(stopped_service):
    service = stopped_service
    service._use_template()
    files = {"away": "path: /nope/x\n", "shut": "network: bogus\n", "odd": "status: dead\n"}
    for slug, text in files.items():
        (service.projects / slug).mkdir(parents=True)
        (service.projects / slug / "project.yaml").write_text(text)

    found = service.findings()

    told = {one["subject"]: (one["level"], one["text"]) for one in found}
    assert told["project away"] == (
        "fault",
        "path: is not there: bring it back, or name another directory (/nope/x)",
    )
    level, text = told["project shut"]
    assert level == "fault"
    assert text.endswith("until it is mended no turn here has a network (off)")
    assert told["project odd"] == ("hint", "status: not usable, the default holds")


def test_a_start_that_would_be_refused_is_a_fault_with_the_same_reason(stopped_service):
    service = stopped_service
    port, tls = service.ports["main"], free_port()
    service.env |= {"SVC_HOST": "192.0.2.55", "SVC_TLS_HOST": "127.0.0.1"}
    service.env |= {"SVC_TLS_PORT": f"{tls}", "SVC_TLS_CERT": "/nope.pem", "SVC_TLS_KEY": "/nope"}

    found = service.faults()

    address = f"cannot listen on 192.0.2.55 port {port}: cannot assign requested address"
    assert f"port main: {address}" in found
    assert service.run("up").stderr.endswith(f"not starting: {address}\n")
    service.env["SVC_HOST"] = "127.0.0.1"
    pair = (
        "SVC_TLS_CERT and SVC_TLS_KEY: /nope.pem and /nope are no readable certificate chain and "
        "private key that belong together"
    )
    assert service.faults() == [f"certificate: {pair}"]
    assert f"not starting: {pair}\n" in service.run("up").stderr


def test_a_damaged_database_is_a_fault(stopped_service):
    service = stopped_service
    service._use_template()
    with (service.data / "svc.sqlite3").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40960)

    assert any("database" in text or "data_base" in text for text in service.faults())
