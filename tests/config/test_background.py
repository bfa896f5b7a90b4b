"""What the server does beside its requests: its start and its end."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from config.process import heap
from config.web.http.serving import Serving

begun, go_on, stopped = threading.Event(), threading.Event(), threading.Event()


class Slow:
    """A part that takes its time to come up."""

    def start(self) -> None:
        begun.set()
        assert go_on.wait(10)

    def stop(self) -> None:
        stopped.set()


def test_a_part_that_is_being_started_when_the_server_stops_is_stopped_too(
    settings: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SVC_BACKGROUND = [f"{__name__}.Slow"]
    monkeypatch.setattr(heap, "freeze", lambda: None)
    serving = Serving()
    serving.ports = {"main": 8000}
    monkeypatch.setattr(serving.instance, "publish", lambda _state: None)
    serving._on_started()
    assert begun.wait(10)

    stopping = threading.Thread(target=serving._stop)
    stopping.start()
    assert serving._stopped.wait(10)
    go_on.set()
    stopping.join(10)

    assert stopped.is_set()
