"""The control channel inside a turn process: when a stop may interrupt."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from workspace.engines.control import Control, TurnStopped


@pytest.fixture
def control() -> Iterator[Control]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield Control(reading)
    os.close(reading)
    os.close(writing)


def test_a_signal_interrupts_what_waits_and_nothing_else(control: Control) -> None:
    control._woken(signal.SIGTERM, None)

    control.reason = None
    with pytest.raises(TurnStopped, match="shutdown"), control:
        control._woken(signal.SIGTERM, None)


def test_a_wait_that_was_not_entered_is_not_interrupted_later(control: Control) -> None:
    control.reason = "user"
    with pytest.raises(TurnStopped, match="user"), control:
        raise AssertionError("it was entered")

    control._woken(signal.SIGTERM, None)
