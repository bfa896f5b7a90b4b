"""The short messages at the foot of a page."""

from __future__ import annotations

from playwright.sync_api import Page


def undo(page: Page, said: str) -> None:
    """Press Undo of the message that says so: others may come meanwhile."""
    page.locator(".toast", has_text=said).get_by_role("button", name="Undo").click()
