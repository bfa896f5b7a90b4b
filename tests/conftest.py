"""Every test run has its own data directory, HOME and free ports; nothing of the user's is seen."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

RUN_DIR = Path(tempfile.mkdtemp(prefix="svc-tests-"))
for name in [name for name in os.environ if name.startswith("SVC_") and name != "SVC_RING"]:
    del os.environ[name]
os.environ |= {
    "HOME": str(RUN_DIR / "home"),
    "SVC_DATA_DIR": str(RUN_DIR / "data"),
    "SVC_PORT": "0",
    "SVC_REVIEW_PORT": "0",
    "SVC_DASHBOARD_PORT": "0",
}
(RUN_DIR / "home").mkdir()


def pytest_unconfigure() -> None:
    shutil.rmtree(RUN_DIR, ignore_errors=True)


from tests.service import service, shared_service  # noqa: E402, F401 - fixtures, after the above
