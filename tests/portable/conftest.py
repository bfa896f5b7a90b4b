"""One service for the whole folder, every process of which runs without Linux's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser, playwright  # noqa: F401 - fixtures
from tests.dashboard.served import Served
from tests.portable.python import made
from tests.service import STOP_S


class Elsewhere(Served):
    """A service on a system that is not Linux."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, scheduler=True)
        python, path = made(folder / "python")
        self.python = str(python)
        self.env |= {"PATH": path}

    def again(self) -> None:
        """Stopped and started; what its apps run lives on."""
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(STOP_S) == 0, self.output()
        self._forget()
        self.start()


@pytest.fixture(scope="package")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """Ends with the folder: it looks for apps, and would meet those of the tests that follow."""
    with Elsewhere(tmp_path_factory.mktemp("elsewhere")) as running:
        yield running
