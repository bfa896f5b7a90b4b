"""The three texts of the guide: the short index, the guide itself, and everything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.template import Context
from django.template.loader import get_template

from config.mcp.operations import Operation
from dashboard.guide import tables
from dashboard.guide.escape import text
from dashboard.guide.live import Live


def llms(live: Live) -> str:
    """/llms.txt: what this is, one line per app, sections of links."""
    groups = [{"name": text(g["name"]), "links": tables.links(g)} for g in live.groups]
    return _render("llms.txt", live, apps=tables.app_lines(live.apps), groups=groups)


def agent_guide(live: Live) -> str:
    """/agent-guide.md: the rules, and the live tables."""
    return _render(
        "agent-guide.md",
        live,
        now=f"{live.now:%Y-%m-%dT%H:%M:%SZ}",
        writes=live.config["mcp"]["writes"],
        apps=tables.apps(live.apps),
        observed=tables.observed(live.observed),
        lost=tables.lost(live.lost),
        nodes=tables.nodes(live.nodes) if live.nodes else "",
        errors=tables.errors(live.errors),
        app_notes=tables.app_notes(live.apps),
        notes=live.config["agentGuide"]["notes"],
    )


def llms_full(live: Live, operations: Iterable[Operation]) -> str:
    """/llms-full.txt: the guide, the API, the file formats and the tools of /mcp."""
    shown = {"guide": agent_guide(live), "tools": tables.tools(operations)}
    return _render("llms-full.txt", live, **shown)


def _render(name: str, live: Live, **values: Any) -> str:
    """The rendered template. It escapes nothing itself, as its values are Markdown already."""
    found = get_template(f"dashboard/guide/{name}")
    shown = {"base": live.base, "title": text(live.config["title"]), **values}
    made: str = found.template.render(Context(shown, autoescape=False))  # type: ignore[attr-defined]
    return f"{made.strip()}\n"
