"""Which further name the dashboard is reached by (sections 3.1 and 4)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings

from dashboard.api import hosts


@pytest.mark.parametrize(
    ("host", "names"),
    [(None, set()), ("apps.localhost", {"apps.localhost"}), ("Example.Dev.", {"example.dev"})],
)
def test_the_name_is_the_one_config_yaml_has_now(monkeypatch, host, names):
    config = SimpleNamespace(fronted=SimpleNamespace(host=host))
    monkeypatch.setattr(hosts, "current", lambda: SimpleNamespace(config=config))

    assert hosts.fronted() == names


def test_the_setting_wins_over_the_file_and_needs_no_daemon(settings):
    assert hosts.fronted() == set()

    settings.SVC = replace(django_settings.SVC, fronted_host=("Example.Dev",))

    assert hosts.fronted() == {"example.dev"}
