"""A daemon of the test's own, over a home of its own; one service for what needs a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dashboard import daemon as daemons
from dashboard.daemon import Daemon
from dashboard.files import reading
from tests.dashboard.served import NO_PICTURES, Served
from tests.service import within_block


@pytest.fixture
def home(tmp_path: Path, settings) -> Iterator[Path]:
    settings.DATA_DIR = tmp_path
    home = tmp_path / "dashboard"
    (home / "apps").mkdir(parents=True)
    (home / "config.yaml").write_text(yaml.safe_dump(within_block(NO_PICTURES)))
    reading.clear()
    yield home
    reading.clear()


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    """Not yet started; what it is told of files it reads from `home`."""
    made = Daemon()
    yield made
    daemons.serve(None)
    made.stop()


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Each test has apps and directories of its own."""
    with Served(tmp_path_factory.mktemp("served")) as running:
        yield running
