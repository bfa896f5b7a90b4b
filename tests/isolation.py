"""Every test run has its own data directory, HOME and free ports; nothing of the user's is seen.

Loaded by `-p tests.isolation` in pyproject.toml: pytest-django reads the settings before any
conftest.py is imported.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings

RUN_DIR = Path(tempfile.mkdtemp(prefix="svc-tests-"))
KEPT = {"SVC_RING", "SVC_SEED", "SVC_CI", "SVC_BENCH_REPOS", "SVC_BENCH_BRANCHES"}
OURS = ("SVC_", "ANTHROPIC_", "OPENAI_", "CLAUDE_", "AWS_", "GOOGLE_", "CLOUD_ML_")
for name in [name for name in os.environ if name.startswith(OURS) and name not in KEPT]:
    del os.environ[name]
os.environ |= {
    "HOME": str(RUN_DIR / "home"),
    "SVC_DATA_DIR": str(RUN_DIR / "data"),
    "SVC_PORT": "0",
    "SVC_REVIEW_PORT": "0",
    "SVC_DASHBOARD_PORT": "0",
}
(RUN_DIR / "home").mkdir()

# Properties are tried on new examples wherever a person runs them; in CI always on the same, so
# that a run is red for what was changed and not for its dice.
settings.register_profile("ci", derandomize=True, database=None, deadline=None, print_blob=True)
if os.environ.get("SVC_CI"):
    settings.load_profile("ci")


def pytest_unconfigure() -> None:
    shutil.rmtree(RUN_DIR, ignore_errors=True)
