"""Reading a trigger's record: finds all mistakes at once, each with field, reason and example.

Pure: looks only at the record. Checks that need the project (prompt files, engines) are in
preflight.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson

from config import network, zones
from config.errors import Problem
from config.storage import yamlio
from workspace.projects.schema import PERMISSION_MODES
from workspace.triggers.entries import catalogue
from workspace.triggers.entries.schema import ON_ASK, Event, Run, Schedule, Trigger, Webhook
from workspace.triggers.schedule import cron, interval

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PROMPT_MOST = 100_000
_TYPE_KEYS = {
    "schedule": ("cron", "interval", "catchUp", "timezone"),
    "event": ("on",),
    "webhook": ("path",),
}
KEYS = ("trigger", "run", "enabled", "clients")
RUN_KEYS = (
    "prompt",
    "promptFile",
    "session",
    "tools",
    "model",
    "permissionMode",
    "network",
    "maxTurns",
    "maxSpawnDepth",
    "overlap",
    "backoff",
    "debounce",
    "match",
    "onAsk",
)
LONGEST_DEBOUNCE = timedelta(hours=1)
MOST_MATCHES, LONGEST_MATCH = 50, 200


@dataclass(slots=True)
class Findings:
    """The problems and warnings of one reading. No problems = the trigger is usable."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, where: str, reason: str, example: str | None = None) -> None:
        self.problems.append(Problem(where, reason, example))

    def one_of(self, where: str, value: Any, allowed: tuple[str, ...]) -> str | None:
        if value is None or value in allowed:
            return value  # type: ignore[no-any-return]
        self.add(where, f"{describe_value(value)} is not one of {', '.join(allowed)}")
        return None

    def whole(self, where: str, value: Any, allowed: str, example: str, most: int) -> int | None:
        least = 1 if "1 to" in allowed else 0
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.add(where, f"{describe_value(value)} is not a whole number {allowed}", example)
        return None


def describe_value(value: Any) -> str:
    """A value as it appears in an error: JSON, about 100 characters at most, one line."""
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() else "?" for c in value[:100]) + '"'
    try:
        text = orjson.dumps(value, default=lambda _: None).decode()
    except TypeError:  # integers beyond 64 bits, keys that are not text
        text = f"a {type(value).__name__}"
    return text if len(text) <= 100 else text[:100] + "…"


def check_name(name: str, findings: Findings) -> None:
    if name == "runtime":
        findings.add("name", '"runtime" is reserved', '"runtime-check"')
    elif not NAME.fullmatch(name):
        rule = 'must start with a letter or digit and use only letters, digits, ".", "_", "-"'
        findings.add("name", f"{describe_value(name)} {rule} (1-64)", '"nightly-scan"')


def read(name: str, body: Any, *, kept: str = "not stored") -> tuple[Trigger | None, Findings]:
    """A trigger from its full record, or None; `kept` words what happens to unknown keys."""
    findings = Findings()
    check_name(name, findings)
    if not isinstance(body, Mapping):
        findings.add("trigger", "must be a mapping of trigger, run and enabled", "enabled: false")
        return None, findings
    _unknown("", body, KEYS, findings, kept)
    when = _when(body.get("trigger"), findings, kept)
    run = _run(body.get("run"), findings, kept)
    enabled = body.get("enabled", False)
    if not isinstance(enabled, bool):
        findings.add("enabled", "must be true or false")
    clients = _clients(body.get("clients"), findings)
    if when is not None and run is not None:
        _warn_of_what_is_not_gathered(when, run, findings)
    if findings.problems or when is None or run is None:
        return None, findings
    if isinstance(when, Event) and when.on == "afterTurn" and run.tools:
        findings.warnings.append("run.tools: ignored, the curator has no tools")
    warnings = tuple(findings.warnings)
    return Trigger(name, when, run, enabled, clients=clients, warnings=warnings), findings


def _clients(value: Any, findings: Findings) -> tuple[str, ...]:
    """The clients that stored it. An unreadable value is a problem, because dropping it would
    remove the trigger's bounds."""
    names = [] if value is None else value
    if not isinstance(names, list) or not all(name and isinstance(name, str) for name in names):
        findings.add("clients", "must be a list of names of management clients", '["ci"]')
        return ()
    return tuple(dict.fromkeys(names))


def _unknown(
    where: str, body: Mapping[str, Any], allowed: tuple[str, ...], findings: Findings, kept: str
) -> None:
    for key in body:
        if key == yamlio.MERGE:  # a valid merge key is resolved before anything is read
            findings.add(f"{where}{key}", "must name a mapping, or a list of them, to mix in")
        elif key not in allowed:
            findings.warnings.append(f"{where}{str(key)[:100]}: unknown key, {kept}")


