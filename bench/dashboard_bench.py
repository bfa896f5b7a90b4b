"""D1-D5, D12, D15 and S9-S11: how soon the dashboard knows, and what it costs
(docs/design/promises.md#dashboard)."""

from __future__ import annotations

import os

from bench.figures import Figure


def main() -> list[Figure]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)
    from bench.dashboard import crowd, cycles, past, pictures, scans, streams

    parts = (past, scans, streams, crowd, cycles, pictures)
    figures = [figure for part in parts for figure in part.figures()]
    return sorted(figures, key=lambda one: (one.id[0], int(one.id[1:])))
