"""G15: whatever stands where a file is expected, the service reads on and stays small."""

from __future__ import annotations

import contextlib
import re
import resource
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.promises.traps import TRAPS, Scene, set_under
from tests.service import Service, until

ADDRESS_SPACE = 4 << 30  # if the guard fails, the server fails, and not the machine
GROWTH = 50 << 20
SEEN_S = 2.0  # or ten times as long as without a trap, on a machine that does much else


class Bounded(Service):
    """A service that can never take the memory of the machine."""

    def spawn(self, *command: str, **kwargs: Any) -> subprocess.Popen[str]:
        return super().spawn(*command, preexec_fn=bound, **kwargs)


def bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


class Stream:
    """What one part tells, as text."""

    def __init__(self, url: str) -> None:
        self.text, self._news = "", threading.Condition()
        self._ready = threading.Event()
        threading.Thread(target=self._read, args=(url,), daemon=True).start()
        assert self._ready.wait(10)

    def _read(self, url: str) -> None:
        with (
            contextlib.suppress(httpx.HTTPError),  # the service ends before its streams do
            httpx.stream("GET", f"{url}/api/events", timeout=None) as answer,
        ):
            self._ready.set()
            for text in answer.iter_text():
                with self._news:
                    self.text += text
                    self._news.notify()

    def tells(self, pattern: str, seconds: float) -> bool:
        with self._news:
            return self._news.wait_for(lambda: re.search(pattern, self.text), seconds) is not None

    def forget(self) -> None:
        with self._news:
            self.text = ""


class Witness:
    """Files beside the traps, edited by hand, and the streams that tell of them."""

    def __init__(self, scene: Scene) -> None:
        service, self.scene, self.number = scene.service, scene, 0
        urls = (service.url, service.review_url, service.dashboard_url)
        self.streams = {url: Stream(url) for url in urls}

    def edit(self) -> None:
        self.number += 1
        for stream in self.streams.values():
            stream.forget()
        text = f"name: Witness {self.number}\n"
        (self.scene.witness / "project.yaml").write_text(f"{text}title: T{self.number}\n")
        self.scene.app.write_text(f"{text}url: http://localhost:9\n")

    def delay(self) -> float:
        """Seconds from an edit to its last event, while there is no trap."""
        start = time.monotonic()
        assert self.is_seen(30)
        return time.monotonic() - start

    def is_seen(self, seconds: float) -> bool:
        self.edit()
        deadline = time.monotonic() + seconds
        return all(
            stream.tells("witness", max(0.0, deadline - time.monotonic()))
            for stream in self.streams.values()
        )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("g15")
    service = Bounded(folder, scheduler=False)
    found = Scene(service, folder)
    with service:
        yield found


@pytest.fixture(scope="module")
def witness(scene: Scene) -> Witness:
    found = Witness(scene)
    until(lambda: found.is_seen(0.5), seconds=20)
    for _ in range(2):  # what is loaded and cached by a first use
        assert ask(scene) == []
    return found


def ask(scene: Scene) -> list[str]:
    """Use every address; those that failed or hung."""
    bad = []
    with httpx.Client(timeout=10, trust_env=False) as client:
        for url in scene.requests():
            status = client.get(url).status_code
            if status >= 500:
                bad.append(f"{status} {url}")
    return bad


def peak(pid: int) -> int:
    """The most memory the process had since `forget_peak`."""
    return _kilobytes(pid, "VmHWM") << 10


def forget_peak(pid: int) -> int:
    """The memory it has now, from which the next peak counts."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return _kilobytes(pid, "VmRSS") << 10


def _kilobytes(pid: int, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


@pytest.mark.promise("G15")
@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_under_a_watched_name_blinds_or_feeds_the_service(
    scene: Scene, witness: Witness, trap: str
):
    pid = scene.service.pid
    soon = max(SEEN_S, 10 * witness.delay())
    before = forget_peak(pid)

    with set_under(scene.names, trap):
        assert witness.is_seen(soon)
        assert ask(scene) == []
        assert witness.is_seen(soon)

    assert witness.is_seen(soon)
    assert (peak(pid) - before) >> 20 < GROWTH >> 20
    assert scene.service.pid == pid
    assert "was not handled" not in scene.service.log()


@pytest.mark.slow
@pytest.mark.promise("G15")
def test_the_commands_pass_by_what_is_no_file(scene: Scene, witness: Witness, tmp_path: Path):
    assets = scene.trap / "assets"
    traps = [trap for trap in TRAPS if trap not in ("a file that grows", "a file of a terabyte")]
    places = [assets / f"{number}.png" for number, _ in enumerate(traps)]
    for place, trap in zip(places, traps, strict=True):
        TRAPS[trap](place)

    done = [
        scene.service.run(*command)
        for command in (("backup", str(tmp_path / "b.tgz")), ("reindex",), ("doctor",))
    ]

    assert [one.returncode for one in done] == [0, 0, 0], done
    assert "a socket, pipe or device" in done[0].stdout + done[0].stderr
    assert (tmp_path / "b.tgz").stat().st_size < 1 << 20
