"""Two hosts, alpha and beta."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.homes.hosts import Host
from tests.workspace.triggers.conftest import utc  # noqa: F401 - the zone of the host


@pytest.fixture
def alpha(db, settings, tmp_path: Path) -> Host:
    return Host(tmp_path / "alpha", settings)


@pytest.fixture
def beta(db, settings, tmp_path: Path) -> Host:
    return Host(tmp_path / "beta", settings)
