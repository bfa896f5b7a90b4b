"""Fixtures of the tests of notifications."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine

from tests.stubs.receiver import Receiver, receiving
from tests.workspace.notify.world import START, Clock


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as stub:
        yield stub


@pytest.fixture
def clock(transactional_db: None) -> Iterator[Clock]:
    with time_machine.travel(START, tick=False) as traveller:
        yield Clock(traveller)
