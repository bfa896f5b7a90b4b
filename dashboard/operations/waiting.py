"""How many may wait at once for what takes long: waiting holds what everybody else needs too."""

from __future__ import annotations

from config.kernel.waits import Bound

__all__ = ["MOST", "Bound", "waiting"]

MOST = 16  # half the threads of the process (config.kernel.web.threads)

waiting = Bound(MOST, "actions on services are under way; try again soon.")
