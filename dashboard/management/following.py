"""`manage.py dashboard logs`: the end of a log, and with -f what is written after it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from dashboard.management.client import Body, Client

PAUSE_S = 1.0
MOST = 5000

Write = Callable[[str], None]


def show(
    client: Client, slug: str, *, lines: int, follow: bool, as_json: bool, write: Write
) -> None:
    """Print the log. Returns at its end; with `follow` only Ctrl-C ends it."""
    answer = client.get("apps", slug, "logs", lines=lines)
    _print(answer, write, as_json=as_json, whole=not follow)
    while follow:
        if len(answer["lines"]) < MOST:
            time.sleep(PAUSE_S)
        answer = client.get("apps", slug, "logs", lines=MOST, after=answer["bytes"])
        if answer["lines"]:
            _print(answer, write, as_json=as_json, whole=False)


def _print(answer: Body, write: Write, *, as_json: bool, whole: bool) -> None:
    """`whole`: print the unfinished last line too; a follower gets it once it is finished."""
    if as_json:
        write(json.dumps(answer, ensure_ascii=False))
        return
    unfinished = [answer["partial"]] if whole and answer.get("partial") else []
    for line in [*answer["lines"], *unfinished]:
        write(line)
