"""One service with the dashboard on for all tests of its API; each test has slugs of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import httpx
import pytest

from tests.dashboard.served import Served
from tests.described import Api, Description

NUMBERS = count(1)


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("api")) as running:
        yield running
        assert "/dashboard/api/" not in running.log()  # what the description's maker complains of
        assert [line for line in running.log().splitlines() if '"level":"error"' in line] == []


@pytest.fixture(scope="package")
def description(served: Served) -> Description:
    answer = httpx.get(f"{served.dashboard_url}/api/schema", timeout=30, trust_env=False)
    return Description(answer.json())


@pytest.fixture(scope="package")
def api(served: Served, description: Description) -> Iterator[Api]:
    """The own port; every answer is held against the description."""
    made = Api(served.dashboard_url, description)
    yield made
    made.client.close()


@pytest.fixture(scope="package")
def mounted(served: Served, description: Description) -> Iterator[Api]:
    """The mount on the main port."""
    made = Api(f"{served.url}/dashboard", description)
    yield made
    made.client.close()


@pytest.fixture
def slug() -> str:
    """A name that no app has."""
    return f"shop-{next(NUMBERS)}"
