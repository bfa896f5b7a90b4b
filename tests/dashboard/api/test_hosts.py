"""Which further name the dashboard is reached by."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings

from dashboard.api import hosts
from tests.service import QUIET, Service, until


@pytest.mark.parametrize(
    ("host", "names"),
    [(None, set()), ("apps.localhost", {"apps.localhost"}), ("Example.Dev.", {"example.dev"})],
)
def test_the_name_is_the_one_config_yaml_has_now(monkeypatch, host, names):
    config = SimpleNamespace(fronted=SimpleNamespace(host=host))
    daemon = SimpleNamespace(state=SimpleNamespace(config=config))
    monkeypatch.setattr(hosts, "current", lambda: daemon)

    assert hosts.fronted_names() == names


def test_the_page_and_the_settings_name_the_host_that_is_answered(tmp_path):
    service = Service(
        tmp_path,
        env={"SVC_FRONTED_HOST": "Apps.Example"},
        scheduler=False,
        dashboard=QUIET | {"fronted": {"host": "written.example", "domain": "example"}},
    )
    with service:
        get = partial(httpx.get, trust_env=False)
        told = until(lambda: settings_of(get(f"{service.dashboard_url}/api/state")), what="state")
        config = get(f"{service.dashboard_url}/api/config").json()

        assert told["fronted"] == config["config"]["fronted"]
        assert told["fronted"]["host"] == "Apps.Example"
        assert config["source"]["fronted"]["host"] == "written.example"
        for host, status in (("apps.example", 200), ("written.example", 403)):
            asked = get(f"{service.dashboard_url}/api/health", headers={"Host": host})
            assert asked.status_code == status


def settings_of(answer: httpx.Response) -> dict[str, Any]:
    """The settings in a State, {} while there is none."""
    found: dict[str, Any] = answer.json().get("config", {})
    return found


def test_the_setting_wins_over_the_file_and_needs_no_daemon(settings):
    assert hosts.fronted_names() == set()

    settings.SVC = replace(django_settings.SVC, fronted_host=("Example.Dev",))

    assert hosts.fronted_names() == {"example.dev"}
