"""One service for the whole folder, every process of which runs without Linux's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.dashboard.served import Served
from tests.portable.python import made


class Elsewhere(Served):
    """A service on a system that is not Linux."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, scheduler=True)
        python, path = made(folder / "python")
        self.python = str(python)
        self.env |= {"PATH": path}


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    with Elsewhere(tmp_path_factory.mktemp("elsewhere")) as running:
        yield running
