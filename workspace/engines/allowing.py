"""What a person allowed for the rest of a chat: a tool, or one command of Bash.

A rule is text: `Edit`, or `Bash(git commit)` for every command that begins with these words. Only a
single plain command ever matches a rule. A command that chains, pipes, redirects, expands or
substitutes anything, sets a variable or spans lines is asked about as before. A rule spares the
question and permits nothing more: the tool list, the paths and the mode are checked before it. See
docs/design/engines.md#allowed-in-a-chat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from config.process.light_typing import Any

SHELL = "Bash"
MOST = 100  # rules of one chat
_NAME = r"[A-Za-z0-9_.][A-Za-z0-9_./+-]*"  # of a program, or its path; never NAME=value
_BARE = r"[A-Za-z0-9_./:@%+,=-]"
_QUOTED = r"'[^'\\\x00-\x1f\x7f]*'|\"[^\"\\$`!\x00-\x1f\x7f]*\""  # in which a shell expands nothing
_SIMPLE = re.compile(rf"{_NAME}(?: +(?:{_BARE}|{_QUOTED})++)*+")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_RULE = re.compile(rf"{SHELL}\(({_NAME}(?: {_PLAIN.pattern})*)\)|([A-Za-z][A-Za-z0-9_.-]{{0,199}})")
# Their arguments are programs: a rule for one word of these would allow everything.
WRAPPERS = frozenset(
    (
        *("sh", "bash", "zsh", "dash", "ksh", "fish", "env", "sudo", "doas", "su", "xargs", "eval"),
        *("exec", "source", ".", "command", "builtin", "nohup", "nice", "time", "timeout"),
        *("setsid", "stdbuf", "ssh", "find", "awk", "gawk", "sed", "perl", "python", "python3"),
        *("ruby", "node", "php", "lua"),
    )
)


def rule_for(tool: str, args: Mapping[str, Any]) -> str | None:
    """The rule for this call and calls like it; None if no rule can cover it."""
    if tool != SHELL:
        return tool if _RULE.fullmatch(tool) else None
    command = _command(args)
    if command is None:
        return None
    first, *rest = command.split(" ")
    words = [first]
    for word in filter(None, rest):
        if not _PLAIN.fullmatch(word):
            break
        words.append(word)
    if first.rpartition("/")[2] in WRAPPERS:
        return None
    return f"{SHELL}({' '.join(words)})"


def covers(rule: str, tool: str, args: Mapping[str, Any]) -> bool:
    """Whether the rule makes the question about this call unnecessary."""
    found = _RULE.fullmatch(rule)
    if found is None:
        return False
    prefix, named = found.groups()
    if named is not None:
        return tool == named != SHELL
    command = _command(args) if tool == SHELL else None
    if command is None:
        return False
    words = prefix.split(" ")
    return [word for word in command.split(" ") if word][: len(words)] == words


def valid(rule: str) -> bool:
    """Whether the text is a rule; Bash without a command is not."""
    return _RULE.fullmatch(rule) is not None and rule != SHELL


def _command(args: Mapping[str, Any]) -> str | None:
    """The command of a call, if it is a single plain one; else None."""
    command = args.get("command")
    text = command.strip(" ") if isinstance(command, str) else ""
    return text if _SIMPLE.fullmatch(text) else None
