"""`manage.py install-service`: install the service as a job of this user that starts by itself."""
# ruff: noqa: N999 - the name of a command

from __future__ import annotations

import os
import shutil
import subprocess
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import written
from config.errors import SvcError
from config.process import units
from config.process.units import KINDS, Job, native, place
from config.storage import opening

LINGER = Path("/var/lib/systemd/linger")
WRITTEN = {"SVC_DATA_DIR"}  # into the job; every other variable is read from a file


class Command(BaseCommand):
    help = "Runs `manage.py up` at every login: a user unit of systemd, a job of launchd."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default="svc", help="of the unit; one per data directory")
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument(
            "--print", nargs="?", const=native(), choices=KINDS, dest="kind", help="write nothing"
        )
        ways.add_argument("--remove", action="store_true", help="stop the service, take it away")

    def handle(self, *, name: str, kind: str | None, remove: bool, **options: Any) -> None:
        try:
            job = units.here(name, settings.BASE_DIR, settings.DATA_DIR, os.environ)
            if kind is not None:
                self.stdout.write(KINDS[kind](job), ending="")
            elif remove:
                self.remove(job)
            else:
                self.install(job)
        except SvcError as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}", returncode=1) from error

    def install(self, job: Job) -> None:
        path = place(job)
        if native() == "systemd" and shutil.which("systemctl") is None:
            raise CommandError("no systemd here; --print shows what would be run", returncode=1)
        fresh = units.write(path, KINDS[native()](job))
        self.stdout.write(f"{'wrote' if fresh else 'unchanged:'} {path}")
        for line in hints(job):
            self.stdout.write(line)
        if native() == "systemd":
            self.call("systemctl", "--user", "daemon-reload")
            self.call("systemctl", "--user", "enable", job.name)
            self.stdout.write(f"start it: systemctl --user start {job.name}")
            self.stdout.write(f"its output: journalctl --user -u {job.name}")
        else:
            self.stdout.write(f"start it: launchctl bootstrap gui/{os.getuid()} {path}")
            self.stdout.write(f"its output: {job.data_dir}/logs/service.log")

    def remove(self, job: Job) -> None:
        path = place(job)
        if not path.exists():
            self.stdout.write(f"nothing to remove: {path} is not there")
            return
        found = opening.contents(path).decode()
        units.refuse_foreign(path, found)
        units.refuse_other(path, found, KINDS[native()](job))
        if native() == "systemd":
            self.call("systemctl", "--user", "disable", "--now", job.name)
        else:
            self.call("launchctl", "bootout", f"gui/{os.getuid()}/{job.label}")
        units.remove(path)
        if native() == "systemd":
            self.call("systemctl", "--user", "daemon-reload")
        self.stdout.write(f"removed {path}; {job.data_dir} and the apps that run are left alone")

    def call(self, *argv: str) -> None:
        """Run a command of the machine's supervisor; if it fails, print it for the user to run."""
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
            why = "" if done.returncode == 0 else done.stderr.strip().partition("\n")[0]
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
        if why:
            self.stdout.write(f"not done ({why}), do it yourself: {' '.join(argv)}")


def hints(job: Job) -> list[str]:
    """What may be missing in this installation, one hint a line."""
    told = []
    known = written.variables_of(job.environment)
    if left := sorted(name for name in settings.SVC.environ if is_ours(name) and name not in known):
        names = ", ".join(left)
        told.append(
            f"hint: {names} set here, unknown to the job: write them into {job.environment}"
        )
    if os.geteuid() == 0:
        told.append("hint: this is root, and so will its agents be; create a user for the service")
    if native() == "systemd" and LINGER.parent.exists():
        user = os.environ.get("USER", "")
        if not (LINGER / user).is_file():
            told.append("hint: it ends when you log out; `loginctl enable-linger` keeps it running")
    return told


def is_ours(name: str) -> bool:
    return name.startswith("SVC_") and name not in WRITTEN