def _when(body: Any, findings: Findings, kept: str) -> Schedule | Event | Webhook | None:
    if not isinstance(body, Mapping):
        findings.add("trigger", "must be a mapping with a type", 'type "schedule"')
        return None
    kind = body.get("type")
    if kind not in catalogue.TRIGGER_TYPES:
        allowed = ", ".join(catalogue.TRIGGER_TYPES)
        findings.add("trigger.type", f"{describe_value(kind)} is not one of {allowed}")
        return None
    others = {key: owner for owner, keys in _TYPE_KEYS.items() for key in keys if owner != kind}
    for key in body:
        if body[key] is not None and key in others:
            reason = f"belongs to {others[key]} triggers, this one is of type {kind}"
            findings.add(f"trigger.{key}", reason, f'type "{others[key]}"')
    _unknown("trigger.", body, ("type", *_TYPE_KEYS[kind], *others), findings, kept)
    readers: Mapping[str, Callable[[Mapping[str, Any], Findings], Schedule | Event | Webhook]]
    readers = {"schedule": _schedule, "event": _event, "webhook": _webhook}
    return readers[kind](body, findings)


def _schedule(body: Mapping[str, Any], findings: Findings) -> Schedule:
    pattern, length = body.get("cron"), body.get("interval")
    if (pattern is None) == (length is None):
        findings.add("trigger", "give exactly one of cron and interval", 'interval "30m"')
    if pattern is not None:
        check_cron(pattern, findings)
    if length is not None:
        check_interval(length, findings)
    catch_up = findings.one_of("trigger.catchUp", body.get("catchUp"), ("skip", "once"))
    zone = body.get("timezone")
    if zone is not None:
        check_zone(zone, findings)
        if pattern is None:
            reason = "has no effect on an interval, which counts from when it was armed"
            findings.warnings.append(f"trigger.timezone: {reason}")
    return Schedule(pattern, length, catch_up, zone)


def check_cron(text: Any, findings: Findings) -> None:
    try:
        found = cron.parse(_text(text, cron.BadCron, "a cron pattern"))
    except cron.BadCron as error:
        findings.add("trigger.cron", str(error), cron.EXAMPLE)
        return
    findings.warnings += [f"trigger.cron: {warning}" for warning in found.warnings]


def check_zone(name: Any, findings: Findings) -> None:
    try:
        zones.iana_zone(_text(name, zones.BadZone, "the name of a time zone"))
    except zones.BadZone as error:
        findings.add("trigger.timezone", str(error), zones.EXAMPLE)


def check_interval(text: Any, findings: Findings) -> None:
    try:
        length = interval.parse(_text(text, interval.BadInterval, "a duration"))
    except interval.BadInterval as error:
        findings.add("trigger.interval", str(error), interval.EXAMPLE)
        return
    if length.total_seconds() < 60:
        findings.warnings.append("trigger.interval: fires more than once a minute")


def _text(value: Any, refusal: type[ValueError], what: str) -> str:
    if isinstance(value, str):
        return value
    raise refusal(f"{describe_value(value)} is not {what} in quotes")


def _event(body: Mapping[str, Any], findings: Findings) -> Event:
    event = body.get("on")
    if event is None:
        findings.add("trigger.on", f"is required, one of {', '.join(catalogue.EVENTS)}")
    return Event(findings.one_of("trigger.on", event, catalogue.EVENTS) or "")


def _webhook(body: Mapping[str, Any], findings: Findings) -> Webhook:
    path = body.get("path")
    if path is not None and not (isinstance(path, str) and path.startswith("/")):
        findings.add("trigger.path", 'must start with "/"', '"/deploy"')
    return Webhook(path)


def _run(body: Any, findings: Findings, kept: str) -> Run | None:
    if not isinstance(body, Mapping):
        findings.add("run", "must be a mapping with a prompt or a promptFile", 'prompt "Say hi"')
        return None
    _unknown("run.", body, RUN_KEYS, findings, kept)
    _check_prompts(body.get("prompt"), body.get("promptFile"), findings)
    run = Run(
        prompt=body.get("prompt"),
        prompt_file=body.get("promptFile"),
        session=findings.one_of("run.session", body.get("session"), ("new", "resume")) or "new",  # type: ignore[arg-type]
        tools=_tools(body.get("tools"), findings),
        model=_model(body.get("model"), findings),
        permission_mode=findings.one_of(
            "run.permissionMode", body.get("permissionMode"), tuple(PERMISSION_MODES)
        ),
        network=_network(body.get("network"), findings),
        max_turns=findings.whole(
            "run.maxTurns", body.get("maxTurns"), "from 1 to 1000", "30", 1000
        ),
        max_spawn_depth=findings.whole(
            "run.maxSpawnDepth", body.get("maxSpawnDepth"), "of 0 or more", "1", 1_000_000
        ),
        overlap=findings.one_of("run.overlap", body.get("overlap"), ("skip", "queue", "parallel")),
        backoff=body.get("backoff"),
        debounce=_debounce(body.get("debounce"), findings),
        match=_match(body.get("match"), findings),
        on_ask=findings.one_of("run.onAsk", body.get("onAsk"), ON_ASK),  # type: ignore[arg-type]
    )
    if not isinstance(body.get("backoff"), bool | None):
        findings.add("run.backoff", "must be true or false", "false")
    if run.overlap == "parallel" and run.session == "resume":
        reason = 'parallel needs run.session "new" (turns of one chat never overlap)'
        findings.add("run.overlap", reason)
    return run


