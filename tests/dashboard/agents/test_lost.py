"""After a reboot: the tools, the guide and the command line tell and do what the routes do."""

from __future__ import annotations

import pytest

from tests.dashboard.agents.agent import Agent, settled
from tests.dashboard.agents.test_command import Terminal
from tests.dashboard.reboot.test_reboot import Rebooted, machine
from tests.service import until

__all__ = ["machine"]


@pytest.mark.slow
def test_what_was_lost_is_told_brought_back_and_dismissed_alike(machine: Rebooted):
    until(lambda: machine.items().keys() == set(machine.ids), what="the notice")
    terminal = Terminal(machine.served)
    first, second, third, fourth = machine.ids

    with Agent(machine.served.dashboard_url) as agent:
        assert agent.told("get_lost") == agent.http_json("GET", "/api/lost")
        guide = agent.http.get("/agent-guide.md").text
        assert all(f"| `{one}` |" in guide for one in machine.ids)
        assert {line.split()[0] for line in terminal.lines("lost")[1:]} == set(machine.ids)

        by_tool = agent.told("restart_lost", id=first, slug="by-tool", asService=True)
        by_http = machine.post(f"{second}/service", {"slug": "by-http"})
        assert (by_tool["ok"], by_http["ok"]) == (True, True)
        assert list(by_tool) == list(by_http)
        assert by_tool["slug"] == "by-tool"
        dismissed = agent.told("dismiss_lost", id=third)
        assert [one["id"] for one in dismissed["lost"]["items"]] == [fourth]
        assert settled(dismissed) == settled(agent.http_json("GET", "/api/lost"))
        assert terminal.lines("lost", "restart", fourth)[0].endswith(" is up")
        assert agent.told("dismiss_lost") == {"lost": None} == machine.post("dismiss")
    machine.reboot("third")  # what was started once is nobody's service, and ends here
    for slug in ("by-tool", "by-http"):
        machine.served.until_state(slug, "up")  # what starts by itself is stopped once it has
