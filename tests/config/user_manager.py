"""A user manager of systemd, for a test: in a mount and pid namespace of its own, as root.

Nothing of it outlives the test, and the machine's own systemd, if it runs one, hears nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import psutil
import pytest

from tests.service import ROOT, until

SYSTEMD = Path("/usr/lib/systemd/systemd")
INSIDE = """\
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/mine && chmod 700 /run/mine
export XDG_RUNTIME_DIR=/run/mine SYSTEMD_LOG_TARGET=console
/usr/lib/systemd/systemd --user --log-level=warning
"""

needed = pytest.mark.skipif(
    os.geteuid() != 0 or not SYSTEMD.exists() or shutil.which("nsenter") is None,
    reason="a user manager of its own needs root, systemd and nsenter",
)


class UserManager:
    """`systemd --user` whose units are those of `home`."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.environ = {**environ, "HOME": str(home), "XDG_RUNTIME_DIR": "/run/mine"}
        for name in ("XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"):
            self.environ.pop(name, None)

    def __enter__(self) -> Self:
        flags = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self._outer = subprocess.Popen(
            ["unshare", *flags, "sh", "-c", INSIDE], env=self.environ, stderr=subprocess.DEVNULL
        )
        top = psutil.Process(self._outer.pid)
        self._init = until(top.children, what="the namespace")[0].pid
        until(lambda: self.run("systemctl", "--user", "is-active", "basic.target").stdout.strip()
              == "active", what="the user manager")  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._outer.kill()
        self._outer.wait(10)

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """A command inside, to its end."""
        return subprocess.run(
            ["nsenter", f"--target={self._init}", "--mount", "--pid", "--", *argv],
            env=self.environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def systemctl(self, *argv: str) -> str:
        """`systemctl --user …`; fails with what it said."""
        done = self.run("systemctl", "--user", *argv)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def manage(self, *argv: str) -> str:
        """`manage.py …`; fails with what it said."""
        done = self.run(sys.executable, str(ROOT / "manage.py"), *argv)
        assert done.returncode == 0, done.stderr
        return done.stdout
