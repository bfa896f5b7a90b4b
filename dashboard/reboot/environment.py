"""The variables of a process's environment that are stored, so that it finds its tools again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from config.process import table
from dashboard.files import masks

KEPT = re.compile(
    r"PATH|VIRTUAL_ENV|NODE_ENV|DJANGO_SETTINGS_MODULE|RAILS_ENV|PORT|HOST|(?:CONDA|NVM)_\w+",
    re.ASCII,
)
MOST, VALUE = 64, 8 << 10  # variables, characters


def read(pids: Mapping[str, int]) -> dict[tuple[str, int], dict[str, str]]:
    """The kept variables of each process, by its id and pid. Blocks."""
    return {(id_, pid): kept_variables(table.environ(pid)) for id_, pid in pids.items()}


def kept_variables(environ: Iterable[bytes]) -> dict[str, str]:
    """The variables to keep: none whose name or value is a secret, and only printable text."""
    found: dict[str, str] = {}
    for one in environ:
        name, _, value = one.decode(errors="surrogateescape").partition("=")
        if KEPT.fullmatch(name) and not masks.is_secret(name) and _is_fit(value):
            found[name] = value
        if len(found) == MOST:
            break
    return found


def _is_fit(value: str) -> bool:
    printable = value.isprintable()  # a lone surrogate is not printable
    return printable and len(value) <= VALUE and masks.within(value) == value
