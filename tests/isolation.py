"""Every test run has its own data directory, HOME and free ports; nothing of the user's is seen.

Loaded by `-p tests.isolation` in pyproject.toml: pytest-django reads the settings before any
conftest.py is imported.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

RUN_DIR = Path(tempfile.mkdtemp(prefix="svc-tests-"))
KEPT = {"SVC_RING", "SVC_SEED", "SVC_CI", "SVC_BENCH_REPOS", "SVC_BENCH_BRANCHES"}
for name in [name for name in os.environ if name.startswith("SVC_") and name not in KEPT]:
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
