"""Fixtures of the listener tests."""

from tests.dashboard.listeners.servers import servers

__all__ = ["servers"]
