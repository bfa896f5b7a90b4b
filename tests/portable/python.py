"""A Python of its own for the processes of a service, in which only Linux's calls are missing."""

from __future__ import annotations

import os
import shutil
import site
import sys
from pathlib import Path

TAKEN = Path(__file__).with_name("taken.py")
# of Linux alone, or what tells or does there what nothing tells or does elsewhere
PROGRAMS = {"bwrap", "ip", "prlimit", "setpriv", "ss", "systemctl", "unshare", "nsenter"}


def made(folder: Path) -> tuple[Path, str]:
    """The interpreter, and a PATH without the programs of Linux.

    A virtual environment, so that whatever runs `sys.executable` is in it too, in any environment.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    base = Path(sys.base_prefix) / "bin"
    (folder / "pyvenv.cfg").write_text(f"home = {base}\n")
    shutil.copyfile(TAKEN, packages / "svc_taken.py")
    others = "\n".join(site.getsitepackages())
    (packages / "svc.pth").write_text(f"{others}\nimport svc_taken\n")
    programs = folder / "bin"
    programs.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        if Path(place).is_dir() and place != str(Path(sys.executable).parent):
            for program in Path(place).iterdir():
                (programs / program.name).unlink(missing_ok=True)
                if program.name not in PROGRAMS:
                    (programs / program.name).symlink_to(program)
    python = programs / "python"
    python.unlink(missing_ok=True)
    python.symlink_to(base / version)
    return python, str(programs)
