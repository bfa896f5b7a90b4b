"""An app file that points at the service itself makes it ask itself nothing."""

from __future__ import annotations

import socket
from functools import partial
from typing import Any

import pytest

from tests.dashboard.served import Served
from tests.service import until

HOSTS = ("127.0.0.1", "127.8.8.8", "shop.localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]")


@pytest.mark.parametrize("surface", ["main", "review", "dashboard"])
def test_an_app_at_one_of_the_three_ports_is_unknown_and_says_why(
    served: Served,
    surface: str,
) -> None:
    port, slug = served.ports[surface], f"own-{surface}"
    served.declare(slug, f"url: http://localhost:{port}/\nexpected: always\n")

    app = until(lambda: asked(served, slug), what="asked")

    assert (app["state"], app["reason"]) == ("unknown", "no-probe")
    assert app["message"] == f"localhost:{port} is this service itself: it is not probed"
    assert (app["last"]["ok"], app["last"]["status"], app["last"]["addr"]) == (False, None, None)
    assert app["uptime"]["24h"] is None


def test_no_way_to_write_its_address_gets_an_answer(served: Served) -> None:
    port = served.ports["review"]
    slugs = {f"way-{n}": host for n, host in enumerate((*HOSTS, socket.gethostname()))}
    for slug, host in slugs.items():
        served.declare(slug, f"port: 1\nhealth: {{url: 'http://{host}:{port}/'}}\n")

    apps = {host: until(partial(asked, served, slug)) for slug, host in slugs.items()}

    assert {host: app["last"]["addr"] for host, app in apps.items()} == dict.fromkeys(apps)
    assert {app["reason"] for app in apps.values()} == {"no-probe"}


def asked(served: Served, slug: str) -> dict[str, Any]:
    """The app once it has been asked."""
    app = served.app(slug)
    return app if app.get("last") else {}
