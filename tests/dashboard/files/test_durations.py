"""Durations and sizes are read as people write them."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.files import durations
from dashboard.files.durations import Unfit


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("500ms", 0.5), ("30s", 30), ("5m", 300), ("6h", 21600), ("7d", 604800), (30, 30),
        ("30", 30), (0.25, 0.25), ("1.5s", 1.5), (" 2s ", 2), ("2 s", 2), (0, 0),
    ],
)  # fmt: skip
def test_a_duration_is_a_number_with_its_unit_or_of_seconds(written: Any, seconds: float):
    assert durations.read(written) == seconds


@pytest.mark.parametrize(
    "written",
    ["", "s", "5 minutes", "-1s", -1, True, None, [], {}, "1h30m", "1e3s", "٣s", float("inf"),
     float("nan"), "9" * 400 + "s", "1s\n2s"],
)  # fmt: skip
def test_anything_else_is_refused_with_examples(written: Any):
    with pytest.raises(Unfit, match="must be a duration such as 500ms, 30s, 5m, 6h or 7d"):
        durations.read(written)


@pytest.mark.parametrize(
    ("written", "size"), [("10MiB", 10 << 20), ("1 kB", 1000), (512, 512), ("7B", 7), ("7", 7)]
)
def test_a_size_is_a_number_with_its_unit_or_of_bytes(written: Any, size: int):
    assert durations.read_size(written) == size


@pytest.mark.parametrize("written", ["", "10MB/s", "ten", -1, 1.5, True, "1 KKiB", None])
def test_anything_else_is_no_size(written: Any):
    with pytest.raises(Unfit, match="must be a size such as 10MiB"):
        durations.read_size(written)
