"""T5, of the service itself: started with a zone in TZ, it reads cron by the clock on that wall."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from tests.promises.rings import few
from tests.service import Service, until

pytestmark = pytest.mark.promise("T5")

# Zone, and for the hour that a spring skips and an autumn repeats: a wall time in it.
PLACES = (
    ("Australia/Lord_Howe", "02:15"),
    ("Europe/Berlin", "02:30"),
    ("America/New_York", "02:30"),
)
REPEATED = {"Europe/Berlin": "02:30", "America/New_York": "01:30", "Australia/Lord_Howe": "01:45"}
STEP = timedelta(minutes=30)  # no zone changes at another minute
BASH = '#!runbook\n```Bash name=p\ndate +%Z; echo "TZ=$TZ"\n```\n{{p.output}}\n'


@pytest.fixture(scope="module", params=few(PLACES, 1), ids=lambda place: place[0])
def served(request, tmp_path_factory) -> Iterator[tuple[Service, ZoneInfo, str]]:
    name, skipped = request.param
    folder = tmp_path_factory.mktemp("served")
    with Service(folder, env={"TZ": name}) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        yield service, ZoneInfo(name), skipped


def changes(zone: ZoneInfo) -> dict[bool, datetime]:
    """The next change forward (True) and the next one back, to the half hour."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(days=2)
    found: dict[bool, datetime] = {}
    while len(found) < 2:
        before, after = (offset(moment, zone) for moment in (hour - STEP, hour))
        if before != after:
            found.setdefault(after > before, hour)
        hour += STEP
    return found


def offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def cron_of(wall: str, day: datetime) -> str:
    hour, minute = map(int, wall.split(":"))
    return f"{minute} {hour} {day.day} {day.month} *"


def first(service: Service, cron: str) -> datetime:
    """The first time, as the preview says it, and as a trigger that is saved so is armed for."""
    answer = service.http.get("/api/triggers/preview", params={"cron": cron}).json()
    body = {"trigger": {"type": "schedule", "cron": cron}, "run": {"prompt": "x"}, "enabled": True}
    saved = service.http.put("/api/projects/alpha/triggers/t", json=body).json()["trigger"]
    assert saved["runtime"]["nextRuns"] == answer["next"]
    assert saved["runtime"]["timezone"] == answer["timezone"] == service.env["TZ"]
    return datetime.fromisoformat(answer["next"][0])


def test_a_time_that_the_spring_skips_fires_at_the_end_of_the_gap(served):
    service, zone, skipped = served
    change = changes(zone)[True]

    assert first(service, cron_of(skipped, change.astimezone(zone))) == change


def test_a_time_that_the_autumn_repeats_fires_the_first_time(served):
    service, zone, _ = served
    day = changes(zone)[False].astimezone(zone)
    repeated = REPEATED[str(zone)]
    wall = datetime.fromisoformat(f"{day:%Y-%m-%d}T{repeated}")
    twice = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    assert twice[0] < twice[1]

    assert first(service, cron_of(repeated, day)) == twice[0]


def test_nine_in_the_morning_is_nine_on_that_wall_every_day(served):
    service, zone, _ = served

    found = [datetime.fromisoformat(one) for one in preview(service, "0 9 * * *")["next"]]
    assert {one.astimezone(zone).strftime("%H:%M") for one in found} == {"09:00"}
    assert found == sorted(set(found))


def preview(service: Service, cron: str, **more: str) -> dict[str, Any]:
    found: dict[str, Any] = service.http.get(
        "/api/triggers/preview", params={"cron": cron, **more}
    ).json()
    return found


def test_the_scheduler_and_the_turns_it_starts_have_the_zone_of_the_service(served):
    service, zone, _ = served
    hand = {
        "trigger": {"type": "schedule", "cron": "0 9 * * *"},
        "run": {"prompt": BASH, "tools": ["Bash"]},
        "enabled": True,
    }
    path = service.projects / "alpha" / "project.yaml"
    path.write_text(yaml.safe_dump({"name": "Alpha", "triggers": {"hand": hand}}))

    def armed() -> Any:
        listed = service.http.get("/api/projects/alpha/triggers/runtime").json()["runtime"]
        return next((one for one in listed if one["name"] == "hand"), None)

    found = until(armed, seconds=30, what="the scheduler arms a hand edit")
    nine = datetime.fromisoformat(found["nextRunAt"]).astimezone(zone)
    assert (f"{nine:%H:%M}", found["timezone"]) == ("09:00", str(zone))
    started = service.http.post("/api/projects/alpha/triggers/hand/run").json()
    done = ended(service, started["runId"])
    assert done["summary"].split() == [datetime.now(zone).tzname(), f"TZ={zone}"]


def ended(service: Service, run: str) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        found: dict[str, Any] = service.http.get(f"/api/runs/{run}").json()["run"]
        return {} if found["status"] in ("queued", "running") else found

    return until(look, seconds=60, what="the run ends")


@pytest.mark.slow
def test_a_turn_has_no_tz_where_none_was_set(tmp_path: Path):
    service = Service(tmp_path)
    service.env.pop("TZ", None)
    with service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        body = {
            "trigger": {"type": "schedule", "interval": "1d"},
            "run": {"prompt": BASH, "tools": ["Bash"]},
        }
        service.http.put("/api/projects/alpha/triggers/t", json=body).raise_for_status()
        started = service.http.post("/api/projects/alpha/triggers/t/run").json()
        done = ended(service, started["runId"])

    assert done["summary"].split()[1:] == ["TZ="]
