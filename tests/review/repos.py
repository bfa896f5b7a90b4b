"""Real git repositories with fixed names and dates, for tests of the review part."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

ANN = "Ann Author <ann@example.org>"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
Content = str | bytes | None  # None deletes the file
# Nothing is packed behind a command, and nothing waits for the disk: a third of every commit.
AT_ONCE = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsync=none")


class Repo:
    """A work tree (or a bare repository) at `path`; every commit is an hour after the last.

    Commands run without the user's configuration, so shas are the same on every machine.
    """

    def __init__(
        self, path: Path, *, branch: str = "main", bare: bool = False, sha256: bool = False
    ) -> None:
        self.path = path
        self.commits = 0
        path.mkdir(parents=True, exist_ok=True)
        if not (path / ".git").exists() and not (path / "HEAD").exists():
            self.git(
                "init", "-q", f"--initial-branch={branch}",
                f"--object-format={'sha256' if sha256 else 'sha1'}",
                *(["--bare"] if bare else []),
            )  # fmt: skip

    def raw(self, *args: str | bytes, stdin: bytes = b"", **env: str) -> bytes:
        """What a git command prints; the test fails with what it complains of."""
        done = subprocess.run(
            ["git", *AT_ONCE, *args], cwd=self.path, input=stdin, env=self.environment | env,
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (args, done.stderr.decode(errors="replace"))
        return done.stdout

    def git(self, *args: str | bytes, stdin: bytes = b"", **env: str) -> str:
        """The same as text, without its last newline."""
        return self.raw(*args, stdin=stdin, **env).decode(errors="surrogateescape").rstrip("\n")

    @property
    def environment(self) -> dict[str, str]:
        date = self.next_date()
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ann Author",
            "GIT_AUTHOR_EMAIL": "ann@example.org",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": "Cem Committer",
            "GIT_COMMITTER_EMAIL": "cem@example.org",
            "GIT_COMMITTER_DATE": date,
            "GIT_EDITOR": "true",
        }

    def next_date(self) -> str:
        return (START + timedelta(hours=self.commits)).strftime("%Y-%m-%dT%H:%M:%S+00:00")

    def write(self, files: Mapping[str, Content]) -> None:
        """Put files into the work tree, unstaged; None removes one."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self,
        files: Mapping[str, Content] | None = None,
        subject: str = "Change",
        author: str = ANN,
        date: str | None = None,
        trailers: Mapping[str, str] | None = None,
        *,
        body: str = "",
        amend: bool = False,
    ) -> str:
        """Commit these files on top of whatever the work tree holds; returns the sha."""
        self.commits += 1
        self.write(files or {})
        self.git("add", "-A")
        tail = "\n".join(f"{key}: {value}" for key, value in (trailers or {}).items())
        message = "\n\n".join(part for part in (subject, body, tail) if part)
        name, _, email = author.rstrip(">").partition(" <")
        when = date or self.next_date()
        self.git(
            "commit", "-q", "--allow-empty", "--allow-empty-message", "--no-verify", "-F", "-",
            *(["--amend", f"--author={author}", f"--date={when}"] if amend else []),
            stdin=message.encode(),
            GIT_AUTHOR_NAME=name, GIT_AUTHOR_EMAIL=email, GIT_AUTHOR_DATE=when,
        )  # fmt: skip
        return self.sha()

    def amend(self, files: Mapping[str, Content] | None = None, subject: str | None = None) -> str:
        """Rewrite the last commit; author and author date stay."""
        self.commits += 1
        self.write(files or {})
        self.git("add", "-A")
        words = ["--no-edit"] if subject is None else ["-m", subject]
        self.git("commit", "-q", "--amend", "--allow-empty", "--no-verify", *words)
        return self.sha()

    def sha(self, revision: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", f"{revision}^{{commit}}")

    def shas(self, span: str) -> list[str]:
        """The commits of `a..b`, oldest first."""
        return self.git("rev-list", "--reverse", "--topo-order", span).split()

    def branch(self, name: str, at: str = "HEAD") -> None:
        """Make a branch and check it out."""
        self.git("checkout", "-q", "-b", name, at)

    def checkout(self, revision: str) -> None:
        self.git("checkout", "-q", revision)

    def reset(self, revision: str) -> None:
        self.git("reset", "-q", "--hard", revision)

    def rebase(self, onto: str, *, upstream: str | None = None) -> list[str]:
        """Rebase the branch checked out; returns its new commits, oldest first."""
        self.commits += 1
        self.git("rebase", "-q", "--onto", onto, upstream or onto)
        return self.shas(f"{onto}..HEAD")

    def rebase_todo(self, base: str, todo: Sequence[str]) -> list[str]:
        """An interactive rebase with these lines, such as `pick <sha>` or `fixup <sha>`."""
        self.commits += 1
        script = self.path / ".git" / "todo"
        script.write_text("".join(f"{line}\n" for line in todo))
        self.git("rebase", "-q", "-i", base, GIT_SEQUENCE_EDITOR=f"cp '{script}'")
        return self.shas(f"{base}..HEAD")

    def cherry_pick(self, *revisions: str) -> str:
        self.commits += 1
        self.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", *revisions)
        return self.sha()

    def merge(self, name: str, subject: str = "Merge") -> str:
        """A merge commit of `name` into the branch checked out."""
        self.commits += 1
        self.git("merge", "-q", "--no-ff", "-m", subject, name)
        return self.sha()

    def prune(self) -> None:
        """Let go of what no branch leads to, as where nobody ever held what was reviewed."""
        held = self.git("for-each-ref", "--format=delete %(refname)", "refs/svc")
        self.git("update-ref", "--stdin", stdin=f"{held}\n".encode() if held else b"")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")

    def tag(self, name: str, at: str = "HEAD", *, message: str = "") -> None:
        self.git("tag", *(["-a", "-m", message] if message else []), name, at)

    def config(self, key: str, value: str) -> None:
        self.git("config", key, value)

    def worktree(self, path: Path, branch: str) -> Repo:
        """A linked worktree on a new branch."""
        self.git("worktree", "add", "-q", "-b", branch, str(path))
        linked = Repo(path)
        linked.commits = self.commits + 100
        return linked

    def clone(self, path: Path, *options: str) -> Repo:
        """A clone as over a network, so that --depth and --filter count."""
        self.git("config", "uploadpack.allowFilter", "true")
        self.git("clone", "-q", *options, f"file://{self.path}", str(path))
        cloned = Repo(path)
        cloned.commits = self.commits + 200
        return cloned
