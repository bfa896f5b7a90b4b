"""Secrets shown as `***`, and put back when a client sends back what it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from dashboard.files.fields import Issue, Path

MASK = "***"
HEADERS = {"authorization", "cookie"}
SECRET = re.compile(r"secret|token|key|pass", re.IGNORECASE)
# What may precede a secret. Each pattern begins at the start of a word. Its parts never overlap,
# so that it takes linear time for hostile text too.
NAMED = re.compile(
    rf"""(?ix) (?<![\w.\-]) (?=[\w.\-]*?(?:{SECRET.pattern})) ([\w.\-]+ ["']?\s* (?:=|:(?!//)) \s*)
    (?: "[^"]*"? | '[^']*'? | [^&\s"']+ )"""
)
OPTION = re.compile(rf"(?i)(?<!\S)(?=-[\w.\-]*?(?:{SECRET.pattern}))(-[\w.\-]+\s+)\S+")
OWN = re.compile(r"([\w.\-]+=).+", re.DOTALL)
USER_INFO = re.compile(r"(?i)(?<![a-z0-9+.\-])([a-z][a-z0-9+.\-]*://)[^/?#\s\"']*@")
AUTHORIZATION = re.compile(r"(?i)\b(authorization\s*[=:]\s*).+")
QUOTED = r""""(?:[^"\\]|\\.)*"|'[^']*'"""
CLOSED = re.compile(rf"(?:{QUOTED}|[^\"'])*", re.DOTALL)
WORD = re.compile(rf"(?:{QUOTED}|[^\s\"'])+", re.DOTALL)
PLAIN_WORD = re.compile(r"\S+")


def is_secret(name: str) -> bool:
    """Whether a value of this name is a secret: `API_KEY`, `--auth-token`, `DB_PASSWORD`."""
    return bool(SECRET.search(name))


def text(value: str, *, mask: str = MASK) -> str:
    """The text with the user info in its URLs masked."""
    return USER_INFO.sub(lambda match: f"{match[1]}{mask}@", value) if "@" in value else value


def within(value: str, *, mask: str = MASK) -> str:
    """The text, which may be a script, a URL or JSON, with every named secret in it masked."""

    def hide(match: re.Match[str]) -> str:
        return match[1] + mask

    value = AUTHORIZATION.sub(hide, text(value, mask=mask))
    return OPTION.sub(hide, NAMED.sub(hide, value))


def argv(arguments: Iterable[str], *, mask: str = MASK) -> list[str]:
    """The arguments with every named secret masked: inside an argument, and after an option whose
    name is that of a secret.

    The value after such an option is hidden whatever it looks like.
    """
    shown: list[str] = []
    after = False
    for number, one in enumerate(arguments):
        shown.append(mask if after else _argument(one, mask))
        after = number > 0 and one.startswith("-") and _expects_value(one)
    return shown


def _argument(one: str, mask: str) -> str:
    own = OWN.fullmatch(one)
    return own[1] + mask if own and is_secret(own[1]) else within(one, mask=mask)


def _expects_value(option: str) -> bool:
    return "=" not in option and len(option) <= 100 and is_secret(option)


def command(line: str, *, mask: str = MASK) -> str:
    """A command line for the shell, masked in the same way, with its blanks and quotes kept."""
    form = WORD if CLOSED.fullmatch(line) else PLAIN_WORD
    words = list(form.finditer(line))
    shown, at = "", 0
    for word, new in zip(words, argv((word[0] for word in words), mask=mask), strict=True):
        shown += line[at : word.start()] + new
        at = word.end()
    return shown + line[at:]


def mapping(value: Any, *, mask: str = MASK) -> Any:
    """The mapping of an app's file, secrets masked: `env` and argv values, URL user info."""
    return _mask_value(value, (), mask)


def restore(sent: Any, stored: Any) -> Any:
    """`sent`, with each value that `mapping` had masked replaced by the stored one."""
    return _restore(sent, stored, mapping(stored))


def check(value: Any, stored: Any) -> list[Issue]:
    """An issue for each mask in the value that does not stand for a stored value."""
    known = set(_leaves(stored, ()))
    secret = dict(_leaves(mapping(value, mask="\0"), ()))
    return [
        Issue(path, f'the mask "{MASK}" stands for a stored value, and here there is none')
        for path, leaf in _leaves(value, ())
        if isinstance(leaf, str)
        and MASK in leaf
        and secret.get(path, leaf) != leaf
        and (path, leaf) not in known
    ]


def _mask_value(value: Any, path: Path, mask: str) -> Any:
    if isinstance(value, dict):
        return {
            key: mask if _hidden(path, key, inner) else _mask_value(inner, (*path, key), mask)
            for key, inner in value.items()
        }
    if path == ("service", "command") and isinstance(value, list):
        return argv([one if isinstance(one, str) else str(one) for one in value], mask=mask)
    if isinstance(value, list):
        return [_mask_value(item, (*path, index), mask) for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    whole = path == ("service", "command")
    return command(value, mask=mask) if whole else text(value, mask=mask)


def _hidden(path: Path, key: str, value: Any) -> bool:
    """Whether this is an environment variable or a header whose name is that of a secret."""
    named = path in {("service", "env"), ("health", "headers")}
    return named and value not in (None, "") and (is_secret(key) or key.lower() in HEADERS)


def _restore(sent: Any, stored: Any, shown: Any) -> Any:
    if isinstance(sent, str):
        return stored if sent == shown else sent
    if isinstance(sent, dict) and isinstance(stored, dict):
        return {
            key: _restore(inner, stored[key], shown[key]) if key in stored else inner
            for key, inner in sent.items()
        }
    if isinstance(sent, list) and isinstance(stored, list):
        return _items(sent, stored, shown)
    return sent


def _items(sent: list[Any], stored: list[Any], shown: list[Any]) -> list[Any]:
    """Restore the items unchanged at the front and the back, and those with a unique match."""
    front = _common(sent, shown)
    back = min(_common(sent[::-1], shown[::-1]), min(len(sent), len(shown)) - front)
    found = []
    for index, item in enumerate(sent):
        if index < front or (isinstance(item, dict) and len(sent) == len(stored)):
            found.append(_restore(item, stored[index], shown[index]))
        elif index >= len(sent) - back:
            at = index - len(sent)
            found.append(_restore(item, stored[at], shown[at]))
        else:
            same = [one for one, seen in zip(stored, shown, strict=True) if seen == item]
            found.append(same[0] if isinstance(item, str) and len(same) == 1 else item)
    return found


def _common(one: list[Any], other: list[Any]) -> int:
    """The number of equal items at the front."""
    pairs = enumerate(zip(one, other, strict=False))
    unlike = (index for index, (left, right) in pairs if left != right)
    return next(unlike, min(len(one), len(other)))


def _leaves(value: Any, path: Path) -> Iterable[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value
