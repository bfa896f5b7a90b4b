"""A pattern of `ready.log` looks through little at a time, and nothing is overlooked."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from dashboard.services import searcher


class Pattern:
    """Finds nothing, and keeps how much each search looked through."""

    def __init__(self) -> None:
        self.spans: list[int] = []

    def search(self, data: bytes, begin: int, end: int) -> None:
        self.spans.append(len(data[begin:end]))


def searched(pattern: object, pieces: list[bytes], monkeypatch: pytest.MonkeyPatch) -> bytes:
    told = b"".join(len(one).to_bytes(searcher.LENGTH) + one for one in [b"", *pieces])
    out = io.BytesIO()
    streams = SimpleNamespace(
        stdin=SimpleNamespace(buffer=io.BytesIO(told)), stdout=SimpleNamespace(buffer=out)
    )
    monkeypatch.setattr(searcher, "sys", streams)
    monkeypatch.setattr(searcher, "compile_pattern", lambda _text: pattern)
    monkeypatch.setattr("signal.setitimer", lambda *_: None)
    searcher.main()
    return out.getvalue()


def test_a_line_that_grows_for_ever_is_not_searched_as_a_whole_again(
    monkeypatch: pytest.MonkeyPatch,
):
    pattern = Pattern()

    answers = searched(pattern, [b"." * 200] * 500, monkeypatch)

    assert answers == b"0" * 500
    assert len(pattern.spans) == 500
    assert max(pattern.spans) <= searcher.WINDOW


def test_a_line_of_any_length_is_searched_by_parts(monkeypatch: pytest.MonkeyPatch):
    pattern = Pattern()

    searched(pattern, [b"a" * 1_000_000], monkeypatch)

    assert max(pattern.spans) == searcher.WINDOW
    assert sum(pattern.spans) < 2_100_000


@pytest.mark.parametrize("before", [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 99_999])
def test_what_is_looked_for_is_found_wherever_it_lies(before: int, monkeypatch: pytest.MonkeyPatch):
    wanted = b"<" + b"-" * (searcher.KEPT - 2) + b">"
    pattern = searcher.compile_pattern(rb"<-+>")
    output = b"." * before + wanted

    assert searched(pattern, [output], monkeypatch) == b"1"
    pieces = [output[n : n + 777] for n in range(0, len(output), 777)]
    assert searched(pattern, pieces, monkeypatch).endswith(b"1")
