"""The histories that are measured, made by `git fast-import` with fixed seeds and dates.

S: 50 commits on a tree of 1,000 files, and the same 50 rebased; W: one commit of 2,000 files; L:
2,000 scattered changes of a file of 20,000 lines; V: two versions of a commit of 200 files. The
shas of the heads of the other histories are asserted, so a change to this file that alters what is
measured does not go unnoticed.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

START, HOUR = 1_767_600_000, 3600
COMMITS, FILES, TOUCHED = 50, 1000, 5
WIDE, WIDE_LINES = 2000, 430
LONG, SCATTERED = 20_000, 2000
VERSIONED = 200  # files of V
HEADED = 100  # files that the new base of S changes at their top
VOCABULARY = """
account amount batch buffer cache charge client config count cursor customer entry error event
field filter handle index invoice item key ledger limit line lock message name offset order page
parse payment price queue range record refund request result retry row schema session size stamp
state status store stream table target task token total update value
"""
WORDS = VOCABULARY.split()
HEADS = {
    "S": "275088b8f13097f163f5db5dea3a8f06da0d0ef4",
    "S rebased": "e478998b11ead2c6a9c5cc956894706801dcc103",
    "W": "eb7b2a3a0b06ab021d89e486cbaebfbac71d1256",
    "L": "379f229649bb4847e2a631e9b5aa0ca0d9dd1ddf",
}

Lines = list[str]
Tree = dict[str, Lines]


@dataclass(frozen=True, slots=True)
class History:
    """A repository and one range of it, as two shas and as text."""

    path: Path
    range: str
    base: str
    head: str

    @classmethod
    def at(cls, path: Path, span: str) -> History:
        base, _, head = span.partition("..")
        return cls(path, span, sha(path, base), sha(path, head))

    @property
    def commits(self) -> list[str]:
        """The commits, oldest first."""
        told = git(self.path, "rev-list", "--reverse", "--topo-order", f"{self.base}..{self.head}")
        return told.decode().split()


def git(path: Path, *args: str, stdin: bytes = b"") -> bytes:
    """The output of plain git: no safe settings, only the command."""
    command = ["git", *args]
    return subprocess.run(command, cwd=path, input=stdin, check=True, capture_output=True).stdout


def sha(path: Path, revision: str) -> str:
    return git(path, "rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()


def stack(folder: Path) -> tuple[History, History]:
    """S as main..feature, and rebased as onto..rebased of a clone whose branch has moved on."""
    with Import(folder / "s") as made:
        dice = random.Random(50)
        pool = _pool(dice)
        tree = {
            f"{name}/{WORDS[number % 25]}{number}.py": dice.choices(pool, k=dice.randrange(40, 160))
            for number in range(FILES)
            for name in [f"src/{WORDS[number // 25]}"]
        }
        made.commit("main", "Start", tree)
        now = dict(tree)
        steps = [_step(dice, pool, now) for _ in range(COMMITS)]
        for number, step in enumerate(steps, 1):
            made.commit("feature", f"Step {number} of the work", step, parent="main", hour=number)
        headed = sorted({path for step in steps for path in step})[:HEADED]
        made.commit("onto", "Name the authors", _with_head(tree, headed), parent="main")
        for number, step in enumerate(steps, 1):
            after = step | _with_head(step, headed)
            made.commit("rebased", f"Step {number} of the work", after, parent="onto", hour=number)
    work = History.at(folder / "s", "main..feature")
    moved = folder / "s-rebased.git"
    git(folder, "clone", "-q", "--bare", "--shared", str(folder / "s"), str(moved))
    git(moved, "update-ref", "-d", "refs/heads/feature")
    rebased = History.at(moved, "onto..rebased")
    return _check("S", work), _check("S rebased", rebased)


def wide(folder: Path) -> History:
    """W: about 70 MB of old and new text."""
    dice = random.Random(2000)
    pool = _pool(dice)

    def files(*, changed: bool) -> Iterator[tuple[str, Lines]]:
        for number in range(WIDE):
            own = random.Random(number)
            lines = own.choices(pool, k=WIDE_LINES)
            for _ in range(12 if changed else 0):
                lines[own.randrange(WIDE_LINES)] = own.choice(pool)
            yield f"lib/{WORDS[number % 50]}/file{number:04}.py", lines

    with Import(folder / "w") as made:
        made.commit("main", "Start", files(changed=False))
        made.commit("feature", "Change every file", files(changed=True), parent="main")
    return _check("W", History.at(folder / "w", "main..feature"))


def versions(folder: Path) -> tuple[History, History]:
    """V: a commit of 200 files, and its next version, on a base that changes 200 files, half of
    them the commit's own, and with a third of its changes redone."""
    dice = random.Random(200)
    pool = _pool(dice)
    names = [f"src/{WORDS[number % 40]}/{number:03}.py" for number in range(3 * VERSIONED)]
    tree = {name: dice.choices(pool, k=dice.randrange(80, 240)) for name in names}
    own = names[:VERSIONED]

    def step(tree: Tree, again: int) -> Tree:
        made = {name: list(tree[name]) for name in own}
        for number, (name, lines) in enumerate(made.items()):
            mine = random.Random(f"{name} {again if number % 3 == 0 else 0}")
            for _ in range(6):
                lines[20 + mine.randrange(50)] = mine.choice(pool)
        return made

    moved = tree | _with_head(tree, names[VERSIONED // 2 : VERSIONED // 2 + VERSIONED])
    with Import(folder / "v") as made:
        made.commit("main", "Start", tree)
        made.commit("first", "Change it", step(tree, 1), parent="main", hour=1)
        made.commit("onto", "Name the authors", moved, parent="main")
        made.commit("second", "Change it", step(moved, 2), parent="onto", hour=1)
    before, after = (History.at(folder / "v", span) for span in ("main..first", "onto..second"))
    git(folder / "v", "update-ref", "-d", "refs/heads/first")
    return before, after


def long(folder: Path) -> History:
    """L: its one file is `long.py`; lines are replaced, added, deleted and moved."""
    dice = random.Random(20_000)
    pool = _pool(dice)
    lines = [f"{line}  # {number}" for number, line in enumerate(dice.choices(pool, k=LONG))]
    after: Lines = []
    moved: Lines = []
    for number, line in enumerate(lines):
        match dice.randrange(3) if number % (LONG // SCATTERED) == 0 else None:
            case 0:
                after.append(dice.choice(pool))
            case 1:
                after += [line, dice.choice(pool), *moved]
                moved.clear()
            case 2:
                moved = [line]
            case _:
                after.append(line)
    with Import(folder / "l") as made:
        made.commit("main", "Start", {"long.py": lines})
        made.commit("feature", "Change it here and there", {"long.py": after}, parent="main")
    return _check("L", History.at(folder / "l", "main..feature"))


def small(folder: Path, number: int) -> History:
    """One of many small repositories: five commits of two files each."""
    dice = random.Random(number)
    pool = _pool(dice)
    tree = {f"{word}.py": dice.choices(pool, k=60) for word in WORDS[:20]}
    path = folder / f"small{number}"
    with Import(path) as made:
        made.commit("main", "Start", tree)
        for step in range(5):
            paths = dice.sample(sorted(tree), 2)
            changed = {path: dice.choices(pool, k=60) for path in paths}
            made.commit("feature", f"Step {step}", changed, parent="main")
    return History.at(path, "main..feature")


class Import:
    """A new repository that `git fast-import` fills; nothing is checked out."""

    def __init__(self, path: Path) -> None:
        subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
        command = ["git", "fast-import", "--quiet", "--done"]
        self.process = subprocess.Popen(command, cwd=path, stdin=subprocess.PIPE)
        self.tips: set[str] = set()
        self.commits = 0

    def __enter__(self) -> Import:
        return self

    def __exit__(self, *_error: object) -> None:
        self._send("done\n")
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == 0

    def commit(
        self,
        branch: str,
        subject: str,
        files: Mapping[str, Lines] | Iterator[tuple[str, Lines]],
        *,
        parent: str | None = None,
        hour: int = 0,
    ) -> None:
        """A commit with these files, on top of the branch or, first, of `parent`.

        The author date is in this hour; the commit date is an hour after that of the commit before
        it.
        """
        self.commits += 1
        self._send(f"commit refs/heads/{branch}\n")
        self._send(f"author Ann Author <ann@example.org> {START + hour * HOUR} +0000\n")
        self._send(
            f"committer Cem Committer <cem@example.org> {START + self.commits * HOUR} +0000\n"
        )
        self._data(subject)
        if branch not in self.tips and parent:
            self._send(f"from refs/heads/{parent}\n")
        self.tips.add(branch)
        for path, lines in files.items() if isinstance(files, Mapping) else files:
            self._send(f"M 100644 inline {path}\n")
            self._data("".join(f"{line}\n" for line in lines))

    def _data(self, text: str) -> None:
        data = text.encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"data %d\n%b\n" % (len(data), data))

    def _send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())


def _pool(dice: random.Random) -> Lines:
    """Lines that look like code, to choose from."""
    return [
        f"{'    ' * dice.randrange(4)}{dice.choice(WORDS)}_{dice.choice(WORDS)} = "
        f"{dice.choice(WORDS)}({dice.choice(WORDS)}, {dice.randrange(1000)})"
        for _ in range(5000)
    ]


def _step(dice: random.Random, pool: Lines, tree: Tree) -> Tree:
    """One commit of S, about +140/-40: replaced lines and added blocks."""
    changed = {}
    for path in dice.sample(sorted(tree), TOUCHED):
        lines = list(tree[path])
        for _ in range(2):
            at = dice.randrange(len(lines) - 4)
            lines[at : at + 4] = dice.choices(pool, k=4)
            at = dice.randrange(len(lines))
            lines[at:at] = dice.choices(pool, k=10)
        tree[path] = changed[path] = lines
    return changed


def _with_head(tree: Mapping[str, Lines], paths: Collection[str]) -> Tree:
    """The files at these paths, with the lines that the new base of S adds at their top."""
    head = ["# Copyright", "# of the", "# authors"]
    return {path: [*head, *tree[path]] for path in paths if path in tree}


def _check(name: str, found: History) -> History:
    wanted = HEADS[name]
    assert found.head == wanted, f"{name} is another history: {found.head}, not {wanted}"
    return found
