"""Fixtures of all tests. What a test run may see is decided in tests/isolation.py, before this."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate

from config.git import command
from config.storage import locks
from tests import postgres
from tests.service import service, shared_service, stopped_service  # noqa: F401 - fixtures
from workspace.chats import index

INSTALLED_BY_CI = (
    "Chromium", "bubblewrap", "axe-core", "is not installed", "PostgreSQL is not", "Redis is not",
    "network namespaces",
)  # fmt: skip


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """A private PostgreSQL goes as a whole, whatever threads still have open in it."""
    return postgres.chosen() is not None


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Where tables are emptied after a test, Django would fill those of permissions and of kinds of
    content, which nobody reads: that takes ten times as long as the rest."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(autouse=True)
def no_lock_is_taken_in_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds a lock may be waiting for the database: the other way round is a deadlock."""
    monkeypatch.setattr(locks, "lock", outside(locks.lock))
    monkeypatch.setattr(index, "_folder", outside(index._folder))


def outside(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        mine = [
            block for block in connection.atomic_blocks if not vars(block).get("_from_testcase")
        ]
        assert not mine, f"{call.__name__} inside a transaction"
        return call(*args, **kwargs)

    return checked


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands started while the test runs."""
    started: list[str] = []
    spawn = command.spawn

    def counted(directory: Path, args: list[str], **how: Any) -> Any:
        started.append(args[0])
        return spawn(directory, args, **how)

    monkeypatch.setattr(command, "spawn", counted)
    return started


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """In CI nothing may be skipped for lack of what .ci/run installs."""
    report = yield
    if (
        os.environ.get("SVC_CI")
        and report.skipped
        and any(word in str(report.longrepr) for word in INSTALLED_BY_CI)
    ):
        report.outcome = "failed"
    return report
