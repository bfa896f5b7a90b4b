"""What can be wrong with YAML text, with the place in the file that a person has to look at."""

from __future__ import annotations


class YamlError(Exception):
    """The text is not a document we accept. `line` and `column` count from 1."""

    unreadable = True  # storage/files.py reads a file again that was saved a moment ago

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column

    @classmethod
    def at(cls, reason: str, text: str, index: int) -> YamlError:
        """The error at a character of the text."""
        index = min(index, len(text))
        start = text.rfind("\n", 0, index) + 1
        return cls(reason, text.count("\n", 0, index) + 1, index - start + 1)


class NotSpliceable(YamlError):
    """The text is valid, but cannot be changed without touching more than was asked."""

    unreadable = False
