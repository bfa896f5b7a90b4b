"""Fixtures of all tests. What a test run may see is decided in tests/isolation.py, before this."""

from __future__ import annotations

import os

import pytest

from tests.service import service, shared_service, stopped_service  # noqa: F401 - fixtures

INSTALLED_BY_CI = ("Chromium", "bubblewrap", "axe-core")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """In CI nothing may be skipped for lack of what .ci/run installs (design 16)."""
    report = yield
    if (
        os.environ.get("SVC_CI")
        and report.skipped
        and any(word in str(report.longrepr) for word in INSTALLED_BY_CI)
    ):
        report.outcome = "failed"
    return report
