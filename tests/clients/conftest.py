"""One real service with three management clients, for clients of every kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service import Service

TOKENS = {
    "ADMIN": "svc_home_" + "ad" * 24,
    "READER": "svc_home_" + "be" * 24,
    "ALPHA": "svc_home_" + "a1" * 24,
}
CONFIG = {
    "managementApi": {
        "instanceId": "home",
        "publicUrl": "https://svc.example.com/base",
        "authorizationServers": ["https://login.example.com"],
        "clients": {
            "admin": {"auth": {"ref": "env:ADMIN"}, "scope": {"allow": ["*"]}},
            "reader": {"auth": {"type": "token", "ref": "env:READER"}},
            "alpha": {
                "auth": {"ref": "env:ALPHA"},
                "scope": {"allow": ["*"], "deny": ["run_trigger"], "projects": ["alpha"]},
            },
        },
    }
}


@pytest.fixture(scope="package")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Projects alpha and beta; nothing runs turns."""
    service = Service(
        tmp_path_factory.mktemp("managed"), env=TOKENS, config=CONFIG, scheduler=False
    )
    for slug in ("alpha", "beta"):
        (service.projects / slug).mkdir(parents=True)
        (service.projects / slug / "project.yaml").write_text(f"name: {slug.title()}\n")
    with service:
        yield service
