"""Settings with the dashboard alone, and its daemon with them: what D3 promises of this part.

`python -m bench.dashboard.part` runs the daemon on the data directory of its environment until its
input ends; it prints a line when it knows the apps.
"""

from __future__ import annotations

import os
import sys

from config.settings import *  # noqa: F403 - settings are what Django finds in a module

INSTALLED_APPS = ["config.kernel", "dashboard"]
SVC_BACKGROUND = ["dashboard.background.Background"]


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.dashboard.part"
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)
    from dashboard.daemon import Daemon

    daemon = Daemon()
    daemon.start()
    daemon.loaded.wait()
    print("ready", flush=True)
    sys.stdin.read()
    daemon.stop()


if __name__ == "__main__":
    main()
