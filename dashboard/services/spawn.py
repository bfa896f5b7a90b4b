"""Start a command under the wrapper, in its own session and process group."""

from __future__ import annotations

import logging
import os
import subprocess
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from config.process import table
from config.storage import files
from dashboard.services import environment, layout, logs, record, wrapper
from dashboard.services.definition import Service
from dashboard.services.record import Exit, Record
from dashboard.services.system import boot

log = logging.getLogger(__name__)


class CannotStart(Exception):
    """The command was not started; the text names the reason and the fix."""


def start(
    slug: str,
    service: Service,
    *,
    login: Mapping[str, str],
    now: datetime,
    reason: str = "spawned",
    last_exit: Exit | None = None,
    restarts: int = 0,
    once: bool = False,
    open_files: int | None = None,
) -> Record:
    """Start a run and return its record, saved before and after. `open_files`: its limit, None for
    ours.

    Blocks. Raises CannotStart.
    """
    run = uuid.uuid4().hex
    try:
        env = environment.compose(login, service, slug=slug, run=run)
    except environment.Unusable as error:
        raise CannotStart(str(error)) from None
    cwd = _cwd(service, env)
    if not service.argv or "\0" in "".join(service.argv):
        raise CannotStart("service.command: must name a program, without NUL characters")
    try:
        with files.writing(f"logs/{slug}"):
            output, log_start = logs.append_to(slug)
    except files.CannotWrite as error:
        raise CannotStart(error.text) from None
    intent = Record(
        run=run,
        boot=boot.boot_id(),
        at=now,
        reason=reason,
        last_exit=last_exit,
        restarts=restarts,
        once=once,
        definition=service.fingerprint,
        log_start=log_start,
    )
    try:
        return _launch(
            slug, service, intent, env=env, cwd=cwd, output=output, open_files=open_files
        )
    finally:
        os.close(output)


def _launch(
    slug: str,
    service: Service,
    intent: Record,
    *,
    env: Mapping[str, str],
    cwd: Path,
    output: int,
    open_files: int | None,
) -> Record:
    argv = wrapper.argv(
        service.argv, run=intent.run, exit_file=layout.exit_file(slug), files=open_files
    )
    try:
        record.save(slug, intent)
        pid = _spawn_process(argv, env=env, cwd=cwd, output=output)
    except files.CannotWrite as error:
        raise CannotStart(error.text) from None
    except OSError as error:
        raise CannotStart(f"service.command: {os.strerror(error.errno or 0)}") from None
    process = table.find(pid)  # works even if it has ended already: it has not been reaped
    started = process.started if process else 0
    done = replace(intent, pid=pid, started=started, leader=pid, leader_started=started)
    try:
        record.save(slug, done)
    except files.CannotWrite as error:  # it runs, and the record on disk has the mark to find it by
        log.warning("a service's record", extra={"slug": slug, "why": error.text})
    return done


def _spawn_process(argv: list[str], *, env: Mapping[str, str], cwd: Path, output: int) -> int:
    child = subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        close_fds=True,  # also the instance's lock, which would outlive us in the service
    )
    child.returncode = 0  # Popen must not wait for it: its end is seen through a pidfd
    return child.pid


def _cwd(service: Service, env: Mapping[str, str]) -> Path:
    cwd = (service.cwd or Path(env.get("HOME", "/"))).expanduser()
    if not cwd.is_dir():
        raise CannotStart(f"service.cwd: {cwd} is not a directory; create it or change service.cwd")
    return cwd
