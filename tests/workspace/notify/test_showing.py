"""What pages are told: new messages, and that what was asked is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.notify.world import Clock, cause
from workspace.notify import folding, showing

ASKED = cause("asked:c:1", "asked")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def publish(event: str, data: Any) -> None:
        found.append((event, data["id"]))

    monkeypatch.setattr(showing, "_publish", publish)
    return found


def test_a_question_is_shown_and_taken_back_once(clock: Clock, told: list[tuple[str, str]]):
    pages = showing.Pages()
    pages.look()
    for one in (ASKED, cause()):
        folding.note(one)
    pages.look()
    folding.withdraw(ASKED.key)
    pages.look()
    pages.look()

    assert [event for event, _ in told] == ["notification", "notification", "withdrawn"]
    assert told[0][1] == told[2][1]


def test_one_that_was_shown_hours_before_a_restart_is_taken_back_too(
    clock: Clock, told: list[tuple[str, str]]
):
    folding.note(ASKED)
    clock.on(hours=5)
    pages = showing.Pages()
    pages.look()
    folding.withdraw(ASKED.key)
    pages.look()

    assert [event for event, _ in told] == ["withdrawn"]


def test_one_that_was_answered_before_anybody_looked_is_never_shown(
    clock: Clock, told: list[tuple[str, str]]
):
    pages = showing.Pages()
    pages.look()
    folding.note(ASKED)
    folding.withdraw(ASKED.key)
    pages.look()

    assert told == []
