"""What doctor says of the version, the unit, the tokens' file and the logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.process import installation, units
from tests.config.test_release import NEXT, used_by
from tests.service import Service


@pytest.fixture
def installed(stopped_service: Service) -> Service:
    service = stopped_service
    service.env.pop("XDG_CONFIG_HOME", None)
    service.data.chmod(0o700)
    service._use_template()
    return service


def unit(service: Service, text: str) -> Path:
    path = service.home / ".config" / "systemd" / "user" / "svc.service"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.slow
def test_data_that_a_newer_version_used_is_a_fault(installed: Service) -> None:
    used_by(installed.data, NEXT)

    assert any(
        fault.startswith(f"release: last used by svc {NEXT}") for fault in installed.faults()
    )


@pytest.mark.slow
def test_a_file_of_tokens_that_others_can_read_is_a_fault(installed: Service) -> None:
    path = installed.data / "service.env"
    path.touch(mode=0o644)

    path.chmod(0o644)
    told = f"environment file: {path} is open to others (0644): chmod 600 {path}"
    assert told in installed.faults()
    path.chmod(0o600)
    assert "environment file" not in {one["subject"] for one in installed.findings()}


@pytest.mark.slow
@pytest.mark.parametrize("render", [units.systemd, units.launchd])
def test_a_unit_whose_checkout_is_gone_is_a_fault(installed: Service, render) -> None:
    gone = installed.home / "gone"
    job = units.Job("svc", gone, installed.data, gone / "python", "/bin")
    unit(installed, render(job))

    assert [
        fault for fault in installed.faults() if f"runs {gone}/manage.py, which is gone" in fault
    ]


@pytest.mark.slow
def test_a_unit_that_ends_apps_with_the_service_is_a_fault(installed: Service) -> None:
    text = installed.run("install-service", "--print", "systemd").stdout
    path = unit(installed, text)
    assert {"level": "ok", "subject": "unit", "text": str(path)} in installed.findings()

    unit(installed, text.replace("KillMode=process\n", ""))

    assert [fault for fault in installed.faults() if "add KillMode=process" in fault]


@pytest.mark.slow
def test_the_unit_of_another_data_directory_is_nobodys_business_here(installed: Service) -> None:
    text = installed.run("install-service", "--print", "systemd").stdout
    other = text.replace(str(installed.data), f"{installed.data}-2").replace("KillMode", "#")
    unit(installed, other)

    assert "unit" not in {one["subject"] for one in installed.findings()}


def test_many_logs_are_a_hint_with_the_bound_to_lower(installed: Service) -> None:
    log = installed.data / "logs" / "server.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as file:
        file.truncate((installation.KEPT_MB + 1) * 1024**2)

    hints = {one["subject"]: one["text"] for one in installed.findings() if one["level"] == "hint"}
    assert "services.logMaxBytes" in hints["logs"]


@pytest.mark.slow
def test_a_server_that_nobody_fires_for_is_a_hint(installed: Service) -> None:
    assert "qcluster" not in {one["subject"] for one in installed.findings()}

    installed.start()

    hints = {one["subject"]: one["text"] for one in installed.findings() if one["level"] == "hint"}
    assert "no turn starts" in hints["qcluster"]