def _debounce(value: Any, findings: Findings) -> str | None:
    if value is None:
        return None
    if value == "0s":
        return "0s"
    try:
        text = _text(value, interval.BadInterval, "a duration")
        if interval.parse(text) > LONGEST_DEBOUNCE:
            raise interval.BadInterval(f"{describe_value(value)} is longer than 1h")
        return text
    except interval.BadInterval as error:
        findings.add("run.debounce", f"{error}; 0s fires at once", '"2m"')
        return None


def _match(value: Any, findings: Findings) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if names is None or names == []:
        return ()
    if not isinstance(names, list) or len(names) > MOST_MATCHES:
        reason = f"must be a list of at most {MOST_MATCHES} names; * stands for any text"
        findings.add("run.match", reason, '["shop", "shop-*"]')
        return ()
    fine = [isinstance(name, str) and 0 < len(name) <= LONGEST_MATCH for name in names]
    if not all(fine):
        reason = f"must hold names of at most {LONGEST_MATCH} characters"
        findings.add("run.match", reason, '["shop", "shop-*"]')
        return ()
    return tuple(dict.fromkeys(names))


def _warn_of_what_is_not_gathered(
    when: Schedule | Event | Webhook, run: Run, findings: Findings
) -> None:
    if isinstance(when, Event) and when.on in catalogue.HAPPENINGS:
        return
    for key, value in (("debounce", run.debounce), ("match", run.match)):
        if value:
            which = ", ".join(catalogue.HAPPENINGS)
            findings.warnings.append(f"run.{key}: has no effect, it is for {which}")


def _check_prompts(prompt: Any, file: Any, findings: Findings) -> None:
    if (prompt is None) == (file is None):
        reason = "give exactly one of prompt and promptFile"
        findings.add("run", reason, 'promptFile "daily.md"')
    if prompt is not None:
        check_prompt(prompt, findings)
    if file is not None:
        check_prompt_file(file, findings)


def check_prompt(prompt: Any, findings: Findings) -> None:
    example = '"Summarise new issues"'
    if not isinstance(prompt, str):
        findings.add("run.prompt", "must be text", example)
    elif not prompt.strip():
        findings.add("run.prompt", "must not be blank", example)
    elif len(prompt) > PROMPT_MOST or "\0" in prompt:
        findings.add("run.prompt", f"must be 1 to {PROMPT_MOST} characters without NUL", example)


def check_prompt_file(file: Any, findings: Findings) -> None:
    reason = ""
    if not isinstance(file, str) or not 1 <= len(file) <= 200:
        reason = "must be the name of a .md file, 1 to 200 characters"
    elif file.startswith("/") or ".." in file.split("/"):
        reason = f"{describe_value(file)} leaves .svc/triggers/"
    elif "\\" in file or not file.isprintable() or any(p in ("", ".") for p in file.split("/")):
        reason = f"{describe_value(file)} is not a relative path"
    elif not file.endswith(".md"):
        reason = f"{describe_value(file)} does not end in .md"
    if reason:
        findings.add("run.promptFile", reason, '"daily.md"')


def _tools(value: Any, findings: Findings) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > 200:
        findings.add("run.tools", "must be a list of tool names", '["Read", "Grep"]')
        return ()
    names = list(dict.fromkeys(name for name in value if isinstance(name, str)))
    if any(not isinstance(name, str) for name in value):
        findings.add("run.tools", "must hold names only", '["Read", "Grep"]')
    for name in names:
        if not catalogue.is_known(name):
            tool, pattern, _ = name.partition("(")
            close = catalogue.nearest(tool)
            why = ": a list names whole tools, not patterns of commands" if pattern else ""
            hint = why + (f" (did you mean {close}?)" if close else "")
            example = None if close else '"Read"'
            findings.add("run.tools", f"unknown tool {describe_value(name)}{hint}", example)
        elif name in catalogue.NEVER_GRANTED:
            findings.warnings.append(f"run.tools: no engine grants {name}")
    return tuple(names)


def _network(value: Any, findings: Findings) -> str | None:
    try:
        return None if value is None else network.word(value)
    except network.BadNetwork as error:
        lists = "; ports and hosts are listed in the project" if isinstance(value, dict) else ""
        findings.add("run.network", f"{error}{lists}")
        return None


def _model(value: Any, findings: Findings) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and 1 <= len(value) <= 200 and len(value.split()) == 1:
        return value.strip()
    reason = "must be one word of at most 200 characters"
    findings.add("run.model", reason, '"runbook"')
    return None
