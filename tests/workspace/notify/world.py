"""What the tests of notifications share: causes, channels, a clock that is moved by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from workspace.notify import delivery, folding
from workspace.notify.causes import Cause

START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)  # half an hour before Europe's clocks go forward


def cause(key: str = "app_down:shop", event: str = "app_down", text: str = "no answer") -> Cause:
    return Cause(key, event, "shop is down", text, "dashboard", "/#app=shop")


def channels(settings: Any, *entries: dict[str, Any]) -> None:
    settings.SVC = replace(settings.SVC, notify=list(entries))


class Clock:
    """Moves the time of folding and delivery, and does what the ticker and a worker would."""

    def __init__(self, traveller: Any) -> None:
        self.traveller = traveller
        traveller.move_to(START)

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def on(self, **by: float) -> None:
        self.traveller.shift(timedelta(**by))
        self.work()

    def work(self) -> None:
        folding.close_windows(self.now)
        delivery.drain()
