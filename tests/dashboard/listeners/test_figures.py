"""What a scan costs, beside psutil in the same run (promise S11)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.service import ROOT

CROWD = [sys.executable, "-m", "tests.dashboard.listeners.crowd"]


def measured(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    print(told)
    return told


def test_500_listeners_are_scanned_in_015_of_the_time_psutil_takes():
    told = measured(*CROWD, "listeners", "500")

    assert told["listeners"] >= 500
    assert told["scan"]["best"] <= 0.15 * told["psutil"]["best"]


@pytest.mark.slow
def test_15000_connections_in_time_wait_cost_a_scan_nothing():
    if subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("network namespaces are not allowed here")

    told = measured("unshare", "-rn", *CROWD, "waiting", "15000")

    assert told["waiting"] >= 14_900
    assert told["scan"]["best"] <= 5
    assert told["scan"]["best"] <= 0.15 * told["psutil"]["best"]
    assert told["table"]["best"] <= 0.15 * told["psutil"]["best"]
