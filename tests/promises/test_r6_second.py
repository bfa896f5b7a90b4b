"""R6: of two starts on one data directory one serves; the other names it and ends with 2."""

from __future__ import annotations

import subprocess

import pytest

from tests.promises.rings import ring
from tests.service import Service, until

ROUNDS = ring(fast=1, slow=100)


@pytest.mark.promise("R6")
def test_of_two_starts_at_once_one_serves_and_the_other_names_it(stopped_service):
    service = stopped_service
    service.start()
    service.stop()
    for _ in range(ROUNDS):
        winner, loser = race(service)
        out, err = loser.communicate(timeout=10)

        assert loser.returncode == 2, out + err
        assert err.startswith("not starting: another svc serves ")
        assert f"(pid {winner.pid}" in err or f"(pid {service.facts().get('pid')}" in err
        until(lambda: service.facts().get("pid"), seconds=30, what="the winner serves")
        until(lambda: service.http.get("/api/health").status_code == 200)
        winner.terminate()
        out, err = winner.communicate(timeout=15)
        assert (winner.returncode, err) == (0, "")


def race(service: Service) -> tuple[subprocess.Popen[str], subprocess.Popen[str]]:
    """(the one that serves, the one that has ended)."""
    both = [service.spawn("up", stderr=subprocess.PIPE) for _ in range(2)]
    try:
        loser = until(lambda: [one for one in both if one.poll() is not None], seconds=30)[0]
    except AssertionError:
        for one in both:
            one.kill()
        raise
    return both[1 - both.index(loser)], loser
