"""One service for all tests of the review API; each test has a project of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.service import Service


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("review")
    env = {"SVC_REVIEWER": "Ada <ada>"}
    with Service(folder, env=env, scheduler=False) as service:
        made = Served(service)
        yield made
        made.close()
        assert "/review/api/" not in service.log()  # what the description's maker complains of
        assert [line for line in service.log().splitlines() if '"level":"error"' in line] == []


@pytest.fixture
def api(served: Served) -> Api:
    return served.api


@pytest.fixture
def pay(served: Served, tmp_path: Path) -> Project:
    return served.project(tmp_path)
