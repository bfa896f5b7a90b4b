"""What is imported when it is first wanted, while the event loop goes on."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from config.web.entrance import authenticator, by_name, lazily
from config.web.late import Late, without

PART = """
from tests.config import test_late
test_late.IMPORTS.append(__name__)
assert test_late.GATE.wait(10)
if test_late.BROKEN:
    raise RuntimeError("broken")
async def app(scope, receive, send):
    await send(scope["path"])
def names():
    return {"apps.example"}
def authenticate(scope):
    return scope["path"]
"""
IMPORTS: list[str] = []
BROKEN: list[bool] = []
GATE = threading.Event()


@pytest.fixture(autouse=True)
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module whose import takes until GATE is set."""
    (tmp_path / "slow_part.py").write_text(PART)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_part", raising=False)
    IMPORTS.clear()
    BROKEN.clear()
    GATE.clear()
    yield
    sys.modules.pop("slow_part", None)


async def called(name: str) -> object:
    """What comes of a first request that needs the part."""
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    scope = {"path": "/x"}
    if name == "app":
        await lazily("slow_part.app")(scope, None, send)  # type: ignore[arg-type]
        return sent
    if name == "names":
        return await by_name("slow_part.names")()
    return await authenticator("slow_part.authenticate", blocking=False)(scope)


@pytest.mark.parametrize(
    ("name", "result"), [("app", ["/x"]), ("names", {"apps.example"}), ("authenticate", "/x")]
)
async def test_the_event_loop_goes_on_while_a_part_is_imported(name, result):
    request = asyncio.create_task(called(name))

    async with asyncio.timeout(5):
        while not IMPORTS:  # the import has begun and waits; this loop turns
            await asyncio.sleep(0)
    GATE.set()

    assert await request == result


async def test_all_first_requests_wait_for_one_import_also_when_one_of_them_leaves():
    late = Late("slow_part.names")
    first, *others = [asyncio.create_task(late.get()) for _ in range(40)]
    await asyncio.sleep(0)
    first.cancel()
    GATE.set()

    found = await asyncio.gather(*others)

    assert {one() == {"apps.example"} for one in found} == {True}
    assert IMPORTS == ["slow_part"]
    assert await late.get() is found[0]


async def test_a_part_that_could_not_be_imported_is_tried_again():
    late = Late("slow_part.names")
    BROKEN.append(True)
    GATE.set()

    with pytest.raises(RuntimeError, match="broken"):
        await late.get()
    BROKEN.clear()

    assert (await late.get())() == {"apps.example"}


def test_what_is_said_not_to_be_installed_is_missing_for_that_long(part):
    GATE.set()

    with without("slow_part"), pytest.raises(ImportError):
        import_module("slow_part")

    assert import_module("slow_part") is sys.modules["slow_part"]


def test_what_is_loaded_already_is_not_taken_away(part):
    GATE.set()
    loaded = import_module("slow_part")

    with without("slow_part"):
        assert import_module("slow_part") is loaded

    assert sys.modules["slow_part"] is loaded
