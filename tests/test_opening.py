"""Files that agents, checkouts and hands may have written are read in one way: opening.py.

What follows links out of its folder, waits at a FIFO or reads a device is a call away, so every
other call that opens a file is named here with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.test_shape import FILES, ROOT

METHODS = {"read_bytes", "read_text", "open"}  # of a path
FUNCTIONS = {
    *("open", "io.open", "os.open", "codecs.open", "gzip.open", "tarfile.open", "zipfile.ZipFile"),
    *("mmap.mmap", "linecache.getlines", "linecache.getline", "hashlib.file_digest"),
    *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "os.truncate"),
    *("yaml.load", "yaml.safe_load", "tomllib.load", "json.load", "sqlite3.connect"),
}
NO_FILES = {"Folder", "webbrowser", "opener", "Image"}  # whose open() opens none by its path
NEW_OR_FOLDER = {"O_EXCL", "O_DIRECTORY"}  # a file that is not there yet; no file

OWN = "the data directory's own, which no turn and no checkout can write"
PROC = "the system's own, under /proc and /sys"
SHIPPED = "shipped with the code"
EXCEPTIONS = {
    "config/storage/opening.py": "the one way itself",
    "workspace/engines/": "acts inside the turn's sandbox, or has its own opening",
    "config/storage/syscalls.py": "opens by a name in an open folder, never through a link",
    "config/storage/backups/restoring.py": "unpacks what a person names, into new files",
    "config/storage/backups/backup.py": "writes the archive",
    "config/storage/backups/copies.py": "copies the database",
    "config/storage/database.py": "copies the database",
    "config/assets.py": SHIPPED,
    "config/storage/locks.py": OWN,
    "config/process/fork.py": "/dev/null",
    "config/process/wakeup.py": "FIFOs of its own, never waited for",
    "config/process/doctor.py": "looks at the database and at /proc",
    "config/process/singleton.py": OWN,
    "config/process/vitals.py": PROC,
    "config/fonts/metrics.py": SHIPPED,
    "config/zones.py": "the system's own, under /etc and /usr/share/zoneinfo",
    "config/process/table.py": PROC,
    "config/web/connections/peers.py": PROC,
    "dashboard/listeners/procfs.py": PROC,
    "dashboard/services/system/": PROC,
    "dashboard/services/logs.py": OWN,
    "dashboard/services/rotation.py": OWN,
    "dashboard/management/commands/dashboard.py": "/dev/null",
    "review/examples/": SHIPPED,
    "workspace/access/reach.py": OWN,
    "workspace/chats/live.py": "appends to a file that is no link, and waits for nothing",
    "workspace/chats/turns/output.py": OWN,
    "config/git/entries.py": "opens by a name in an open folder, never through a link",
    "workspace/trees/touched.py": OWN,
    "workspace/triggers/schedule/": OWN,
}


def called(node: ast.expr) -> str:
    """`os.open` of what is called; the last two names of a longer one."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=of), attr=name):
            return f"{of}.{name}"
        case ast.Attribute(attr=name):
            return f"?.{name}"
    return ""


def opens(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each call that opens a file by its path."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = called(node.func)
        of, _, method = name.rpartition(".")
        flags = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
        new = {one.value for one in node.args if isinstance(one, ast.Constant)} & {"x", "xb"}
        if new or (name == "os.open" and flags & NEW_OR_FOLDER):
            continue
        if name in FUNCTIONS or (of and method in METHODS and of not in NO_FILES):
            yield node.lineno, name


def excused(path: str) -> str | None:
    return next((prefix for prefix in EXCEPTIONS if path.startswith(prefix)), None)


def found() -> list[tuple[str, int, str]]:
    return [
        (str(path.relative_to(ROOT)), line, name)
        for path in FILES
        for line, name in opens(path.read_text())
    ]


def test_no_file_is_opened_but_by_the_one_opener():
    assert [f"{path}:{line}: {name}" for path, line, name in found() if not excused(path)] == []


def test_every_exception_is_still_needed():
    used = {excused(path) for path, _, _ in found()}

    assert sorted(EXCEPTIONS.keys() - used) == []


@pytest.mark.parametrize(
    "source",
    [
        "path.read_bytes()",
        "(folder / 'x').read_text()",
        "self.path.open('rb')",
        "open(path)",
        "io.open(path)",
        "os.open(path, os.O_RDONLY | os.O_NOFOLLOW)",
        "yaml.safe_load(stream)",
        "shutil.copyfile(a, b)",
    ],
)
def test_another_way_to_open_a_file_is_found(source: str):
    assert len(list(opens(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)",
        "draft.open('xb')",
        "Folder.open(path)",
        "opening.contents(path)",
        "Path(path).stat()",
    ],
)
def test_what_opens_no_file_that_is_there_is_left_alone(source: str):
    assert list(opens(source)) == []


def test_repositories_are_opened_where_it_is_known_who_may_write_there():
    """What opens one by its path alone believes a `.git` that an agent wrote."""
    believers = {
        str(path.relative_to(ROOT)) for path in FILES if "open_repository" in path.read_text()
    }

    assert believers == {"review/git/repository.py", "review/projects/opening.py"}
