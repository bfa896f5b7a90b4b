"""T4: one bad trigger harms no other."""

from __future__ import annotations

import json

import pytest

from tests.promises.rings import ring, seeded
from tests.workspace.triggers.conftest import utc, world  # noqa: F401 - the small world
from tests.workspace.triggers.test_validate import ROWS
from tests.workspace.triggers.world import World, schedule
from workspace.models import Run

OTHERS = ["", "7", "[]", "text", "{}", "{trigger: 1}", "{trigger: {}, run: [], enabled: true}"]


def bad_bodies() -> list[str]:
    """Every kind of mistake of the table, enabled, and entries that are no entries at all."""
    bodies = []
    for changes, _ in ROWS:
        body = schedule(interval="1m")
        body["trigger"] = {"type": "schedule", "interval": "1m"}
        for path, value in changes.items():
            section, _, key = path.partition("__")
            if key:
                body[section][key] = value
            else:
                body[section] = value
        bodies.append(json.dumps(body))
    return [*bodies, *OTHERS]


@pytest.mark.promise("T4")
def test_every_kind_of_bad_entry_leaves_the_good_ones_on_time(world: World):  # noqa: F811
    bodies = bad_bodies() * ring(fast=1, slow=10)
    good = json.dumps(schedule(interval="1m"))
    lines = [f"  bad{n}: {body}" for n, body in enumerate(bodies)]
    lines += [f"  good{n}: {good}" for n in range(len(bodies))]
    seeded().shuffle(lines)
    world.write("triggers:\n" + "\n".join(lines) + "\n")
    world.write("triggers: [", slug="broken")
    world.write(f"triggers:\n  fine: {good}\n", slug="other")
    ticker = world.ticker()

    world.clock.step(seconds=60)
    ticker.step()

    fired = set(Run.objects.values_list("project", "trigger", "status"))
    expected = {("alpha", f"good{n}", "queued") for n in range(len(bodies))}
    assert fired == expected | {("other", "fine", "queued")}
