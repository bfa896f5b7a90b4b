"""Addresses that open a line of a file in the editor of the person who clicks."""

from __future__ import annotations

import re

PRESETS = {
    "vscode": "vscode://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "jetbrains": "idea://open?file={path}&line={line}",
    "emacs": "emacs://open?url=file://{path}&line={line}",
    "vim": "mvim://open?url=file://{path}&line={line}",
}
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
FIELD = re.compile(r"\{[^{}]*\}")
RUN = {"javascript", "data", "vbscript", "blob"}  # a browser runs these itself


def template(value: str) -> str:
    """The template for a preset's name, or a valid template unchanged; "" for "".

    Raises ValueError with what is allowed for anything else.
    """
    found = PRESETS.get(value.lower(), value)
    if not found:
        return ""
    scheme = SCHEME.match(found)
    fields = FIELD.findall(found)
    usable = scheme and scheme[1].lower() not in RUN and found.isprintable() and " " not in found
    if not usable or "{path}" not in fields or not {"{path}", "{line}"}.issuperset(fields):
        raise ValueError(f"{', '.join(PRESETS)}, or an address with {{path}} and perhaps {{line}}")
    return found
