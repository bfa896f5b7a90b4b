"""Every test run has its own data directory, HOME and free ports; nothing of the user's is seen.

Loaded by `-p tests.isolation` in pyproject.toml: pytest-django reads the settings before any
conftest.py is imported.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from tests import postgres, redis

RUN_DIR = Path(tempfile.mkdtemp(prefix="svc-tests-"))
KEPT = {"SVC_STORE", "SVC_RING", "SVC_SEED", "SVC_CI", "SVC_BENCH_REPOS", "SVC_BENCH_BRANCHES"}
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
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is started would compile all it imports
(RUN_DIR / "home").mkdir()

# SVC_STORE=postgres, SVC_STORE=postgres+redis: the same tests on private servers.
if (store := os.environ.pop("SVC_STORE", "sqlite")) not in ("sqlite", "postgres", "postgres+redis"):
    raise SystemExit(f"SVC_STORE={store}: must be sqlite, postgres or postgres+redis")
if store != "sqlite":
    os.environ["SVC_DATABASE_URL"] = postgres.choose().create("svc")
if store == "postgres+redis":
    os.environ["SVC_REDIS_URL"] = f"{redis.choose()}/0"

# A run that is ended from outside ends its services first, as after Ctrl-C.
signal.signal(signal.SIGTERM, signal.default_int_handler)

# Properties are tried on new examples wherever a person runs them; in CI always on the same, so
# that a run is red for what was changed and not for its dice. No clock judges them.
settings.register_profile(
    "run",
    max_examples=500 if os.environ.get("SVC_RING", "").startswith("slow") else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "ci", settings.get_profile("run"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("SVC_CI") else "run")


def pytest_unconfigure() -> None:
    if (cluster := postgres.chosen()) is not None:
        cluster.remove()
    shutil.rmtree(RUN_DIR, ignore_errors=True)
