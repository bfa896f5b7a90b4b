"""The zone of this machine, asked in processes of their own: it is what `date` says there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from config import zones
from tests.service import ROOT, STOP_S, Service

ZONEINFO = Path("/usr/share/zoneinfo")
SUMMER = 1782864000  # 2026-07-01T00:00:00Z
ASK = f"""
import json
from datetime import UTC, datetime
from config import zones
host = zones.host()
at = datetime.fromtimestamp({SUMMER}, UTC).astimezone(zones.find(host.name))
print(json.dumps([host.name, at.strftime("%H:%M%z"), host.source, host.problem]))
"""


def asked(*before: str, tz: str | None = None) -> list[str]:
    """Name, summer midnight in UTC, source and problem, as a process sees them."""
    answer: list[str] = json.loads(printed(*before, sys.executable, "-c", ASK, tz=tz))
    return answer


def printed(*command: str, tz: str | None) -> str:
    env = {name: value for name, value in os.environ.items() if name != "TZ"}
    env |= {} if tz is None else {"TZ": tz}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("tz", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":Asia/Tokyo", "Asia/Tokyo"),
        ("/usr/share/zoneinfo/America/New_York", "America/New_York"),
        ("EST5EDT", "EST5EDT"),
        ("", "UTC"),
        ("Etc/UTC", "UTC"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "localtime"),
        ("<+0330>-3:30", "localtime"),
        ("Nowhere/Town", "UTC"),
    ],
)
def test_tz_means_to_the_service_what_it_means_to_date(tz, name):
    found, clock, source, _ = asked(tz=tz)

    assert (found, source) == (name, "TZ")
    assert clock == printed("date", "-d", f"@{SUMMER}", "+%H:%M%z", tz=tz)


@pytest.mark.parametrize(("tz", "problem"), [
    ("Nowhere/Town", '"Nowhere/Town" names no time zone; UTC is used'),
    ("<+0330>-3:30", '"<+0330>-3:30" is a rule without a name'),
    ("Europe/Berlin", ""),
])  # fmt: skip
def test_a_zone_that_bears_no_name_says_why(tz, problem):
    assert asked(tz=tz)[3] == problem


@dataclass
class Etc:
    """An /etc of the test's own: that of the machine but for what says the zone."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()

    def before(self) -> list[str]:
        """The command to put before another one, which then sees this /etc."""
        binds = []
        for entry in sorted(Path("/etc").iterdir()):
            if entry.name in ("localtime", "timezone"):
                continue
            how = ["--symlink", entry.readlink()] if entry.is_symlink() else ["--ro-bind", entry]
            binds += [str(one) for one in (*how, entry)] if os.access(entry, os.R_OK) else []
        for entry in self.folder.iterdir():
            how = ["--symlink", entry.readlink()] if entry.is_symlink() else ["--ro-bind", entry]
            binds += [str(one) for one in (*how, Path("/etc", entry.name))]
        return ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/etc", *binds]


@pytest.fixture
def etc(tmp_path: Path) -> Etc:
    bwrap = shutil.which("bwrap")
    tried = bwrap and subprocess.run(
        [bwrap, "--dev-bind", "/", "/", "--tmpfs", "/etc", "true"], check=False, capture_output=True
    )
    if not tried or tried.returncode or not (ZONEINFO / "Europe/Berlin").exists():
        pytest.skip("needs a bubblewrap that works, and the time zones of the system")
    return Etc(tmp_path / "etc")


def test_the_link_of_etc_localtime_names_the_zone_and_tz_wins_over_it(etc):
    (etc.folder / "localtime").symlink_to(ZONEINFO / "Europe/Berlin")

    assert asked(*etc.before()) == ["Europe/Berlin", "02:00+0200", "/etc/localtime", ""]
    assert asked(*etc.before(), tz="Asia/Tokyo")[:3] == ["Asia/Tokyo", "09:00+0900", "TZ"]


def test_a_copied_etc_localtime_bears_the_name_in_etc_timezone_if_they_agree(etc):
    shutil.copyfile(ZONEINFO / "Europe/Berlin", etc.folder / "localtime")
    (etc.folder / "timezone").write_text("Europe/Berlin\n")

    assert asked(*etc.before()) == ["Europe/Berlin", "02:00+0200", "/etc/localtime", ""]


