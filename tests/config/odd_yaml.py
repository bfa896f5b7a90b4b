"""Hand-written YAML at its oddest: a seeded generator that knows which line belongs to what."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

WORDS = ["alpha", "b c", "no", "1:30", "x: y", "# no comment", "ü", "-", "", "012", "a'b", 'q"q']
Path = tuple[str, ...]


@dataclass
class Line:
    text: str
    owner: Path | None  # the entry it is part of; None for comments and blank lines between


@dataclass
class OddFile:
    """One generated file, its lines, and the paths whose entries stand alone."""

    rng: random.Random
    lines: list[Line] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    newline: str = "\n"
    bom: bytes = b""
    final: bool = True

    @classmethod
    def make(cls, rng: random.Random) -> OddFile:
        made = cls(rng)
        made.newline = rng.choice(["\n", "\n", "\r\n"])
        made.bom = rng.choice([b"", b"", b"\xef\xbb\xbf"])
        if rng.random() < 0.2:
            made.lines.append(Line("--- # start", None))
        made._map((), 0, rng.choice([1, 2, 3, 4]), 0)
        made.final = rng.random() < 0.8
        if not made.final and len(made.lines) == 1:
            made.newline = "\n"  # nothing in the file says otherwise
        return made

    def data(self) -> bytes:
        text = self.newline.join(line.text for line in self.lines)
        return self.bom + (text + self.newline * self.final).encode()

    def _noise(self, indent: int) -> None:
        roll = self.rng.random()
        if roll < 0.15:
            self.lines.append(Line("", None))
        elif roll < 0.35:
            self.lines.append(Line(f"{' ' * indent}# note: {self.rng.choice(WORDS)}", None))

    def _map(self, path: Path, indent: int, step: int, depth: int) -> None:
        for number in range(self.rng.randint(1, 4)):
            self._noise(indent)
            key = self.rng.choice(["k", "key with space", "on", "n-"]) + str(number)
            mine = (*path, key)
            self.paths.append(mine)
            shown = self.rng.choice([key, json.dumps(key), f"'{key}'"])
            lead = f"{' ' * indent}{shown}{self.rng.choice(['', '', ' '])}:"
            if depth < 3 and self.rng.random() < 0.4:
                self.lines.append(Line(lead + self._tail(), mine))
                self._map(mine, indent + step, step, depth + 1)
            else:
                self._leaf(mine, lead, indent, step)

    def _tail(self) -> str:
        return self.rng.choice(["", "", "", "  ", "  # tail", " # x: y"])

    def _leaf(self, path: Path, lead: str, indent: int, step: int) -> None:
        kind = self.rng.randrange(7)
        inner = " " * (indent + step)
        if kind == 0:
            self.lines.append(Line(lead + self._tail(), path))
        elif kind == 1:
            value = self.rng.choice(["[a, 'b', 3]", "{x: 1, y: [2]}", "[]", "{}", "{ z: null }"])
            self.lines.append(Line(f"{lead} {value}{self._tail()}", path))
        elif kind == 2:
            header = self.rng.choice(["|", ">", "|-", "| # head"])
            self.lines.append(Line(f"{lead} {header}", path))
            for word in self.rng.sample(["one", "# two", "three:  x", "- four"], 2):
                self.lines.append(Line(inner + word, path))
        elif kind == 3:
            self.lines.append(Line(lead + self._tail(), path))
            dash = inner if self.rng.random() < 0.5 else " " * indent
            for item in self.rng.sample(["- a", "- 'b'  # b", "- {c: 1}", "- 4"], 2):
                self.lines.append(Line(dash + item, path))
        elif kind == 4:
            self.lines.append(Line(f"{lead} two lines", path))
            self.lines.append(Line(f"{inner} of plain text{self._tail()}", path))
        else:
            word = self.rng.choice(WORDS)
            shown = self.rng.choice(
                [json.dumps(word, ensure_ascii=False), "'" + word.replace("'", "''") + "'"]
            )
            self.lines.append(Line(f"{lead} {shown}{self._tail()}", path))


def any_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 2 else 6)
    if kind == 6:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind >= 7:
        return {
            rng.choice("abcdef") + "x": any_value(rng, depth + 1) for _ in range(rng.randrange(4))
        }
    return [rng.choice(WORDS), rng.randrange(-9, 99), None, rng.random() < 0.5, 1.5,
            "line one\n  line two\n\n# three" + rng.choice(["", "\n"])][kind]  # fmt: skip
