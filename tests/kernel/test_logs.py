"""Log records: what is written, and what is no news."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from django.conf import settings

from config.kernel.logs import Failures


def record(exc_info: object = None) -> logging.LogRecord:
    return logging.LogRecord("django.request", logging.ERROR, "", 0, "x", (), exc_info)  # type: ignore[arg-type]


def test_an_answer_given_on_purpose_is_not_logged_but_a_failure_is():
    try:
        raise ValueError
    except ValueError:
        failure = record(sys.exc_info())

    assert not Failures().filter(record())
    assert Failures().filter(failure)


@pytest.mark.parametrize(("name", "level"), [("django-q", "WARNING"), ("django.request", "ERROR")])
def test_loggers_of_libraries_speak_only_of_trouble(name, level):
    loggers: Any = settings.LOGGING["loggers"]
    assert loggers[name]["level"] == level