def test_a_copied_etc_localtime_holds_by_its_own_rules_where_no_name_fits(etc):
    shutil.copyfile(ZONEINFO / "Europe/Berlin", etc.folder / "localtime")
    (etc.folder / "timezone").write_text("Etc/UTC\n")

    name, clock, _, problem = asked(*etc.before())
    assert (name, clock) == ("localtime", "02:00+0200")
    assert problem == "/etc/localtime is a copy that bears no name"


def test_without_etc_localtime_it_is_utc_as_for_date_whatever_etc_timezone_says(etc):
    (etc.folder / "timezone").write_text("Europe/Berlin\n")

    assert asked(*etc.before())[:2] == ["UTC", "00:00+0000"]
    assert printed(*etc.before(), "date", "-d", f"@{SUMMER}", "+%H:%M%z", tz=None) == "00:00+0000"


def test_an_etc_localtime_that_holds_no_zone_is_utc_and_said(etc):
    (etc.folder / "localtime").write_text("Europe/Berlin\n")

    assert asked(*etc.before())[::3] == ["UTC", "/etc/localtime holds no time zone; UTC is used"]


class Elsewhere(Service):
    """A service on a machine with another /etc."""

    before: tuple[str, ...] = ()

    def spawn(self, *command: str, **kwargs: Any) -> subprocess.Popen[str]:
        argv = [*self.before, sys.executable, str(ROOT / "manage.py"), *command]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            argv, env=self.env, cwd=self.data, text=True, start_new_session=True, **pipes | kwargs
        )

    def stop(self) -> None:
        """As ever, but of the service itself: bubblewrap waits for it and says how it ended."""
        assert self.process is not None
        for inner in psutil.Process(self.process.pid).children():
            inner.terminate()
        assert self._wait(STOP_S) == 0, self.output()
        self._forget()


@pytest.mark.slow
def test_the_service_reads_cron_in_the_zone_that_etc_localtime_is_linked_to(etc, tmp_path):
    (etc.folder / "localtime").symlink_to(ZONEINFO / "Asia/Kolkata")
    service = Elsewhere(tmp_path, scheduler=False)
    service.env.pop("TZ", None)
    service.before = tuple(etc.before())
    with service:
        answer = service.http.get("/api/triggers/preview", params={"cron": "0 9 * * *"}).json()

    assert answer["timezone"] == "Asia/Kolkata"
    assert [time[11:16] for time in answer["next"]] == ["03:30", "03:30", "03:30"]


@pytest.mark.parametrize(("name", "meant"), [
    ("europe/berlin", "Europe/Berlin"),
    ("Europe/Berln", "Europe/Berlin"),
    ("New York", None),
    ("posix/Europe/Berlin", "Europe/Berlin"),
    ("localtime", None),
    ("../../etc/passwd", None),
    ("/etc/localtime", None),
    ("Europe", None),
    ("", None),
    ("x" * 300, None),
])  # fmt: skip
def test_what_names_no_zone_is_refused_with_the_one_that_may_be_meant(name, meant):
    with pytest.raises(zones.BadZone) as error:
        zones.iana_zone(name)

    assert "is not the name of a time zone" in str(error.value)
    assert meant is None or f'(did you mean "{meant}"?)' in str(error.value)


@pytest.mark.parametrize("tz", [None, "Asia/Tokyo"])
def test_django_leaves_the_zone_of_the_process_alone(tz):
    script = (
        "import django, os; django.setup();"
        "from django.utils import timezone as it;"
        "print(os.environ.get('TZ'), it.get_default_timezone(), it.localtime().tzname())"
    )
    command = ("env", "DJANGO_SETTINGS_MODULE=config.settings", sys.executable, "-c", script)

    assert printed(*command, tz=tz) == f"{tz} UTC UTC"


def test_the_zone_of_the_machine_is_found_without_a_look_at_every_zone(monkeypatch):
    looked = []

    def every() -> set[str]:
        looked.append("all")
        return set()

    monkeypatch.setattr("zoneinfo.available_timezones", every)
    zones._detect.cache_clear()

    zones.host()
    assert looked == []
    with pytest.raises(zones.BadZone):  # only a hint to somebody who wrote one asks for them
        zones.iana_zone("Europe/Belrin")
    assert looked == ["all"]
