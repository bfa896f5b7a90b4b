"""Each ACP agent of the settings has its own reason why it cannot be used."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from config.errors import Invalid
from workspace import doctor
from workspace.chats import actions
from workspace.engines import select

GOOD, NOPE, BAD = {"command": ["sh"]}, {"command": ["nosuchagent"]}, {"command": ["ls"], "foo": 1}
NOT_FOUND = "the command of the ACP agent nope is not found: nosuchagent"
NOT_KNOWN = (
    "engines.acp.agents.bad.foo is not known; use command, env, reads, urls, mode, login, "
    "startSeconds, meta or ownInstructions"
)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    pytest.importorskip("acp", reason="agent-client-protocol is not installed (make engine-acp)")
    yield
    select.probe_again()


def configure(settings: Any, **agents: dict[str, Any]) -> None:
    settings.SVC = dataclasses.replace(settings.SVC, engines={"acp": {"agents": agents}})
    select.probe_again()


def reason(word: str) -> str:
    return select.choose(prompt="x", asked=word).reason


def test_a_message_that_no_agent_can_run_ends_with_the_reason_of_the_one_it_names(settings):
    configure(settings, nope=NOPE, bad=BAD)

    assert reason("acp:nope") == reason("acp") == NOT_FOUND
    assert reason("acp:bad") == NOT_KNOWN
    assert reason("acp:other") == 'there is no ACP agent "other" (configured: acp:nope)'
    assert reason("acp:no") == 'there is no ACP agent "no" (configured: acp:nope)'
    assert select.probe("acp").reason == f"not usable: {NOT_KNOWN}; {NOT_FOUND}"


def test_without_agents_the_engine_is_not_configured_and_an_only_one_is_meant(settings):
    configure(settings)
    assert reason("acp:x") == "the engine acp is not configured (engines.acp.agents)"

    configure(settings, bad=BAD)
    assert reason("acp") == NOT_KNOWN


def test_beside_an_agent_that_runs_the_reason_of_another_is_told(settings):
    configure(settings, good=GOOD, nope=NOPE, bad=BAD)

    for word, said in (
        ("acp:nope", f'model "acp:nope" cannot run now: {NOT_FOUND}'),
        ("acp:bad", f'model "acp:bad" cannot run now: {NOT_KNOWN}'),
        ("acp:other", 'unknown model "acp:other"'),
    ):
        with pytest.raises(Invalid) as refused:
            actions.check_model(word)
        assert refused.value.text == f"{said} (valid: acp:good)."
    assert actions.check_model("acp:good") == "acp:good"


def test_the_doctor_names_every_agent_that_is_not_used(settings):
    configure(settings, good=GOOD, nope=NOPE, bad=BAD)

    hints = [one.text for one in doctor.engines() if one.subject == "ACP agents"]

    assert hints == [f"{NOT_KNOWN}: not used", f"{NOT_FOUND}: not used"]
