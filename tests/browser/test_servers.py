"""MCP servers on the settings page of a project: shown, agreed to, and asked about again."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.service import Service

OWN = {"mcpServers": {"files": {"command": "npx", "args": ["-y", "files-server", "."]}}}


def test_servers_a_project_brings_are_used_when_a_person_says_so(
    page: Page, shared_service: Service
):
    shared_service.http.post("/api/projects", json={"name": "Served"}).raise_for_status()
    project = shared_service.projects / "served"
    (project / "project.yaml").write_text(
        "name: Served\nmcpServers:\n  mine: {command: my-server, env: [NOT_SET]}\n"
    )
    (project / ".mcp.json").write_text(json.dumps(OWN))

    page.goto("/projects/served/settings")

    card = page.locator("#servers")
    expect(card.get_by_text("npx -y files-server .")).to_be_visible()
    expect(card.get_by_text("needs the variable NOT_SET")).to_be_visible()
    card.get_by_role("button", name="Use these servers").click()
    expect(card.get_by_text("used, .mcp.json")).to_be_visible()
    card.get_by_role("button", name="Stop using").click()
    expect(card.get_by_text("not used yet, .mcp.json")).to_be_visible()
