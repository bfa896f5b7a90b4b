"""`python -m tests.dashboard.reboot.writer`: a daemon whose journal changes without a pause."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from dashboard.reboot import Lost, World  # noqa: E402
from dashboard.services import state  # noqa: E402
from dashboard.services.supervise import Supervisor  # noqa: E402
from dashboard.services.system.clock import Clock  # noqa: E402
from tests.dashboard.reboot.world import listening  # noqa: E402


async def main() -> None:
    services = Supervisor(state.World(Clock(), lambda _change: None, dict))
    lost = Lost(World(Clock(), services, lambda _ids: None))
    await lost.begin()
    base = [listening(f"app-{number}", 3000 + number) for number in range(20)]
    lost.take_scan(base)
    await lost.step()
    sys.stdout.write("begun\n")
    for number in itertools.count():
        more = listening("app-x", 3999, argv=("serve", str(number)))
        lost.take_scan([*base, more])
        await lost.step()
        sys.stdout.write(".")
        sys.stdout.flush()


asyncio.run(main())
