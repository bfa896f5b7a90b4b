"""The service asks itself nothing: its own ports are never connected to, whatever points there."""

from __future__ import annotations

import socket

import pytest

from dashboard.health.evidence import Exited, Started, StopFailed, Stopping
from dashboard.health.probe import probe
from dashboard.health.result import Kind
from dashboard.health.target import Target
from tests.dashboard.health.servers import Server, answers, serving
from tests.dashboard.health.world import App, stopped, up
from tests.dashboard.itself import WAYS, itself  # noqa: F401 - fixture

NOBODY = ("unknown", "no-probe")


@pytest.mark.parametrize("scheme", ["http", "https", "tcp", "auto"])
@pytest.mark.parametrize("host", [*WAYS, "0.0.0.0", "::"])
async def test_no_way_to_write_its_address_is_connected_to(
    itself: Server,  # noqa: F811
    host: str,
    scheme,
):
    result = await probe(Target(scheme=scheme, host=host, port=itself.port))

    assert (result.kind, result.addr) == (Kind.NO_PROBE, None)
    assert result.error == f"{host}:{itself.port} is this service itself: it is not probed"
    assert itself.heard == []


async def test_a_name_is_judged_by_the_addresses_it_has_now(itself: Server, monkeypatch):  # noqa: F811
    turned = [[(0, 0, 0, "", (ip, 0))] for ip in ("127.0.0.1", "192.0.2.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: turned.pop())
    target = Target(host="app.example", port=itself.port, timeout=0.2)

    elsewhere, here = await probe(target), await probe(target)

    assert (elsewhere.kind is Kind.NO_PROBE, here.kind is Kind.NO_PROBE) == (False, True)
    assert itself.heard == []


@pytest.mark.usefixtures("itself")
async def test_every_other_port_of_the_machine_is_probed():
    async with serving(answers()) as server:
        result = await probe(Target(port=server.port))

    assert (result.kind, len(server.heard)) == (Kind.OK, 1)


@pytest.mark.parametrize("app", [App(), App(always=True), up(), stopped()])
def test_what_is_not_asked_is_unknown_whatever_it_was(app: App):
    app.probe(Kind.NO_PROBE)

    assert app.is_ == NOBODY
    assert app.record.message == "no-probe"
    assert app.next_probe() is not None  # a name may mean another machine tomorrow


def test_what_its_service_has_told_is_known_better():
    gone, again, stops = App(), App(), App()
    gone.tell(Exited(1))
    again.tell(Exited(1, retry_in=30.0))
    stops.tell(Started())
    stops.tell(Stopping())

    for app in (gone, again, stops):
        app.probe(Kind.NO_PROBE)

    assert (gone.is_, again.is_) == (("down", "exited"), ("starting", "backoff"))
    assert stops.is_ == ("stopping", "user")
    stops.tell(StopFailed())
    stops.probe(Kind.NO_PROBE)
    assert stops.is_ == NOBODY


def test_it_answers_again_once_its_file_points_elsewhere():
    app = App()
    app.probe(Kind.NO_PROBE)
    app.probe(Kind.OK)

    assert app.is_ == ("up", "ok")
