"""Where the command line looks for the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.management.client import Client, NotReachable, base_url


def written(folder: Path, facts: Any) -> Path:
    (folder / "state").mkdir(exist_ok=True)
    (folder / "state" / "server.json").write_text(
        facts if isinstance(facts, str) else json.dumps(facts)
    )
    return folder


def test_the_variable_wins_over_what_the_server_wrote(tmp_path: Path):
    folder = written(tmp_path, {"ports": {"dashboard": 4300}})

    assert base_url({"SVC_DASHBOARD_URL": "http://x:1/d/ "}, folder) == "http://x:1/d"
    assert base_url({"SVC_DASHBOARD_URL": ""}, folder) == "http://localhost:4300"


def test_without_a_port_of_its_own_it_is_the_mount_on_the_main_port(tmp_path: Path):
    folder = written(tmp_path, {"ports": {"main": 8001}})

    assert base_url({}, folder) == "http://localhost:8001/dashboard"


@pytest.mark.parametrize("facts", ["", "{", "[]", '{"ports": null}', "{}"])
def test_without_a_server_it_is_the_default_port(tmp_path: Path, facts: str):
    assert base_url({}, tmp_path) == "http://localhost:4255"
    assert base_url({}, written(tmp_path, facts)) == "http://localhost:4255"


@pytest.mark.parametrize(
    "url", ["ftp://x", "localhost:4255", "http://", "http://x:99999", "http://x:a"]
)
def test_what_is_no_address_is_named(url: str):
    with pytest.raises(NotReachable, match="SVC_DASHBOARD_URL must be an http address"):
        Client(url)
