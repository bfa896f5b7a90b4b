"""The alerts of docs/operations.md: what they ask for is told, and each fires when it should."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.config.test_metrics import scraped, served  # noqa: F401 - a fixture
from tests.service import ROOT, Service, until

ROW = re.compile(r"^\| ([^|`]+) \| `([^|`]+)` \| (\w+|\u2013) \| [^|]+ \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "operations.md").read_text()
ALERTS = {name: (expression, lasts) for name, expression, lasts in ROW.findall(PAGE)}
# The series of each alert, as it is at rest and as it is when somebody has to be woken.
SERIES = {
    "the service is gone": ('up{job="svc"}', "1x120", "0x120"),
    "nothing fires, no turn starts": ("svc_scheduler_up", "1x120", "0x120"),
    "the clock stands": ("svc_firing_overdue_seconds", "1x120", "31x120"),
    "firings are late": ('svc_firing_lateness_seconds{of="median"}', "0x120", "6x120"),
    "turns pile up": ('svc_turns{state="queued"}', "20x120", "21x120"),
    "starts pile up": ('svc_queue_tasks{queue="svc"}', "50x120", "51x120"),
    "messages are held": ('svc_turns{state="held"}', "0x120", "1x120"),
    "turns fail": ('svc_turns{state="failed"}', "7x120", "0+1x120"),
    "an app is down": ('svc_apps{state="down"}', "0x120", "1x120"),
    "the disk fills": ("svc_disk_free_bytes", "2000000000x120", "1000x120"),
    "descriptors leak": ("svc_server_open_files", "90x120", "10001x120"),
    "memory grows": ("svc_server_memory_bytes", "90000000x120", "2000000000x120"),
    "a part is not measured": ('svc_metrics_failed{part="workspace"}', "0x120", "1x120"),
}
FIRES = """\
triggers:
  t: {trigger: {type: schedule, interval: 1s}, run: {prompt: hi, overlap: parallel}, enabled: true}
"""
ALWAYS = {'svc_turns{state="running"}': "1x120"}


@pytest.mark.slow
def test_every_series_an_alert_asks_for_is_told(served: Service) -> None:  # noqa: F811
    folder = served.projects / "alpha"
    folder.mkdir(parents=True)
    (folder / "project.yaml").write_text(FIRES)
    until(lambda: scraped(served)["svc_firings_recent"][()], seconds=30, what="the clock has fired")
    told = scraped(served)
    asked = [
        (metric, value)
        for expression, _ in ALERTS.values()
        for metric, value in re.findall(r'(svc_\w+)(?:\{\w+="(\w+)"\})?', expression)
    ]

    assert len(asked) >= len(ALERTS) - 1  # `up` is the collector's own
    missing = [
        (metric, value) for metric, value in asked
        if metric not in told or (value and (value,) not in told[metric])
    ]  # fmt: skip
    assert missing == []


def test_every_alert_has_its_case() -> None:
    assert set(ALERTS) == set(SERIES)
    assert PAGE.count("| alert | expression |") == 1
    table = PAGE.partition("| alert | expression |")[2].partition("\n\n")[0]
    assert len(table.splitlines()) == len(ALERTS) + 2


def test_each_alert_fires_alone_when_it_should_and_none_at_rest(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not on this machine (Debian's prometheus)")
    rules = [
        {"alert": name, "expr": expression} | ({} if lasts == "\u2013" else {"for": lasts})
        for name, (expression, lasts) in ALERTS.items()
    ]
    (tmp_path / "rules.yaml").write_text(
        yaml.safe_dump({"groups": [{"name": "svc", "rules": rules}]})
    )
    cases = [case(None), *map(case, ALERTS)]
    tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": cases}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests))

    for argv in (["check", "rules", "rules.yaml"], ["test", "rules", "tests.yaml"]):
        done = subprocess.run(
            ["promtool", *argv], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def case(woken: str | None) -> dict[str, Any]:
    """Two hours in which one alert has its reason, or none: which of them fire at the end."""
    values = ALWAYS | {series: rest for series, rest, _ in SERIES.values()}
    if woken:
        values[SERIES[woken][0]] = SERIES[woken][2]
    fires = [{"labels": f'{{alertname="{woken}"}}', "value": 1}] if woken else []
    return {
        "name": woken or "at rest",
        "interval": "1m",
        "input_series": [{"series": one, "values": told} for one, told in values.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "2h",
                "exp_samples": fires,
            }
        ],
    }
