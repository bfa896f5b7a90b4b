"""Reads `git log --pretty=raw --parents --raw --numstat -z`.

Paths may have any byte except NUL and are decoded with surrogateescape. Messages are decoded with
replacement; git has already converted those of other encodings to UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from review.git.commits import SUBMODULE, Changed, Commit, FileStatus

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
STATUS: Mapping[str, FileStatus] = {
    "A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "type",
}  # fmt: skip
IDENT = re.compile(rb"(.*?) ?<([^>]*)>(?: (-?\d+))?")
CHANGE_ID = re.compile(r"^change-id:[ \t]*(\S+)[ \t]*$", re.IGNORECASE | re.MULTILINE)
NEVER = "1970-01-01T00:00:00Z"  # for a commit whose time cannot be read
Counts = tuple[int | None, int | None]


def commits(data: bytes) -> Iterator[Commit]:
    """Yield the commits of one log, in its order. Without --numstat they are not `counted`."""
    tokens = data.split(b"\0")
    end = len(tokens)
    at = 0
    while at < end:
        head = tokens[at]
        if not head.startswith(b"commit "):
            at += 1  # the empty token between two commits
            continue
        text, raw, first = head.partition(b"\n\n:")
        if not raw:
            at += 1
            yield commit(text)
            continue
        tokens[at] = b":" + first
        entries, at = _raw(tokens, at)
        counts, at = _numstat(tokens, at)
        yield commit(text, _files(entries, counts), counted=bool(counts))


def files(data: bytes) -> tuple[Changed, ...]:
    """The files of one `diff-tree --raw --numstat -z` of two trees."""
    tokens = data.split(b"\0")
    entries, at = _raw(tokens, 0)
    return _files(entries, _numstat(tokens, at)[0])


def commit(text: bytes, files: tuple[Changed, ...] = (), *, counted: bool = True) -> Commit:
    """One commit with these files, from its header and its message (lines indented by 4 spaces)."""
    header, _, message = text.partition(b"\n\n")
    first, *lines = header.split(b"\n")
    _, sha, *parents = first.decode().split(" ")
    found: dict[bytes, bytes] = {}
    for line in lines:
        key, _, value = line.partition(b" ")
        found.setdefault(key, value)
    author_name, author_email, authored = _ident(found.get(b"author", b""))
    subject, body = _message(message)
    header_id = found.get(b"change-id", b"").decode(errors="replace")
    return Commit(
        sha=sha,
        parents=tuple(parents),
        subject=subject,
        body=body,
        author_name=author_name,
        author_email=author_email,
        authored=authored,
        committed=_ident(found.get(b"committer", b""))[2],
        change_id=_trailer(body) or header_id or None,
        files=files,
        counted=counted,
        edge=not parents and b"parent" in found,
    )


def path_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def time_text(seconds: str | bytes) -> str:
    """Seconds since 1970 as RFC 3339 in UTC; NEVER if they are no valid date."""
    try:
        return f"{datetime.fromtimestamp(int(seconds), UTC).isoformat()[:-6]}Z"
    except (ValueError, OverflowError, OSError):
        return NEVER


def _message(message: bytes) -> tuple[str, str]:
    """The subject (the first paragraph joined into one line, as in git) and the rest."""
    text = message.decode(errors="replace")
    lines = [line[4:] for line in text.rstrip("\n").split("\n")]
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return " ".join(lines[:end]).strip(), "\n".join(lines[end:]).strip("\n")


def _trailer(body: str) -> str:
    """The Change-Id in the last paragraph, "" if there is none."""
    found = CHANGE_ID.findall(body.rpartition("\n\n")[2])
    return found[-1] if found else ""


def _ident(line: bytes) -> tuple[str, str, str]:
    found = IDENT.match(line)
    if found is None:
        return line.decode(errors="replace"), "", NEVER
    name, email, seconds = found.groups()
    when = time_text(seconds) if seconds else NEVER
    return name.decode(errors="replace"), email.decode(errors="replace"), when


Entry = tuple[str, str | None, bytes]  # path, old path, the raw line


def _raw(tokens: list[bytes], at: int) -> tuple[list[Entry], int]:
    """The `:mode mode oid oid status` entries from `at` on, and the index after them."""
    entries: list[Entry] = []
    while at < len(tokens) and tokens[at].startswith(b":"):
        line = tokens[at]
        if line[line.rfind(b" ") + 1 :][:1] in (b"R", b"C"):
            entries.append((path_text(tokens[at + 2]), path_text(tokens[at + 1]), line))
            at += 3
        else:
            entries.append((path_text(tokens[at + 1]), None, line))
            at += 2
    return entries, at


def _numstat(tokens: list[bytes], at: int) -> tuple[dict[str, Counts], int]:
    """Added and deleted lines by path, from `at` to the empty token, and the index of the end."""
    counts: dict[str, Counts] = {}
    while at < len(tokens) and tokens[at] and not tokens[at].startswith(b"commit "):
        added, deleted, path = tokens[at].split(b"\t", 2)
        if path:
            at += 1
        else:  # a rename: old and new path follow
            path = tokens[at + 2]
            at += 3
        counts[path_text(path)] = (None, None) if added == b"-" else (int(added), int(deleted))
    return counts, at


def _files(entries: list[Entry], counts: dict[str, Counts]) -> tuple[Changed, ...]:
    return tuple(
        _parse_change(path, old_path, line, counts.get(path, (None, None)))
        for path, old_path, line in entries
    )


def _parse_change(path: str, old_path: str | None, line: bytes, counts: Counts) -> Changed:
    old_mode, new_mode, old_oid, new_oid, letter = line[1:].decode().split(" ")
    status = STATUS.get(letter[:1], "modified")
    if status == "modified" and old_oid == new_oid:
        status = "mode"
    added, deleted = (None, None) if SUBMODULE in (old_mode, new_mode) else counts
    before, after = status != "added", status != "deleted"
    return Changed(
        path,
        old_path,
        status,
        added,
        deleted,
        old_oid if before else None,
        new_oid if after else None,
        old_mode if before else None,
        new_mode if after else None,
    )
