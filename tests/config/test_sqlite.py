"""What is read from SQLite is what Django's own backend reads."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from django.db import connections
from django.db.backends.sqlite3.operations import DatabaseOperations
from hypothesis import given
from hypothesis import strategies as st

ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30))])
TIMES = st.datetimes(timezones=ZONES)


def told(convert: Any, value: Any) -> Any:
    with suppress(ValueError, AttributeError):  # of what is no time
        found = convert(value, None, connections["default"])
        return found, getattr(found, "utcoffset", lambda: None)()
    return "no time"


@given(st.one_of(TIMES, TIMES.map(str), st.none(), st.text(max_size=30)))
def test_a_time_is_read_as_django_reads_it(value: Any) -> None:
    ours = connections["default"].ops
    if not isinstance(ours, DatabaseOperations):
        pytest.skip("not of this store")

    expected = told(
        lambda *args: DatabaseOperations.convert_datetimefield_value(ours, *args), value
    )

    assert told(ours.convert_datetimefield_value, value) == expected
