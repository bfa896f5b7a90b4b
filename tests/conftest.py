"""Fixtures of all tests. What a test run may see is decided in tests/isolation.py, before this."""

from __future__ import annotations

from tests.service import service, shared_service, stopped_service  # noqa: F401 - fixtures
