"""The fields of a PR record that a caller may set, and the values that each may have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from config.errors import Invalid
from review.files import times
from review.files.fields import NUMBER, scalar
from review.stacks.status import STORED
from review.threads.writing.limits import BODY

TITLE, BRANCH, URL = 256, 244, 2_048
READ_ONLY = frozenset({
    "title_source", "body_source", "commit_subject", "commit_body", "landed", "file",
    "matched_from", "matched_by", "carried_over", "parse_error", "proposed", "branch_source",
})  # fmt: skip
GITHUB = ("number", "url", "branch", "base", "created", "stack", "stacked_on")
PULL = re.compile(r"https?://[^\s/]+/\S*?pull/([0-9]{1,9})/?")
WEB = re.compile(r"https?://[^\s/\"<>]+[^\s\"<>]*")
NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|/\.|[/.]$|\.lock(?:/|$)|^@$")


def parse_fields(patch: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a PUT as they are stored; None clears one. Invalid for anything else."""
    for name in patch:
        if name not in SETTERS and name not in READ_ONLY:
            raise Invalid(f'Unknown field "{name[:100]}"')
    return {
        name: None if value is None else SETTERS[name](value)
        for name, value in patch.items()
        if name in SETTERS
    }


def read_before(was: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The values in `was` that the caller read before, for fields of a PUT. None means the commit's
    own value, or none. Invalid for a value of the wrong type.
    """
    if not isinstance(was, Mapping | None):
        raise Invalid('"was" must be an object')
    known = {name: was[name] for name in patch if was and name in was and name in SETTERS}
    for name, value in known.items():
        if name != "github" and value is not None:
            known[name] = _text(f"was.{name}", value)
    return known | ({"github": github_of(known["github"])} if "github" in known else {})


def branch_name(text: str) -> str | None:
    """A valid branch name without `refs/heads/`, or None (git-check-ref-format)."""
    name = text.strip().removeprefix("refs/heads/")
    if not name or NOT_IN_REFS.search(name) or len(name.encode(errors="replace")) > BRANCH:
        return None
    return name


def web_address(value: Any) -> str | None:
    """The value if it is an http or https URL, else None: nothing else may become a link."""
    if not isinstance(value, str) or len(value) > URL:
        return None
    return value if WEB.fullmatch(value) else None


def github_of(value: Any) -> dict[str, Any] | None:
    """A hand-written `github` in the stored form: values of the wrong type are left out, unknown
    keys are kept. None if nothing usable is left.
    """
    if not isinstance(value, Mapping):
        try:
            return None if value is None else _github(value)
        except Invalid:
            return None
    known = {name: GITHUB_SETTERS[name](value.get(name)) for name in GITHUB if value.get(name)}
    kept = {name: inner for name, inner in known.items() if inner is not None}
    unknown = {name: inner for name, inner in value.items() if name not in GITHUB}
    return _with_number(kept) | unknown or None


def _title(value: Any) -> str:
    title = _text("title", value).strip()
    if not title:
        raise Invalid('"title" must not be blank')
    if len(title.splitlines()) > 1:
        raise Invalid('"title" must be one line')
    if len(title) > TITLE:
        raise Invalid(f'"title" must be at most {TITLE} characters')
    return title


def _body(value: Any) -> str:
    body = _text("body", value).replace("\r\n", "\n").strip()
    if len(body) > BODY:
        raise Invalid(f'"body" must be at most {BODY:,} characters')
    return body


def _branch(value: Any) -> str:
    name = branch_name(_text("branch", value))
    if name is None:
        raise Invalid(f'"branch" is not a valid branch name: {str(value)[:100]}')
    return name


def _status(value: Any) -> str:
    if value not in STORED:
        raise Invalid('"status" must be "draft", "ready" or null')
    return str(value)


def _github(value: Any) -> dict[str, Any]:
    """Parse a number, a URL ending `/pull/N`, or an object; always returns the object."""
    if isinstance(value, Mapping):
        return _github_object(value)
    if isinstance(value, str) and (found := PULL.fullmatch(value.strip())):
        return {"number": int(found[1]), "url": value.strip()}
    if (number := _number(value)) is None:
        raise Invalid('"github" must be a number, a URL ending /pull/N or an object')
    return {"number": number, "url": ""}


def _github_object(value: Mapping[str, Any]) -> dict[str, Any]:
    for name in value:
        if name not in GITHUB:
            raise Invalid(f'Unknown field "github.{str(name)[:100]}"')
    found = {
        name: GITHUB_SETTERS[name](value[name]) for name in GITHUB if value.get(name) is not None
    }
    for name, inner in found.items():
        if inner is None:
            raise Invalid(f'"github.{name}" must be {GITHUB_WANTED[name]}')
    found = _with_number(found)
    if "number" not in found and not found["url"]:
        raise Invalid('"github" needs a "number" or a "url"')
    return found


def _with_number(found: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in order, with a `url` and, if only the URL names it, with the number."""
    whole = {"url": "", **found}
    if "number" not in whole and (named := PULL.fullmatch(whole["url"])):
        whole["number"] = int(named[1])
    return {name: whole[name] for name in GITHUB if name in whole}


def _number(value: Any) -> int | None:
    text = None if isinstance(value, bool | float) else scalar(value)
    number = int(text) if text and NUMBER.fullmatch(text) else 0
    return number or None


def _line(value: Any) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if 0 < len(text) <= TITLE and text.isprintable() else None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid(f'"{name}" must be a string or null')
    return value


SETTERS: Mapping[str, Callable[[Any], Any]] = {
    "title": _title, "body": _body, "branch": _branch, "github": _github, "status": _status,
}  # fmt: skip
GITHUB_SETTERS: Mapping[str, Callable[[Any], Any]] = {
    "number": _number,
    "url": lambda value: web_address(value) if value else "",
    "branch": lambda value: branch_name(value) if isinstance(value, str) else None,
    "base": lambda value: branch_name(value) if isinstance(value, str) else None,
    "created": lambda value: times.read(value) if isinstance(value, str) else None,
    "stack": lambda value: _number(value) or _line(value),
    "stacked_on": _number,
}
GITHUB_WANTED: Mapping[str, str] = {
    "number": "a number from 1",
    "url": "an http or https URL",
    "branch": "a branch name",
    "base": "a branch name",
    "created": "a time such as 2026-11-20T10:00:00Z",
    "stack": "a number or a string",
    "stacked_on": "a number from 1",
}
