"""ignore.yaml: listeners that are not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.files import convert, globs
from dashboard.files.durations import Unfit
from dashboard.files.fields import Fields, Issue, as_texts

RULES = 1000
KEYS = ("port", "process", "dir")


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """All given conditions must hold. `ports` is an inclusive range; `dir` is a glob of real paths
    and also covers everything below them."""

    ports: tuple[int, int] | None = None
    process: str | None = None
    dir: str | None = None
    reason: str | None = None
    at: str | None = None

    def covers(self, *, port: int, processes: Sequence[str], cwd: str) -> bool:
        """Whether all given conditions hold. `processes`: the names of the process; `cwd` is ""
        when unknown."""
        return (
            (self.ports is None or self.ports[0] <= port <= self.ports[1])
            and (self.process is None or self.process in processes)
            and (self.dir is None or (cwd != "" and globs.covers(self.dir, cwd)))
        )


def read_ignore(
    value: Mapping[str, Any], texts: Mapping[str, Any] | None = None, *, slug: str = ""
) -> tuple[tuple[IgnoreRule, ...], list[Issue]]:
    """The rules and the issues of the mapping."""
    fields = Fields.of(value, texts)
    rules = tuple(_rule(row) for row in fields.rows("rules", most=RULES))
    fields.finish()
    return rules, fields.issues


def same_rule(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two rules cover the same listeners, whatever their reasons."""
    return all(as_texts(one.get(key)) == as_texts(other.get(key)) for key in KEYS)


def _rule(row: Fields) -> IgnoreRule:
    rule = IgnoreRule(
        ports=row.text("port", _ports),
        process=row.text("process", convert.basename),
        dir=row.text("dir", convert.path_glob),
        reason=row.text("reason", convert.lines(500)),
        at=row.text("at", convert.text(40)),
    )
    if all(row.value.get(key) is None for key in KEYS):
        row.wrong("must have at least one of port, process and dir")
    row.finish()
    return rule


def _ports(value: str) -> tuple[int, int]:
    found = convert.ranges(1, 65535)(value)
    if len(found) != 1:
        raise Unfit("must be one port or one range, such as 5000 or 5000-5010")
    return found[0]
