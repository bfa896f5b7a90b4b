"""GET /metrics: what the service measures of itself, in OpenMetrics, for this machine alone.

settings.SVC_METRICS names the functions that measure. If one fails, its failure is counted and the
others are still included. The text format is written here: a library for it would be a thousand
lines in place of these forty.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.utils.module_loading import import_string

from config.errors import MethodNotAllowed, SvcError
from config.web.answers import Receive, Send, refusal, refuse
from config.web.http import threads

MEDIA = b"application/openmetrics-text; version=1.0.0; charset=utf-8"
Samples = Iterable[tuple[Mapping[str, str], float]]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Metric:
    """One family. `kind`: gauge, counter (its name without `_total`) or info (without `_info`)."""

    kind: str
    name: str
    meaning: str
    samples: Samples


Measure = Callable[[], Iterator[Metric]]
SUFFIX = {"counter": "_total", "info": "_info"}


def gauge(name: str, meaning: str, value: float, **labels: str) -> Metric:
    """A gauge of one sample."""
    return Metric("gauge", name, meaning, [(labels, value)])


def by(label: str, counts: Mapping[str, float]) -> Samples:
    """One sample for each value of the label."""
    return [({label: key}, count) for key, count in counts.items()]


def text(metrics: Iterable[Metric]) -> bytes:
    """The families as OpenMetrics 1.0."""
    lines: list[str] = []
    for metric in metrics:
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        if unit := next((u for u in ("seconds", "bytes") if metric.name.endswith(f"_{u}")), None):
            lines.append(f"# UNIT {metric.name} {unit}")
        lines.append(f"# HELP {metric.name} {_escape(metric.meaning)}")
        name = metric.name + SUFFIX.get(metric.kind, "")
        lines += [f"{name}{_labels(labels)} {value}" for labels, value in metric.samples]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _labels(labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{key}="{_escape(value)}"' for key, value in labels.items())
    return f"{{{inner}}}" if inner else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def collect() -> bytes:
    """Run all measurements and return the text. Blocks."""
    found: list[Metric] = []
    failed: dict[str, float] = {}
    for name in settings.SVC_METRICS:
        measure: Measure = import_string(name)
        part = name.partition(".")[0]
        failed[part] = 0
        try:
            found += measure()
        except (DatabaseError, SvcError):  # the database is down: not worth a log line
            failed[part] = 1
        except Exception:
            log.exception("metrics of %s", part)
            failed[part] = 1
    meaning = "Whether what this part measures is missing here"
    found.append(Metric("gauge", "svc_metrics_failed", meaning, by("part", failed)))
    return text(found)


async def endpoint(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """ASGI app; the guard before it admits only this machine."""
    if scope["method"] not in ("GET", "HEAD"):
        await refuse(
            send, refusal(MethodNotAllowed("method not allowed"), (b"allow", b"GET, HEAD"))
        )
        return
    body = await threads.run(collect)
    headers = [(b"content-type", MEDIA), (b"content-length", b"%d" % len(body)),
               (b"cache-control", b"no-store")]  # fmt: skip
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    shown = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.body", "body": shown, "more_body": False})
