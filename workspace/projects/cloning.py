"""Clone a repository into a new project: five minutes, no prompts, no hooks.

Submodules and transports that run a command are never used, and error texts never name a path of
the server. A running clone reports its progress and can be stopped.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from config.errors import Conflict, Invalid, NotFound, Problem
from workspace.engines.network import Network
from workspace.projects import guarded

TIMEOUT_S = 300
LOCAL = "file"
REMOTE = ("http", "https", "git", "ssh")
HELPER = re.compile(r"[A-Za-z0-9]+::")  # git would run a program of that name
SSH_HOST = re.compile(r"[A-Za-z0-9_.:-]+")  # safe in the shell line of a ProxyCommand
SCP_FORM = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^:].*")
STOPPED = "The clone was stopped; nothing of it was kept."
LATE = f"clone took more than {TIMEOUT_S // 60} minutes"
log = logging.getLogger(__name__)
_PROGRESS = re.compile(r"([A-Z][a-z]+ (?:objects|deltas|files)): +(\d{1,3})%")
EXAMPLE = '"https://example.com/team/notes.git"'


def check(url: str, *, local: bool, network: Network | None = None) -> str:
    """Git's name of the transport. Invalid if this service does not clone from the URL, or if the
    caller's `network` (None for a person) does not reach its host."""
    transport = _transport(url, local=local)
    if network is not None and transport != LOCAL:
        host, port = _address(url, transport)
        if refused := guarded.refusal(host, port, network):
            raise _bad(refused)
    return transport


def _address(url: str, transport: str) -> tuple[str, int]:
    if SCP_FORM.fullmatch(url):
        return url.partition("@")[2].partition(":")[0], guarded.PORTS[transport]
    parts = urlsplit(url)
    try:
        return parts.hostname or "", parts.port or guarded.PORTS[transport]
    except ValueError:
        raise _bad("has a port that is none") from None


def _transport(url: str, *, local: bool) -> str:
    if url.startswith("-") or HELPER.match(url) or not url.isprintable():
        raise _bad("this transport is not allowed")
    if url.startswith("/") or url.startswith("file://"):
        if not local:
            raise _bad("paths of this machine are not cloned over /mcp")
        return LOCAL
    if SCP_FORM.fullmatch(url):
        return "ssh"
    try:
        parts = urlsplit(url)
    except ValueError:  # an unbalanced bracket, or a character that normalises to a slash
        raise _bad("is not an address") from None
    if parts.scheme not in REMOTE or not parts.hostname or parts.hostname.startswith("-"):
        raise _bad("this transport is not allowed")
    if parts.scheme == "ssh" and not SSH_HOST.fullmatch(parts.hostname):
        raise _bad("has a character in its host that no host has")
    if parts.password:
        raise _bad("must not carry a password; use a git credential helper")
    return parts.scheme


def directory_name(url: str) -> str:
    """The name of the checkout's directory: the last part of the URL, without .git."""
    last = re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", last).lstrip(".-")[:100]
    return "repo" if name in ("", "project.yaml") else name


@dataclass(slots=True)
class Clone:
    """One clone of this process; `step` and `percent` are its progress as git reports it."""

    slug: str
    name: str
    process: subprocess.Popen[bytes]
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    step: str = ""
    percent: int | None = None
    why: str = ""  # why it was killed, if it was

    def kill(self, why: str) -> None:
        self.why = self.why or why
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)


_running: list[Clone] = []


def running() -> list[Clone]:
    """The running clones of this process, the oldest first."""
    return list(_running)


def stop(slug: str) -> None:
    """Kill the clone that makes this project; nothing of it stays. NotFound if there is none."""
    found = [clone for clone in _running if clone.slug == slug]
    if not found:
        raise NotFound(f"No clone runs for {slug}")
    for clone in found:
        clone.kill(STOPPED)


def clone(
    url: str, into: Path, *, local: bool, slug: str, name: str, network: Network | None = None
) -> Path:
    """Clone below `into`; return the checkout. The caller removes what a failed clone leaves.

    Invalid if it fails: with git's own words, or without them for a caller with a `network`.
    Conflict (`stopped`) if it was stopped."""
    transport = check(url, local=local, network=network)
    target = into / directory_name(url)
    if network is None or transport == LOCAL:
        said = _followed_to_end(Clone(slug, name, _git(url, target, transport)))
        if said is not None:
            raise Invalid(f"repo: clone failed: {scrub(said)}"[:500])
        return target
    with guarded.way(network) as port:
        said = _followed_to_end(Clone(slug, name, _git(url, target, transport, port)))
    if said is not None:
        log.info("a clone for a client or a turn failed", extra={"why": scrub(said)[:500]})
        raise _bad(guarded.FAILED)
    return target


def _git(url: str, target: Path, transport: str, way: int | None = None) -> subprocess.Popen[bytes]:
    """Start git; `way` is the port of the proxy that it has to use, if any."""
    return subprocess.Popen(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "credential.interactive=false",
         *(guarded.settings(way) if way else ()),
         "clone", "--progress", "--no-local", "--no-recurse-submodules", "--template=",
         "--", url, str(target)],
        cwd=target.parent, env=_environment(transport, way), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def _followed_to_end(this: Clone) -> str | None:
    """Wait for the clone; return git's words if it failed, else None."""
    late = threading.Timer(TIMEOUT_S, this.kill, (LATE,))
    _running.append(this)
    late.start()
    try:
        said = " ".join(_follow(this))
        this.process.wait()
    finally:
        late.cancel()
        _running.remove(this)
    if this.why == STOPPED:
        raise Conflict(STOPPED, code="stopped")
    if this.why:
        raise _bad(this.why)
    return said if this.process.returncode else None


def _follow(clone: Clone) -> Iterator[str]:
    """Git's output without progress lines; these update `clone`."""
    assert clone.process.stderr is not None
    with clone.process.stderr as stream:
        rest = b""
        while part := stream.read1(4096):  # type: ignore[attr-defined]  # a BufferedReader
            *lines, rest = re.split(rb"[\r\n]", rest + part)
            for line in lines:
                text = line.decode(errors="replace").strip()
                if found := _PROGRESS.search(text):
                    clone.step, clone.percent = found[1], int(found[2])
                elif text and not text.startswith("Cloning into"):
                    yield text
    yield rest.decode(errors="replace")


def scrub(text: str) -> str:
    """The text as one line without server paths, user information of URLs or control characters."""
    text = re.sub(r"//[^/@\s]*@", "//", text)
    text = re.sub(r"(?<![\w:/])/(?:[\w.+@-]+/?)+", "<path>", text)
    return " ".join(re.sub(r"[^\x20-\x7e\u00a0-\uffff]+", " ", text).split())


def _environment(transport: str, way: int | None) -> dict[str, str]:
    silent = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "GIT_LFS_SKIP_SMUDGE": "1",
        # http may redirect to https; no other change of transport is allowed.
        "GIT_ALLOW_PROTOCOL": "http:https" if transport in ("http", "https") else transport,
        "LC_ALL": "C",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | silent | (guarded.environment(way) if way else {})


def _bad(reason: str) -> Invalid:
    return Invalid([Problem("repo", reason, EXAMPLE)])
