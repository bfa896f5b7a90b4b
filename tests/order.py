"""Where a test runs among the others, and on which of the workers: waits are filled with work."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

PAGES = ("gw0", "gw1")  # of four or five workers; where there are fewer, these have all files
# They take twenty seconds and more, whatever runs beside them, and would come last by their names.
LONG = (
    "workspace/chats/turns/test_questions.py", "workspace/chats/turns/test_waiting.py",
    "workspace/engines/claude/test_walls.py", "workspace/engines/conformance/test_every_engine.py",
    "workspace/triggers/test_qcluster.py", "workspace/triggers/test_ticker.py",
)  # fmt: skip
# Folders whose tests share one service: a worker that leaves one ends it, and would start it anew.
SHARED = ("clients", "dashboard/api", "dashboard/daemon", "portable", "review/api")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes among those that do not, each file whole: while some workers wait
    for what they started, others have work for the processor. At the end only short ones are left,
    so that all workers end together: those that take long come early.
    """
    starting = {item.path for item in items if item.get_closest_marker("process")}
    files = sorted(dict.fromkeys(item.path for item in items), key=lambda path: not is_long(path))
    places: dict[Path, float] = {}
    for kind, until in ((True, 0.9), (False, 1.0)):
        those = [path for path in files if (path in starting) is kind]
        places |= {path: until * place / len(those) for place, path in enumerate(those)}
    items.sort(key=lambda item: places[item.path])


def is_long(path: Path) -> bool:
    return path.as_posix().endswith(LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    return Apart(config, log)


class Apart(LoadFileScheduling):
    """Two workers begin with the files of pages, the others with the rest, and each goes on with
    what is left: pages want the processor, most other tests wait. One browser serves a worker as
    long as it has pages; between other files each would start its own. So it is with the service of
    a folder that shares one: whoever began with such a folder goes on with it.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        pages = node.gateway.id in PAGES
        begun = {one: {*map(shared, files)} - {None} for one, files in self.assigned_work.items()}
        mine = begun.pop(node)
        theirs = set().union(*begun.values()) - mine

        def place(file: str) -> tuple[bool, bool, bool]:
            folder = shared(file)
            return ("/browser/" in file) is not pages, folder in theirs, folder not in mine

        self.workqueue.move_to_end(min(self.workqueue, key=place), last=False)
        super()._assign_work_unit(node)


def shared(file: str) -> str | None:
    """The folder of a file whose tests share a service."""
    folder = file.rpartition("/")[0]
    return folder if folder.endswith(SHARED) else None
