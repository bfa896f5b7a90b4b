"""Starts git: no shell, no network, no prompt, a minimal environment.

No command that the repository's configuration names is run. A git that exceeds its time is killed
with all processes it started.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO, Literal

from config.git import blocked, walled
from config.process.ending import Ending

TIMEOUT_S = 20.0
PIPE = 1 << 20  # bytes
REAP_S = 1.0  # how long to wait for a killed git; the kernel may hold it (dead network disk)
Kind = Literal["missing", "not_git", "unreadable", "timeout", "revision", "failed"]

SETTINGS = (
    "core.quotepath=off", "core.fsmonitor=false", "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null", "core.askPass=", "core.sshCommand=false",
    "credential.helper=", "protocol.allow=never", "diff.renames=true", "diff.algorithm=myers",
    "diff.indentHeuristic=true", "diff.mnemonicPrefix=false", "diff.noprefix=false",
    "diff.relative=false", "log.showSignature=false", "log.mailmap=false",
    "i18n.logOutputEncoding=UTF-8", "color.ui=false", "gc.auto=0", "maintenance.auto=false",
    "advice.graftFileDeprecated=false",
)  # fmt: skip
ARGV = ["git", "--no-pager", *(part for setting in SETTINGS for part in ("-c", setting))]
INHERITED = ("PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR")
FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C",
}
SIGNS: tuple[tuple[str, Kind], ...] = (
    ("not a git repository", "not_git"),
    ("must be run in a work tree", "not_git"),
    ("dubious ownership", "unreadable"),
    ("ermission denied", "unreadable"),
    ("unknown revision", "revision"),
    ("bad revision", "revision"),
    ("eeded a single revision", "revision"),
    ("ambiguous argument", "revision"),
)


class GitError(Exception):
    """git could not answer; `text` is one sentence for people."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.text = text


class Process(subprocess.Popen[bytes]):
    """A git process whose end is noticed at once. With a timeout, Popen.wait itself polls every few
    milliseconds, which is as long as many git commands take."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.poll() is None:
            with Ending(self) as ending:
                ending.wait(max(0.0, timeout))
            timeout = 0
        return super().wait(timeout)


def run(
    directory: Path,
    *args: str,
    stdin: bytes | None = None,
    timeout: float = TIMEOUT_S,
    environ: Mapping[str, str] | None = None,
    accepted: Collection[int] = (0,),
    shows: Collection[Path] = (),
) -> bytes:
    """Return the output of `git <args>` in `directory`. GitError if it fails, dies or takes too
    long.

    `environ` is added to the safe environment; exit codes other than `accepted` are failures.
    `shows` are folders of ours that git needs behind a wall (config/git/walled.py).
    """
    given = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    process = spawn(directory, args, environ=environ, stdin=given, shows=shows)
    try:
        output, errors = process.communicate(stdin, timeout=timeout)
    except BaseException as error:
        end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise too_slow(args, timeout, directory) from None
        raise
    if process.returncode not in accepted:
        raise failure(directory, args, process.returncode, errors)
    return output


def pipe(
    directory: Path,
    source: Sequence[str],
    sink: Sequence[str],
    *,
    stdin: bytes = b"",
    timeout: float = TIMEOUT_S,
    environ: Mapping[str, str] | None = None,
    shows: Collection[Path] = (),
) -> bytes:
    """Return the output of `git <source> | git <sink>`; `stdin` goes to the source.

    Raises GitError if either fails.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        begin = partial(spawn, directory, environ=environ, shows=shows)
        first = begin(source, stdin=given, stderr=complaints)
        try:
            output = _sink(directory, first, sink, timeout, begin)
        except subprocess.TimeoutExpired:
            raise too_slow(source, timeout) from None
        finally:
            end(first)
        if first.returncode:
            complaints.seek(0)
            raise failure(directory, source, first.returncode, complaints.read())
    return output


