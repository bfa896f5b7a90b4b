"""The body between network and application, where no socket is needed to see it."""

from __future__ import annotations

from config.web.http.body import BUFFER, Body


def nothing() -> None:
    """Neither asks the network for more nor lets it go on."""


def test_a_body_nobody_takes_any_more_is_never_full():
    body = Body(nothing, nothing)
    body.feed(b"x" * (BUFFER + 1))
    assert body.size > BUFFER

    body.close()
    body.feed(b"x" * BUFFER)

    assert body.size == 0
