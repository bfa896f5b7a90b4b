"""T2: triggers fire on time, by the real clock."""

from __future__ import annotations

import pytest

from tests.promises import lateness
from tests.promises.machine import Lateness
from tests.promises.rings import ring
from tests.service import stores

HOPS = 3  # the ticker, its thread and the database each wait for a processor


@pytest.mark.promise("T2")
def test_a_thousand_armed_triggers_are_claimed_on_time():
    count = ring(fast=1000, slow=10_000)

    with Lateness() as machine:
        late = lateness.measured(count, 60.0, float(ring(fast=4, slow=60)), stores())

    assert len(late) >= count * ring(fast=6, slow=95) // 100
    assert min(late) >= 0  # never early
    p50, p99 = lateness.middle_and_tail(late)
    own50, own99 = lateness.middle_and_tail(machine.late_ms)
    assert p50 < lateness.P50_MS + HOPS * own50
    assert p99 < lateness.P99_MS + HOPS * own99
