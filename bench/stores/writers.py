"""How long a writer waits beside the daily deletion of old audit rows, and alone.

python -m bench.stores.writers DAYS
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from datetime import UTC, datetime
from typing import Any

ALONE_S = 5.0


def pauses(days: int) -> dict[str, Any]:
    """Milliseconds of each write of one row, one after the other; rows deleted, and seconds."""
    from workspace.access import audit

    done = threading.Event()
    threading.Timer(ALONE_S, done.set).start()
    alone = writing(done)
    done.clear()
    beside: list[float] = []
    writer = threading.Thread(target=lambda: beside.extend(writing(done)))
    writer.start()
    began = time.perf_counter()
    deleted = audit.prune(days=days)
    took = time.perf_counter() - began
    done.set()
    writer.join()
    return {"alone": alone, "beside": beside, "deleted": deleted, "seconds": took}


def writing(done: threading.Event) -> list[float]:
    """Write one row again and again until it is done."""
    from django.db import connection

    from workspace.models import ClientUse

    waits: list[float] = []
    while not done.is_set():
        began = time.perf_counter()
        use = {"last_used": datetime.now(UTC), "last_peer": f"{len(waits)}"}
        ClientUse.objects.update_or_create(client="bench", defaults=use)
        waits.append((time.perf_counter() - began) * 1000)
        time.sleep(0.002)  # as one who has something else to do
    connection.close()
    return waits


def main(days: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    print(json.dumps(pauses(days)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
