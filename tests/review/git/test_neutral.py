"""Nothing a user or a repository configures changes what review says of a commit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from review import caches
from review.git import objects, patches
from review.git.diffs import diff
from review.git.repository import open_repository
from tests.review.git.world import read, span
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db

SETTINGS = {
    "diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.algorithm": "patience",
    "diff.context": "0", "diff.interHunkContext": "50", "diff.renames": "copies",
    "diff.renameLimit": "1", "diff.relative": "true", "diff.indentHeuristic": "false",
    "diff.orderFile": "order", "diff.suppressBlankEmpty": "true", "diff.submodule": "log",
    "diff.ignoreSubmodules": "all", "diff.wsErrorHighlight": "all", "diff.colorMoved": "zebra",
    "diff.statGraphWidth": "3", "diff.dirstat": "lines", "diff.wordRegex": ".",
    "diff.odd.binary": "true", "diff.odd.xfuncname": ".*", "diff.odd.algorithm": "histogram",
    "color.ui": "always", "color.diff": "always", "core.quotepath": "true", "core.abbrev": "4",
    "core.bigFileThreshold": "1", "core.whitespace": "cr-at-eol", "core.autocrlf": "true",
    "core.commitGraph": "false", "core.pager": "cat", "log.showSignature": "true",
    "log.mailmap": "true", "log.date": "relative", "log.decorate": "full", "log.follow": "true",
    "log.showRoot": "false", "log.diffMerges": "off", "log.abbrevCommit": "true",
    "log.excludeDecoration": "*", "format.pretty": "oneline", "format.notes": "*",
    "notes.displayRef": "*", "i18n.logOutputEncoding": "latin-1", "i18n.commitEncoding": "latin-1",
    "mailmap.file": "mail", "patchid.stable": "false", "grep.patternType": "perl",
    "rev-list.count": "true", "blame.coloring": "none",
}  # fmt: skip


@pytest.fixture
def rich(repo: Repo) -> Repo:
    """Commits whose telling each of the settings would change, were it heard."""
    text = "".join(f"line {number}\n" for number in range(60))
    repo.commit({"long": text, "f": "a {\n\n  b\n}\n", "é": "1\n", "crlf": "1\r\n2\r\n"}, "Gruß")
    repo.commit({"long": None, "moved": text + "x\n", "copy": text, "f": "a {\n\n  b\n  b\n}\n"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    repo.git("commit", "-q", "-m", "submodule")
    repo.checkout("main")
    repo.commit({"m": "1\n"})
    repo.checkout("topic")
    repo.merge("main", "Merge")
    return repo


def everything(repo: Repo) -> dict[str, Any]:
    """What review says of the range, all of it."""
    caches.clear()
    repository = open_repository(repo.path)
    commits, warnings = read(repo, "main~1..topic")
    shas = [commit.sha for commit in commits]
    return {
        "commits": [asdict(commit) for commit in commits],
        "warnings": warnings,
        "edits": [diff.commit_edits(repository, commit) for commit in commits],
        "digests": [diff.hunk_digests(repository, commit) for commit in commits],
        "patches": {sha: asdict(patch) for sha, patch in patches.of(repository, shas).items()},
        "renames": diff.renames(repository, shas[0], shas[-1]),
        "interdiff": diff.interdiff(repository, shas[0], shas[1]),
        "landed": patches.find_landed(repository, span(repo, "main~1..topic")),
    }


def test_no_setting_of_the_repository_changes_an_answer(rich: Repo):
    before = everything(rich)
    plain = rich.git("log", "-p", "main~1..topic")
    (rich.path / "order").write_text("z*\n")
    (rich.path / ".mailmap").write_text("Other <other@example.org> <ann@example.org>\n")
    (rich.path / "mail").write_text("Other <other@example.org> <ann@example.org>\n")
    (rich.path / ".gitattributes").write_text("* diff=odd -text\nf -diff\n*.bin diff\n")
    (rich.path / ".git/info").mkdir(exist_ok=True)
    (rich.path / ".git/info/attributes").write_text("* diff=odd\nmoved -diff\n")
    rich.git("notes", "add", "-m", "a note", "topic")
    for key, value in SETTINGS.items():
        rich.config(key, value)

    assert rich.git("log", "-p", "main~1..topic") != plain, "git itself heeds them"
    assert everything(rich) == before


def test_no_setting_of_the_user_changes_an_answer(
    rich: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = everything(rich)
    home = Repo(tmp_path / "home")
    for key, value in SETTINGS.items():
        home.git("config", "--file", ".gitconfig", key, value)
    home.git("config", "--file", ".gitconfig", "core.attributesFile", str(home.path / "attributes"))
    (home.path / "attributes").write_text("* -diff\n")
    monkeypatch.setenv("HOME", str(home.path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.path))

    assert everything(rich) == before


def test_replaced_objects_and_grafts_are_not_followed(rich: Repo):
    before = everything(rich)
    first, second, third = (rich.sha(f"topic~{back}") for back in (3, 2, 1))
    blob, other = rich.git("rev-parse", "topic:f"), rich.git("rev-parse", "topic:m")
    rich.git("replace", second, first)
    rich.git("replace", blob, other)
    (rich.path / ".git/info").mkdir(exist_ok=True)
    (rich.path / ".git/info/grafts").write_text(f"{third}\n")
    assert rich.git("cat-file", "blob", blob) == "1", "git itself follows them"
    assert rich.git("rev-list", "--count", third) == "1"

    assert everything(rich) == before
    assert objects.blob(open_repository(rich.path), blob) == b"a {\n\n  b\n  b\n}\n"


def test_objects_borrowed_from_another_repository_are_read(rich: Repo, tmp_path: Path):
    rich.git("clone", "-q", "--shared", str(rich.path), str(tmp_path / "shared"))
    shared = Repo(tmp_path / "shared")

    assert not list((shared.path / ".git/objects").glob("??"))
    assert len(read(shared, "origin/main~1..topic")[0]) == len(read(rich, "main~1..topic")[0])


def test_reading_leaves_the_repository_as_it_was(rich: Repo):
    def tree() -> dict[Path, tuple[int, int]]:
        return {
            path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in rich.path.rglob("*")
        }

    before = tree()
    everything(rich)

    assert tree() == before
