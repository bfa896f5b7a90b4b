"""Where a test runs among the others, and on which of the workers: waits are filled with work."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

PAGES = ("gw0", "gw1")  # of four or five workers; where there are fewer, these have all files


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes among those that do not, each file whole: while some workers wait
    for what they started, others have work for the processor. At the end only short ones are left,
    so that all workers end together.
    """
    starting = {item.path for item in items if item.get_closest_marker("process")}
    files = list(dict.fromkeys(item.path for item in items))
    places: dict[Path, float] = {}
    for kind, until in ((True, 0.9), (False, 1.0)):
        those = [path for path in files if (path in starting) is kind]
        places |= {path: until * place / len(those) for place, path in enumerate(those)}
    items.sort(key=lambda item: places[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    return Apart(config, log)


class Apart(LoadFileScheduling):
    """Two workers begin with the files of pages, the others with the rest, and each goes on with
    what is left: pages want the processor, most other tests wait. One browser serves a worker as
    long as it has pages; between other files each would start its own.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        pages = node.gateway.id in PAGES
        for file in self.workqueue:
            if ("/browser/" in file) is pages:
                self.workqueue.move_to_end(file, last=False)
                break
        super()._assign_work_unit(node)
