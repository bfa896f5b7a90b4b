"""The own port: named by the environment, else by config.yaml; taken, it is given up."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import yaml

from tests.service import QUIET, Service, until


def test_a_taken_port_is_given_up_and_named(tmp_path: Path) -> None:
    service = Service(tmp_path, scheduler=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", service.ports["dashboard"]))
        taken.listen()
        with service:
            state = until(lambda: mounted(service), what="the state under the mount")

    [error] = [one for one in state["fileErrors"] if one["file"] == "config.yaml"]
    port = service.ports["dashboard"]
    assert error["message"].startswith(f"port {port} is held by ")
    assert error["message"].endswith("serving only /dashboard on the main port")


def test_the_port_of_config_yaml_counts_where_nothing_else_names_one(tmp_path: Path) -> None:
    service = Service(tmp_path, scheduler=False)
    port = service.ports["dashboard"]
    del service.env["SVC_DASHBOARD_PORT"]
    path = service.data / "dashboard" / "config.yaml"
    quiet = yaml.safe_dump(QUIET)
    path.parent.mkdir()
    path.write_text(f"{quiet}port: {port}\n")
    with service:
        until(lambda: mounted(service))
        own = httpx.get(f"{service.dashboard_url}/api/state", trust_env=False)
        assert own.json()["config"]["restartNeeded"] == []

        path.write_text(f"{quiet}port: 4999\n")

        needed = until(lambda: mounted(service)["config"]["restartNeeded"])
        assert needed == ["port"]


def mounted(service: Service) -> dict:  # type: ignore[type-arg]
    answer = service.http.get("/dashboard/api/state")
    return answer.json() if answer.status_code == 200 else {}
