"""Log records: what is written, and what is no news."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings

from config.errors import SvcError
from config.logs import Failures
from config.web import wire


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


@pytest.mark.parametrize(
    ("error", "said", "traced"),
    [
        (SvcError("Cannot write a.yaml: No space left on device"), None, False),
        (ValueError("a defect"), "unhandled error", True),
    ],
)
def test_a_disk_that_refuses_is_logged_in_one_sentence_and_a_defect_with_its_place(
    caplog: pytest.LogCaptureFixture, error: Exception, said: str | None, traced: bool
):
    request = SimpleNamespace(_request=SimpleNamespace(request_id="ab12"))

    answer = wire.exception_handler(error, {"request": request})

    (found,) = caplog.records
    assert answer.status_code == 500
    assert (found.levelname, found.message) == ("ERROR", said or str(error))
    assert (bool(found.exc_info), found.__dict__["requestId"]) == (traced, "ab12")
