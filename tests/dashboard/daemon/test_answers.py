"""What one probe of an unknown listener tells of it."""

from __future__ import annotations

import pytest

from dashboard.daemon.sightings import answer
from dashboard.health.result import Kind, Page, Result


@pytest.mark.parametrize(("status", "title"), [(200, "Shop"), (404, None), (500, None)])
def test_the_title_of_a_refusal_is_no_name_of_the_listener(status: int, title: str | None):
    page = Page(title="Shop", headers={"server": "x"}, body=b"<title>Shop</title>")
    result = Result(began=0, at=0, kind=Kind.OK, status=status, scheme="http", page=page)

    found = answer(result, 3000)

    assert found is not None
    assert (found.title, found.protocol, found.headers) == (title, "http", {"server": "x"})
