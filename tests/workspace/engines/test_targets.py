"""The line by which people know a call, in the chat, on the home page and in notifications."""

from __future__ import annotations

import pytest

from workspace.engines import catalogue

SET = "mcp__svc_manage__set_trigger"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (" npm test\n", "npm test"),
        ("npm test\nrm -rf build", "npm test …"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 118 + " …"),
        ("", ""),
    ],
)
def test_a_command_that_goes_on_is_seen_to_go_on(command: str, line: str):
    assert catalogue.target("Bash", {"command": command}) == line


def test_what_is_granted_stands_before_the_long_text_that_is_sent_with_it():
    given = {"prompt": "Look. " * 100, "name": "t", "tools": ["mcp__svc_apps__restart_app"]}

    line = catalogue.target(SET, given)

    assert line.startswith('{"name": "t", "tools": ["mcp__svc_apps__restart_app"], "prompt":')
    assert (len(line), line[-2:]) == (120, " …")
    assert catalogue.target(SET, {}) == ""
