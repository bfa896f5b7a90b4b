"""The shell around each service's command, which records how the command ended.

It runs the command in its own foreground: a shell sets INT and QUIT to "ignored" for what it puts
into the background. `trap :` (not `trap ''`, which a child inherits) lets it outlive the signals
that end the command. The script is an argument, not a file: an upgrade cannot change it in a run.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from dashboard.services.definition import STOP_SIGNALS

SCRIPT = """\
trap : HUP INT QUIT ALRM TERM USR1 USR2
[ "$3" = - ] || ulimit -S -n "$3"
command_of_the_service() { shift 3; ( exec "$@" ); }
command_of_the_service "$@"
set -- "$1" "$2" $?
printf '%s %s\\n' "$1" "$3" >"$2"
exit "$3"
"""  # no variables: the service's environment may have one of that name, and it would be changed

HEARD = """\
import os, signal, sys
for number in sys.argv[1].split(","):
    signal.signal(int(number), signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""


def argv(command: Iterable[str], *, run: str, exit_file: Path, files: int | None) -> list[str]:
    """The arguments to run. `files`: the limit of open files for the command, None for ours."""
    limit = "-" if files is None else str(files)
    shell = ["/bin/sh", "-c", SCRIPT, "svc-service", run, str(exit_file), limit, *command]
    return [*_unignore(), *shell]


def _unignore() -> list[str]:
    """A program that resets signals we were started to ignore (by nohup or `&`); no shell can."""
    numbers = [signal.Signals[f"SIG{name}"] for name in STOP_SIGNALS if name != "KILL"]
    deaf = [int(number) for number in numbers if signal.getsignal(number) == signal.SIG_IGN]
    heard = [*deaf, int(signal.SIGPIPE), int(signal.SIGXFSZ)]  # Python ignores these two itself
    return [sys.executable, "-I", "-S", "-c", HEARD, ",".join(map(str, heard))] if deaf else []
