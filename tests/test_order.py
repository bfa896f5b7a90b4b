"""Pages go to two workers and the rest to the others, until one of the two is all done; what shares
a service goes to one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.order import LONG, SHARED, Apart

PAGES = [f"tests/browser/test_{n}.py::test_it" for n in range(3)]
REST = [f"tests/review/test_{n}.py::test_it" for n in range(5)]
ALL = PAGES + REST
SERVED = [
    f"tests/{part}/api/test_{n}.py::test_it" for n in range(3) for part in ("review", "dashboard")
]


class Worker:
    """A worker of xdist that notes what it is sent, and runs it when the test says so."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_pages_go_to_two_workers_and_who_has_nothing_left_takes_what_there_is():
    scheduler, workers = scheduled("gw0", "gw1", "gw2")
    page, other, rest = workers
    assert (page.sent, other.sent) == ([0, 2], [1, 4])  # two each; its pages, then what is left
    assert rest.sent == [3, 5]

    scheduler.mark_test_complete(rest, 3)

    assert rest.sent == [3, 5, 6]


def test_one_worker_has_the_pages_first_and_then_all_files():
    scheduler, (only,) = scheduled("gw0")
    for at in range(8):
        scheduler.mark_test_complete(only, only.sent[at])

    assert only.sent == list(range(8))


def test_a_folder_that_shares_a_service_is_left_to_who_began_with_it():
    given = [*SERVED, REST[0]]
    scheduler, (one, other, late) = scheduled("gw2", "gw3", "gw4", given=given)
    assert (one.sent, other.sent, late.sent) == ([0, 2], [1, 3], [6, 4])  # as nothing else is left

    scheduler.mark_test_complete(other, 1)

    assert other.sent == [1, 3, 5]


def test_every_folder_whose_tests_share_what_runs_is_known():
    tests = Path(__file__).parent
    found = {
        path.parent.relative_to(tests).as_posix()
        for path in tests.rglob("conftest.py")
        if 'scope="package"' in path.read_text()
    }

    assert found == {*SHARED, "browser"}  # the pages have workers of their own


def test_every_file_that_is_said_to_take_long_is_there():
    tests = Path(__file__).parent

    assert [one for one in LONG if not (tests / one).is_file()] == []


def scheduled(*names: str, given: list[str] = ALL) -> tuple[Any, list[Worker]]:
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(option=option, getvalue=lambda _name: ["popen"] * len(names))
    scheduler: Any = Apart(config)  # type: ignore[arg-type]
    workers = [Worker(name) for name in names]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, given)
    scheduler.schedule()
    return scheduler, workers
