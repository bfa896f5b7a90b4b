"""GET /metrics: read by a real parser, and by nobody but this machine."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.db import DatabaseError
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from config import metrics
from config.errors import Unavailable
from config.metrics import Metric, by, gauge
from tests.service import ROOT, Service, until
from tests.wire import EventClient


def parsed(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Family -> label values -> value; the parser refuses what OpenMetrics does not allow."""
    return {
        family.name: {tuple(sample.labels.values()): sample.value for sample in family.samples}
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    }


def scraped(service: Service) -> dict[str, dict[tuple[str, ...], float]]:
    answer = service.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    return parsed(answer.text)


def test_whatever_a_label_or_a_meaning_holds_is_read_back() -> None:
    odd = 'a"b\\c\nd é\u2028'
    made = [
        Metric("info", "build", odd, [({"version": odd}, 1)]),
        gauge("wait_seconds", odd, 0.25, of=odd),
        Metric("counter", "probes", "", by("result", {"ok": 3, odd: 4})),
        Metric("gauge", "empty", "nothing to tell", ()),
    ]

    text = metrics.text(made).decode()

    assert parsed(text) == {
        "build": {(odd,): 1},
        "wait_seconds": {(odd,): 0.25},
        "probes": {("ok",): 3, (odd,): 4},
        "empty": {},
    }
    assert "# UNIT wait_seconds seconds\n" in text
    assert text.endswith("# EOF\n")


def broken() -> Iterator[Metric]:
    yield gauge("svc_told", "before it broke", 1)
    raise ZeroDivisionError


def starting() -> Iterator[Metric]:
    yield gauge("svc_began", "before it could not go on", 1)
    raise Unavailable("starting")


def no_database() -> Iterator[Metric]:
    yield gauge("svc_file", "needs no database", 1)
    raise DatabaseError("gone")


def test_who_cannot_measure_leaves_the_others_in_and_is_counted(settings, caplog) -> None:
    own = __name__
    names = ["broken", "starting", "no_database"]
    told: dict[str, Any] = {}
    for name in names:
        settings.SVC_METRICS = [f"{own}.{name}", "config.process.vitals.measure"]
        told[name] = parsed(metrics.collect().decode())

    assert all(found["svc_metrics_failed"] == {("tests",): 1, ("config",): 0}
               for found in told.values())  # fmt: skip
    assert all("svc_build" in found for found in told.values())
    assert told["no_database"]["svc_file"] == {(): 1}
    logged = [record for record in caplog.records if record.exc_info]
    assert len(logged) == 1  # what is broken, not what is away for a moment


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("metrics")) as running:
        until(lambda: running.http.get("/metrics").text.count("svc_apps"), what="all parts")
        yield running


def test_every_documented_metric_is_told_and_no_other(served: Service) -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    documented = set(re.findall(r"^\| `(svc_\w+?)(?:_total|_info)?`", page, re.MULTILINE))

    assert set(scraped(served)) == documented


def test_streams_that_open_and_close_are_counted(served: Service) -> None:
    before = scraped(served)["svc_streams"][("main",)]
    client = EventClient(served.ports["main"], "/api/events")
    client.connect()
    client.read()

    assert scraped(served)["svc_streams"][("main",)] == before + 1
    client.close()
    until(lambda: scraped(served)["svc_streams"][("main",)] == before, what="it is gone")


def test_memory_disk_database_and_scheduler_are_real(served: Service) -> None:
    found = scraped(served)

    assert found["svc_server_memory_bytes"][()] > 20e6
    assert found["svc_qcluster_memory_bytes"][()] > 20e6
    assert found["svc_disk_free_bytes"][()] > 0
    assert found["svc_database_bytes"][()] >= (served.data / "svc.sqlite3").stat().st_size
    assert found["svc_scheduler_up"][()] == 1
    assert found["svc_server_open_files"][()] > 10
    assert set(found["svc_metrics_failed"].values()) == {0}


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "host_not_allowed"),
        ({"X-Forwarded-For": "127.0.0.1"}, "peer_not_allowed"),
        ({"Forwarded": "for=127.0.0.1"}, "peer_not_allowed"),
        ({"X-Forwarded-Proto": "https"}, "peer_not_allowed"),
    ],
)
def test_who_comes_by_another_name_or_through_a_proxy_is_refused(
    served: Service, headers: dict[str, str], code: str
) -> None:
    answer = served.http.get("/metrics", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, code)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_it_can_only_be_read(served: Service, method: str) -> None:
    answer = served.http.request(method, "/metrics", headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_it_is_on_the_main_port_alone(served: Service) -> None:
    for base in (served.review_url, served.dashboard_url, f"{served.url}/review"):
        assert httpx.get(f"{base}/metrics", trust_env=False).status_code == 404


def test_a_service_that_is_open_to_others_keeps_its_metrics_to_itself(tmp_path) -> None:
    open_to_all = {"SVC_HOST": "0.0.0.0", "SVC_DANGEROUSLY_ALLOW_OPEN": "on"}
    with Service(tmp_path, env=open_to_all, scheduler=False) as service:
        port, own = service.ports["main"], own_address()
        assert httpx.get(f"http://{own}:{port}/api/me", trust_env=False).status_code == 200
        answer = httpx.get(f"http://{own}:{port}/metrics", trust_env=False)

        assert (answer.status_code, answer.json()["code"]) == (403, "peer_not_allowed")
        assert scraped(service)["svc_scheduler_up"][()] == 0


def own_address() -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no other address")
        return str(probe.getsockname()[0])
