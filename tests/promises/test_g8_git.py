"""Whatever a reviewed repository holds, reading it runs no command and opens no connection."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.git.command import GitError
from review.git import ancestry, objects, patches, ranges, refs
from review.git.diffs import diff
from review.git.log import history
from review.git.repository import Repository, open_repository
from tests.promises.rings import ring, seeded
from tests.review.repos import Repo

pytestmark = [pytest.mark.django_db, pytest.mark.promise("G8")]

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-rewrite", "pre-auto-gc", "pre-commit", "pre-rebase",
    "prepare-commit-msg", "reference-transaction",
)  # fmt: skip
NAMES = (
    "$(touch x)", "`touch x`", "--output=x", "-x", "a\nb", "a\tb", 'a"b', "a b", ";touch x",
    "|touch x", ":(top)x", ":/x", "@{-1}", "é", "x\udcff",
)  # fmt: skip
PIECES = (
    "main", "topic", "HEAD", "..", "...", "^", "~1", "@{u}", "@{-1}", "@{1}", ":/second", "^{/x}",
    "--upload-pack=touch x", "--exec=touch x", "--output=x", "$(touch x)", "`touch x`", ";", "|",
    "\n", "\0", " ", "-", "--", "ext::sh -c touch% x", ":a", "HEAD:a", "\udcff", "\ud800", "é", "",
)  # fmt: skip
COMMANDS = {
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
    "core.gitProxy", "core.alternateRefsCommand", "pager.log", "pager.diff", "diff.external",
    "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
    "filter.long.process", "merge.evil.driver", "credential.helper",
    "sequence.editor", "interactive.diffFilter",
    "uploadpack.packObjectsHook", "remote.evil.uploadpack", "trailer.x.command",
    "browser.evil.cmd",
}  # fmt: skip
PROGRAMS = ("gpg.program", "gpg.ssh.program", "gpg.x509.program")  # without arguments
ALIASES = ("log", "diff", "cat-file", "rev-parse", "for-each-ref", "diff-tree", "rev-list")


class Hostile:
    """A repository in which everything that can name a command names one that leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self.marks = folder / "marks"
        self.marks.mkdir()
        self.repo = repo = Repo(folder / "repo")
        attributes = "* diff=evil filter=evil merge=evil\nb filter=long\n"
        repo.commit({"a": "one\n", ".gitattributes": attributes}, "first")
        repo.branch("topic")
        repo.commit({name: f"{name.encode('utf-8', 'replace')!r}\n" for name in NAMES}, "second")
        self.signed = self._sign(repo.commit({"a": "two\n", "b": "new\n"}, "third"))
        repo.reset(self.signed)
        for name in ("--upload-pack=x", "-x", f"$(touch${{IFS}}{self.marks}/branch)", "a;b", "é"):
            repo.git("update-ref", f"refs/heads/{name}", "HEAD")
        self._arm()

    def _sign(self, sha: str) -> str:
        header, _, message = self.repo.raw("cat-file", "commit", sha).partition(b"\n\n")
        signature = b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
        signed = header + signature + b"\n\n" + message
        return self.repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed)

    def _arm(self) -> None:
        """Last, so that nothing ran while the repository was made."""
        git_dir = self.repo.path / ".git"
        for name in (*HOOKS, *PROGRAMS):
            script = git_dir / "hooks" / name
            script.write_text(f"#!/bin/sh\n{self.leave(name)}\n")
            script.chmod(0o755)
        more = git_dir / "more"
        lines = [(key, self.leave(key)) for key in sorted(COMMANDS)]
        lines += [(f"alias.{name}", f"!{self.leave(f'alias.{name}')}") for name in ALIASES]
        lines += [(key, str(git_dir / "hooks" / key)) for key in PROGRAMS]
        for key, value in [
            *lines, ("log.showSignature", "true"), ("protocol.ext.allow", "always"),
            ("protocol.allow", "always"), ("core.attributesFile", str(git_dir / "info/attributes")),
        ]:  # fmt: skip
            self.repo.git("config", "--file", str(more), key, value)
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info/attributes").write_text("* diff=evil merge=evil\n")
        with (git_dir / "config").open("a") as config:
            config.write("[include]\n\tpath = more\n")

    def leave(self, name: str) -> str:
        """A command that leaves the mark `name`, and behaves like an empty `cat`."""
        return f"touch '{self.marks / name}'; true"

    def ran(self) -> set[str]:
        return {path.name for path in self.marks.iterdir()}

    def plain(self, *args: str) -> None:
        """git as anybody's shell would run it."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.marks.parent)}
        who = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x", "GIT_COMMITTER_NAME": "x"}
        subprocess.run(
            ["git", *args], cwd=self.repo.path, env=env | who | {"GIT_COMMITTER_EMAIL": "x"},
            capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False,
        )  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


def read_everything(repository: Repository, found: refs.Refs, wanted: str) -> None:
    """Every question that review asks of git."""
    span = ranges.resolve(repository, found, wanted, None)
    refs.stamp(repository)
    commits, _warnings = history.commits(repository, span)
    history.commits(repository, span, counts=False)
    shas = [commit.sha for commit in commits]
    patches.of(repository, shas)
    patches.find_landed(repository, span)
    ancestry.reachable(repository, shas, span.trunk_shas)
    ancestry.resolve(repository, [*shas, *NAMES])
    for commit in commits:
        history.commit(repository, commit.sha)
        history.commit(repository, commit.sha, None)
        with diff.streamed_edits(repository, commit) as told:
            assert len(list(told)) == len(commit.files)
        diff.commit_edits(repository, commit)
        diff.hunk_digests(repository, commit)
        diff.renames(repository, commits[0].sha, commit.sha)
        diff.interdiff(repository, commits[0].sha, commit.sha)
        for file in commit.files:
            diff.commit_edits(repository, commit, [file.path])
            diff.edits(repository, file.old_oid, file.new_oid)
            assert file.new_oid is None or objects.blob(repository, file.new_oid) is not None
        for name in NAMES:
            objects.entry(repository, commit.sha, name)


def test_no_command_of_a_repository_is_run(hostile: Hostile):
    hostile.plain("log", "-p", "--ext-diff", "--show-signature", "topic")
    hostile.plain("log", "-p", "--textconv", "--no-ext-diff", "topic")
    hostile.plain("status")
    hostile.repo.write({"a": "changed\n", "b": "changed\n"})
    hostile.plain("add", "a")
    hostile.plain("add", "b")
    hostile.plain("checkout", "-f", "main")
    assert hostile.ran() >= {
        "core.fsmonitor", "gpg.program", "filter.evil.clean", "filter.long.process",
        "diff.evil.command", "diff.evil.textconv", "post-checkout",
    }  # fmt: skip
    for mark in hostile.marks.iterdir():
        mark.unlink()

    repository = open_repository(hostile.repo.path)
    found = refs.read(repository)
    for wanted in ("main..topic", "main...topic", "topic", "main..-x", "main..--upload-pack=x"):
        read_everything(repository, found, wanted)

    assert hostile.ran() == set()


def test_the_environment_of_the_caller_is_not_git_s(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
):
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EDITOR", "PAGER"):
        monkeypatch.setenv(name, hostile.leave(name))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.external")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", hostile.leave("GIT_CONFIG_COUNT"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.setenv("GIT_TRACE", str(hostile.marks / "trace"))

    repository = open_repository(hostile.repo.path)
    read_everything(repository, refs.read(repository), "main..topic")

    assert hostile.ran() == set()


def test_hostile_revisions_are_unknown_and_run_nothing(hostile: Hostile):
    repository = open_repository(hostile.repo.path)
    found = refs.read(repository)
    rng = seeded()
    refused = []
    for _ in range(ring(fast=60, slow=20_000)):
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 5)))
        trunk = rng.choice([None, *PIECES])
        try:
            span = ranges.resolve(repository, found, text, trunk)
        except GitError as error:
            refused.append(error)
        else:
            assert objects.exists(repository, span.head_sha)

    assert len(refused) > 50
    assert [error.text for error in refused if error.kind != "revision"] == []
    assert all(error.text.isprintable() for error in refused)
    assert hostile.ran() == set()
    assert not (hostile.repo.path / "x").exists()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        server.settimeout(60)
        yield server


def test_a_missing_object_is_never_fetched(
    tmp_path: Path, hostile: Hostile, listener: socket.socket
):
    full = Repo(tmp_path / "full")
    full.commit({"a": "one\n"})
    full.branch("topic")
    full.commit({"a": "two\n", "b/c": "new\n"})
    full.checkout("main")
    for number, depth in enumerate(("blob:none", "tree:0")):
        for kind, url in {
            "ext": f"ext::sh -c touch% {hostile.marks}/ext-{number}",
            "git": f"git://127.0.0.1:{listener.getsockname()[1]}/x",
        }.items():
            partial = full.clone(tmp_path / f"{kind}-{number}", f"--filter={depth}")
            partial.config("remote.origin.url", url)
            partial.config("protocol.ext.allow", "always")
            contacted = plainly_fetches(partial, listener, hostile)
            assert contacted, "a plain git would not have fetched either"

            repository = open_repository(partial.path)
            assert repository.partial
            with contextlib.suppress(GitError):
                read_lacking(repository)

    assert hostile.ran() == set()
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()


def plainly_fetches(partial: Repo, listener: socket.socket, hostile: Hostile) -> bool:
    """Whether git itself asks the remote for what it lacks; leaves no trace of that."""
    process = subprocess.Popen(
        ["git", "log", "-p", "origin/topic"], cwd=partial.path, env=partial.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        if partial.git("config", "remote.origin.url").startswith("git:"):
            listener.accept()[0].close()
            hang_up(listener, until=process)
            return True
        process.wait(60)
        ran = hostile.ran()
        for mark in hostile.marks.iterdir():
            mark.unlink()
        return bool(ran)
    finally:
        process.kill()
        process.wait()


def hang_up(listener: socket.socket, *, until: subprocess.Popen[bytes]) -> None:
    """Answer every further call of a git that asks again for each object, until it has ended."""
    listener.settimeout(0.1)
    while until.poll() is None:
        with contextlib.suppress(TimeoutError):
            listener.accept()[0].close()
    listener.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
    listener.settimeout(60)


def read_lacking(repository: Repository) -> None:
    found = refs.read(repository)
    span = ranges.resolve(repository, found, "main..origin/topic", None)
    commits, warnings = history.commits(repository, span)
    assert any("missing" in warning for warning in warnings)
    for commit in commits:
        patches.of(repository, [commit.sha])
        diff.commit_edits(repository, commit)
        diff.hunk_digests(repository, commit)
        objects.entry(repository, commit.sha, "b/c")
        for file in commit.files:
            assert file.new_oid is None or objects.blob(repository, file.new_oid) is None
    diff.renames(repository, str(span.base_sha), span.head_sha)
    diff.interdiff(repository, str(span.base_sha), span.head_sha)
