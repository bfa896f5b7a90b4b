"""Containerfile and compose.yaml: what they take, how they run it, and that it serves.

No container runtime is needed: the steps are read from the files and done by hand.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.process import supervise
from tests.service import ROOT, Service

LINES = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text()).splitlines()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]


def instructions(name: str) -> list[str]:
    """The arguments of every line of the Containerfile with that instruction."""
    return [line.partition(" ")[2].strip() for line in LINES if line.startswith(f"{name} ")]


def context() -> list[str]:
    """The paths at the top of the build context: .dockerignore lets in what it names."""
    allowed = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]  # fmt: skip
    names = [path.name for path in ROOT.iterdir()]
    return [name for name in names if any(fnmatch.fnmatch(name, one) for one in allowed)]


def copied() -> list[str]:
    """What the Containerfile takes from the context."""
    found = []
    for line in instructions("COPY"):
        if not line.startswith("--from"):
            *sources, _target = shlex.split(line)
            found += [path.name for source in sources for path in ROOT.glob(source)]
    return found


def test_the_build_takes_exactly_what_the_context_lets_in() -> None:
    assert sorted(copied()) == sorted(context())
    assert not {".git", ".venv", "tests"} & set(context())


def test_images_come_from_the_usual_place_and_with_a_version() -> None:
    bases = [line.split()[0] for line in instructions("FROM")]
    images = [one["image"] for one in SERVICES.values() if "build" not in one]

    assert bases == ["python:${PYTHON}-slim-bookworm"] * 2
    assert all(re.fullmatch(r"[a-z]+:[0-9][\w.-]*", image) for image in images), images


def test_it_does_not_run_as_root_and_keeps_its_data_in_one_place() -> None:
    assert instructions("USER") == ["svc"]
    assert instructions("VOLUME") == ["/data"]
    assert any("SVC_DATA_DIR=/data" in line for line in instructions("ENV"))
    run = " ".join(instructions("RUN"))
    assert "--require-hashes" in run
    assert "useradd --uid 1000" in run


class Image(Service):
    """A service that runs from a copy of what the image holds."""

    app: Path

    def spawn(self, *command: str, **kwargs: Any) -> subprocess.Popen[str]:
        assert command == tuple(json.loads(instructions("CMD")[0])[2:])
        argv = [sys.executable, str(self.app / "manage.py"), *command]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            argv, env=self.env, cwd=self.app, text=True, start_new_session=True, **pipes | kwargs
        )


def test_what_the_image_holds_is_enough_to_serve_and_passes_its_health_check(
    tmp_path: Path,
) -> None:
    app = tmp_path / "app"
    app.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, app / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, app / name)
    before = {path for path in app.rglob("*") if "__pycache__" not in path.parts}
    image = Image(tmp_path, scheduler=False)
    image.app = app
    image.env["http_proxy"] = "http://127.0.0.1:1"  # as a container runtime may hand it in
    check = json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])

    def healthy() -> int:
        command = [sys.executable, *check[1:]]
        return subprocess.run(command, env=image.env, check=False, capture_output=True).returncode

    assert healthy() != 0
    with image:
        assert healthy() == 0
        assert image.http.post("/api/demo", json={}).status_code == 201

    assert {path for path in app.rglob("*") if "__pycache__" not in path.parts} == before


def test_compose_starts_one_service_unless_the_cluster_is_asked_for() -> None:
    profiles = {name: one.get("profiles", []) for name, one in SERVICES.items()}

    assert profiles == {"svc": [], "postgres": ["cluster"], "redis": ["cluster"]}
    needs = SERVICES["svc"]["depends_on"]
    assert all(need == {"condition": "service_healthy", "required": False}
               for need in needs.values())  # fmt: skip
    assert set(needs) == {"postgres", "redis"}
    assert all("healthcheck" in SERVICES[name] for name in needs)


def test_what_a_file_of_settings_cannot_set_is_documented() -> None:
    _, _, text = (ROOT / "docs/operations.md").read_text().partition("- Settings and tokens are in")
    told, _, _ = text.partition("\n- ")

    assert set(SERVICES["svc"]["environment"]) == set(re.findall(r"`(SVC_\w+)`", told))


def test_nothing_is_published_beyond_this_machine() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", [])]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert SERVICES["svc"]["network_mode"] == "host"
    assert "SVC_HOST" not in SERVICES["svc"]["environment"]


def test_data_is_in_volumes_and_a_stop_has_time_to_end_cleanly() -> None:
    volumes = {volume.split(":")[0] for one in SERVICES.values() for volume in one["volumes"]}
    assert volumes == set(COMPOSE["volumes"])
    assert int(SERVICES["svc"]["stop_grace_period"].rstrip("s")) >= 2 * supervise.STOP_S
    assert SERVICES["svc"]["read_only"] is True
    assert SERVICES["svc"]["cap_drop"] == ["ALL"]


def test_user_1000_may_write_wherever_a_read_only_container_lets_anybody() -> None:
    """A volume takes the owner of the image's folder; not every runtime can give a tmpfs one."""
    home = "/home/svc"
    made = " ".join(instructions("RUN"))
    targets = {volume.split(":")[1] for volume in SERVICES["svc"]["volumes"]}

    assert SERVICES["svc"]["tmpfs"] == ["/tmp"]
    assert targets == {"/data", home}
    assert "useradd --uid 1000 --create-home" in made
    assert "install -d -o svc -g svc -m 700 /data" in made


def test_the_image_holds_no_installer_and_no_package_lists() -> None:
    build, final = instructions("RUN")[:2]

    assert "pip uninstall" in build
    assert "--no-cache-dir" in build
    assert "apt-get clean" in final
    assert "rm -rf /var/lib/apt/lists/*" in final


@pytest.mark.parametrize("name", ["svc", "postgres", "redis"])
def test_no_secret_stands_in_the_file(name: str) -> None:
    for key, value in SERVICES[name].get("environment", {}).items():
        assert "PASSWORD" not in key or value == "${SVC_POSTGRES_PASSWORD:-}"
