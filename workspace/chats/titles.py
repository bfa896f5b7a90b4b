"""The name of a chat until a person gives it one."""

from __future__ import annotations

import re
from datetime import datetime

from config import zones
from workspace.engines import catalogue, grammar
from workspace.projects.project import Project

TITLE_MAX = 100
_MARKS = re.compile(r"\A#!runbook\b|^(`{3,}|~{3,})", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}")


def fired_name(project: Project, trigger: str, created: datetime) -> str:
    """The name of a chat that a trigger began: with the time, to tell runs of one trigger apart."""
    began = created.astimezone(zones.find(project.effective("timezone")))
    return f"{trigger}, {began:%a} {began.day} {began:%b %H:%M}"


def title(prompt: str) -> str:
    """The automatic name of a chat that begins with this prompt: its words, without the list of
    attached files (attachments.with_files)."""
    words = prompt.partition("\n\nAttached files:\n- ")[0]
    line = " ".join(_MARKS.sub("", _introduction(words)).split())
    return line if len(line) <= TITLE_MAX else f"{line[:TITLE_MAX]}…"


def _introduction(prompt: str) -> str:
    """The text before a runbook's first step, else that step; other prompts unchanged."""
    try:
        first = grammar.parse(prompt)[0] if grammar.is_runbook(prompt) else None
    except grammar.SyntaxFault:
        return prompt
    match first:
        case grammar.Narration():
            return _PLACEHOLDER.sub("", first.text)
        case grammar.Step():
            return f"{first.tool} {catalogue.target(first.tool, first.args)}"
    return prompt
