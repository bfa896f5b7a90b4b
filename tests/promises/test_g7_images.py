"""SVG bombs cost neither time nor memory: checked within 200 ms and 50 MB each.

That no image acts when it is opened is shown in a real Chromium: tests/browser/test_assets.py.
"""

from __future__ import annotations

import time
import tracemalloc

import pytest

from review import assets
from tests.review.bombs import COSTLY


@pytest.mark.promise("G7")
@pytest.mark.parametrize("kind", COSTLY)
def test_a_costly_svg_is_taken_or_refused_at_once(kind: str):
    data = COSTLY[kind]()

    spent = next((x for x in (timed(data) for _ in range(3)) if x < 0.2), 0.2)
    tracemalloc.start()
    assets.svg_fault(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert spent < 0.2
    assert peak < 50 * 1024 * 1024


def timed(data: bytes) -> float:
    """CPU seconds of one check: other processes on the machine do not count."""
    start = time.process_time()
    assets.svg_fault(data)
    return time.process_time() - start
