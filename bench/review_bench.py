"""Contract review.md 16: what each read and write of the review part costs beside its floor.

`python -m bench review`, or `python bench/review_bench.py [--repo PATH [--range A..B]]`, which
ends with 1 when a row misses its target twice in a row. With `--repo`, rows 1 and 2 are measured
on that repository too. Floor and service are timed alternately, best of 7; the ratio counts.

Cold is `review.caches.clear()` before each call: rows and memory are dropped, the process and
its cat-file children go on. The running service is told to over a local socket that only the
benchmark's settings open (review/forgetting.py).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # the folder of this file has a `review` of its own

from bench.figures import Figure, table  # noqa: E402
from tests import isolation  # noqa: E402 - a data directory of its own, before the settings

Row = Callable[[], list[Figure]]


def main(repo: Path | None = None, span: str | None = None) -> list[Figure]:
    """Every row; one that misses is measured once more, and counts as measured then."""
    _set_up()
    from bench.review import inside, served, world

    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        made = world.build(here)
        figures = _measured(inside.rows(made))
        with served.client(here / "service", made.root) as client:
            figures += _measured(served.rows(made, client))
            if repo:
                own = world.given(made.root, repo, span)
                figures += _measured(served.stacked(client, world.GIVEN, own))
    return sorted(figures, key=lambda one: int(one.id[1:]))


def _measured(rows: Iterable[Row]) -> list[Figure]:
    figures: list[Figure] = []
    for row in rows:
        found = row()
        if not all(one.ok for one in found):
            again = row()
            found = [one if one.ok else other for one, other in zip(found, again, strict=True)]
        figures += found
    return figures


def _set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)


def _asked() -> tuple[Path | None, str | None]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repo", type=Path, help="a repository of one's own")
    parser.add_argument("--range", help="A..B; by default as the project detail computes it")
    given = parser.parse_args()
    return given.repo, given.range


if __name__ == "__main__":
    try:
        measured = main(*_asked())
        print(table(measured))
        code = 0 if all(one.ok for one in measured) else 1
    finally:
        isolation.pytest_unconfigure()
    sys.exit(code)
