"""Clone a repository into a new project (workspace.md 2): five minutes, no prompts, no hooks.

Never a transport that runs a command, never a submodule, never a server path in an error text.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from config.kernel.errors import Invalid, Problem

TIMEOUT_S = 300
REMOTE = ("http", "https", "git", "ssh")
SCP_FORM = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^:].*")
EXAMPLE = '"https://example.com/team/notes.git"'


def check(url: str, *, local: bool) -> str:
    """The transport's git name; Invalid unless the URL is one this service clones."""
    if url.startswith("-") or "::" in url or not url.isprintable():
        raise _bad("this transport is not allowed")
    if url.startswith("/") or url.startswith("file://"):
        if not local:
            raise _bad("paths of this machine are not cloned over /mcp")
        return "file"
    if SCP_FORM.fullmatch(url):
        return "ssh"
    parts = urlsplit(url)
    if parts.scheme not in REMOTE or not parts.hostname or parts.hostname.startswith("-"):
        raise _bad("this transport is not allowed")
    if parts.password:
        raise _bad("must not carry a password; use a git credential helper")
    return parts.scheme


def directory_name(url: str) -> str:
    """The checkout's directory: the last part of the URL, without .git."""
    last = re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", last).lstrip(".-")[:100]
    return "repo" if name in ("", "project.yaml") else name


def clone(url: str, into: Path, *, local: bool) -> Path:
    """Clone below `into`; whatever a failed clone leaves there is the caller's to remove."""
    transport = check(url, local=local)
    target = into / directory_name(url)
    process = subprocess.Popen(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "credential.interactive=false",
         "clone", "--quiet", "--no-local", "--no-recurse-submodules", "--template=",
         "--", url, str(target)],
        cwd=into, env=_environment(transport), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _, errors = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise _bad(f"clone took more than {TIMEOUT_S // 60} minutes") from None
    if process.returncode:
        raise Invalid(f"repo: clone failed: {scrub(errors.decode(errors='replace'))}"[:500])
    return target


def scrub(text: str) -> str:
    """One readable line: no server path, no user information of a URL, no control characters."""
    text = re.sub(r"//[^/@\s]*@", "//", text)
    text = re.sub(r"(?<![\w:/])/(?:[\w.+@-]+/?)+", "<path>", text)
    return " ".join(re.sub(r"[^\x20-\x7e\u00a0-\uffff]+", " ", text).split())


def _environment(transport: str) -> dict[str, str]:
    silent = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "GIT_LFS_SKIP_SMUDGE": "1",
        # http may redirect to https; no transport may hand over to another.
        "GIT_ALLOW_PROTOCOL": "http:https" if transport in ("http", "https") else transport,
        "LC_ALL": "C",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | silent


def _bad(reason: str) -> Invalid:
    return Invalid([Problem("repo", reason, EXAMPLE)])
