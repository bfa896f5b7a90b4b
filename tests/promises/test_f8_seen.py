"""F8: a file edited by hand is told to every open page, soon."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import httpx
import pytest

from tests.promises.rings import ring
from tests.service import Service
from tests.wire import EventClient

EDITS = ring(fast=20, slow=1000)


@pytest.mark.promise("F8")
def test_an_edit_by_hand_reaches_an_open_stream(tmp_path):
    with Service(tmp_path, scheduler=False) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        file = service.projects / "alpha" / "project.yaml"
        client = EventClient(service.ports["main"], "/api/events")
        client.connect()
        settle(client, file)

        late = sorted(seen(client, file, number) for number in range(EDITS))

        client.close()
        assert median(late) < 0.150
        assert late[min(len(late) - 1, int(len(late) * 0.99))] < 1.0
        answer = httpx.get(f"{service.url}/api/projects/alpha", timeout=10)
        assert answer.json()["project"]["summary"] == f"edit {EDITS - 1}"


def edit(file: Path, number: int) -> None:
    """As editors save: every other time in place, else by a file moved over it."""
    text = f"name: Alpha\nsummary: edit {number}\n"
    if number % 2:
        file.write_text(text)
    else:
        draft = file.with_name(".project.yaml.swp")
        draft.write_text(text)
        draft.replace(file)


def settle(client: EventClient, file: Path) -> None:
    """Until the watcher watches: a first edit has been told."""
    while not client.ids:
        edit(file, 1)
        client.socket.settimeout(0.2)
        try:
            client.read()
        except TimeoutError:
            continue
    quiet(client)


def quiet(client: EventClient) -> None:
    """Until nothing more comes of what was done."""
    client.socket.settimeout(0.2)
    try:
        while client.read():
            pass
    except TimeoutError:
        client.socket.settimeout(10)


def seen(client: EventClient, file: Path, number: int) -> float:
    """Seconds from an edit to its event."""
    before = len(client.ids)
    start = time.monotonic()
    edit(file, number)
    while len(client.ids) == before:
        assert client.read()
    took = time.monotonic() - start
    quiet(client)
    return took
