"""The turn process, `python -m workspace.chats.turns.process <chat> <turn>`: it runs one turn.

It reads its job from the first line of stdin and writes its records into the chat's transcript. It
uses no Django, no database and no settings, and everything it started is dead when it exits.

What the sandbox needs is loaded first, so that the sandbox starts while the rest is loaded.
"""

from __future__ import annotations

import os
import resource
import sys

from config.process import prctl
from workspace.engines import procs
from workspace.engines.base import Job
from workspace.engines.confinement import Confinement
from workspace.engines.control import Control

DONE, ORPHANED, LOCKED, KNOWN, UNREADABLE, UNWRITABLE = 0, 1, 3, 4, 5, 6
FILE_BYTES = 4 * 1024**3


def main(argv: list[str]) -> int:
    """Run the turn that stdin describes; the exit code says how it ended."""
    _protect()
    control = Control()
    try:
        job = Job.from_json(control.job_line())
    except ValueError:
        return UNREADABLE
    if [job.chat, job.turn] != argv[1:]:
        return UNREADABLE
    if os.getppid() != job.worker_pid:
        return ORPHANED
    confinement = Confinement(job)
    if job.engine == "runbook" and "```Bash" in job.prompt:
        confinement.prepare()
    return _run(job, control, confinement)


def _run(job: Job, control: Control, confinement: Confinement) -> int:
    from workspace.chats import transcript
    from workspace.chats.turns import waiting
    from workspace.chats.turns.recorder import Recorder
    from workspace.chats.turns.running import Log, Turn

    sys.stdout = sys.stderr = Log(job.secrets)
    control.listen(job.turn_seconds)
    path = os.path.join(job.chats_dir, f"{job.chat}.jsonl")
    try:
        with transcript.Writer(path) as writer:
            if not waiting.fits(path, job):
                return KNOWN
            Turn(job, control, Recorder(writer, job), confinement).run()
    except transcript.Busy:
        return LOCKED
    except transcript.StorageError as error:
        print(f"the transcript cannot be written: {error}", file=sys.stderr)
        return UNWRITABLE
    finally:
        procs.kill_rest(job.turn)
    return DONE


def _protect() -> None:
    """Die with the worker, adopt orphans, hide the memory that holds the bearer from commands."""
    prctl.die_with_parent()
    prctl.become_subreaper()
    prctl.hide_memory()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = FILE_BYTES if hard == resource.RLIM_INFINITY else min(FILE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


if __name__ == "__main__":
    # Nothing is buffered and nothing needs cleanup, which would take a tenth of a turn (S5).
    os._exit(main(sys.argv))