def _sink(
    directory: Path,
    first: subprocess.Popen[bytes],
    args: Sequence[str],
    timeout: float,
    begin: Callable[..., subprocess.Popen[bytes]],
) -> bytes:
    assert first.stdout is not None
    second = begin(args, stdin=first.stdout)
    try:
        first.stdout.close()  # only the sink holds it then: when the sink ends, the source notices
        output, errors = second.communicate(timeout=timeout)
        first.wait(REAP_S)
    finally:
        end(second)
    if second.returncode:
        raise failure(directory, args, second.returncode, errors)
    return output


def spawn(
    directory: Path,
    args: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int = subprocess.PIPE,
    shows: Collection[Path] = (),
) -> subprocess.Popen[bytes]:
    """Start git in its own process group; `end` ends it. GitError if it cannot be started."""
    argv, wall = [*ARGV, *args], walled.standing()
    try:
        return Process(
            wall.command(argv, directory, shows) if wall else argv,
            cwd="/" if wall else directory,
            env={**environment(directory), **(environ or {})},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            process_group=0,
        )
    except (FileNotFoundError, NotADirectoryError):
        if directory.is_dir():
            raise GitError("failed", "git is not installed, or not in PATH") from None
        raise GitError("missing", f"No such directory: {directory}") from None
    except PermissionError:
        raise GitError("unreadable", f"Cannot read {directory}: permission denied") from None
    except (ValueError, OSError) as error:  # NUL or a lone surrogate; no process available
        raise GitError("failed", f"git could not be started: {error}") from None


def pieces(process: subprocess.Popen[bytes], timeout: float = TIMEOUT_S) -> Iterator[bytes]:
    """Yield a spawned git's output as it comes. GitError if it fails or is silent for `timeout`."""
    assert process.stdout is not None
    out = process.stdout.fileno()
    widen(out)
    poll = select.poll()
    poll.register(out, select.POLLIN)
    while True:
        if not poll.poll(timeout * 1000):
            raise GitError("timeout", f"git said nothing for {timeout:g} seconds")
        piece = os.read(out, PIPE)
        if not piece:
            break
        yield piece
    if _code(process, timeout):
        raise GitError("failed", f"git ended with {process.returncode}")


def _code(process: subprocess.Popen[bytes], timeout: float) -> int:
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        raise GitError("timeout", "git has finished its output and does not exit") from None


def widen(pipe: int) -> None:
    """Enlarge the pipe to a megabyte so that git can work ahead. Where that fails git waits
    more."""
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def environment(directory: Path) -> dict[str, str]:
    """The whole environment git gets. Git does not look for a repository above the directory."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    ceiling = os.path.dirname(os.path.realpath(directory))  # noqa: PTH120
    return {**kept, **FIXED, "GIT_CEILING_DIRECTORIES": ceiling}


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and all it started if it still runs, and close its pipes."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(REAP_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def too_slow(args: Sequence[str], timeout: float, directory: Path | None = None) -> GitError:
    """The error for a git that was ended; it names what git waited for in the `directory`, if this
    can be seen."""
    why = blocked.reason(directory) if directory else ""
    return GitError("timeout", f"git {args[0]} took more than {timeout:.3g} seconds{why}")


def failure(directory: Path, args: Sequence[str], code: int, errors: bytes) -> GitError:
    """The error for a git that ended with `code`, chosen by its error output."""
    told = errors.decode(errors="replace")
    kind: Kind = next((kind for sign, kind in SIGNS if sign in told), "failed")
    lines = [line for line in told.splitlines() if line.strip()]
    at = next((n for n, line in enumerate(lines) if line.startswith(("fatal: ", "error: "))), 0)
    first = "".join(lines[at : at + 1]).removeprefix("fatal: ").removeprefix("error: ").strip()
    if first.endswith(":"):  # what it announces is indented below
        items = takewhile(lambda line: line.startswith("\t"), lines[at + 1 :])
        first = f"{first} {', '.join(item.strip() for item in items)}".strip()
    match kind:
        case "not_git":
            return GitError(kind, f"Not a git repository: {directory}")
        case "unreadable":
            return GitError(kind, f"Cannot read {directory}: {first[:300]}")
        case _ if code < 0:
            return GitError("failed", f"git {args[0]} was killed by signal {-code}")
        case _:
            return GitError(kind, f"git {args[0]} failed: {first[:300] or f'exit code {code}'}")
