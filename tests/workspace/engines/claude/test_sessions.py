"""The real Claude Code goes on with what another version of it kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises.rings import few
from tests.stubs.anthropic import text
from tests.workspace.chats.sessions import kept
from tests.workspace.engines.claude.conftest import Desk, ended, of
from tests.workspace.engines.claude.test_memory import said
from workspace.chats.sessions import claude_code, continuing


@pytest.mark.parametrize("version", few(kept.VERSIONS[::-1], 1))
def test_a_session_goes_on_with_all_that_was_said(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    path = kept.keep(tmp_path / "claude" / "projects", desk.project, version)
    session = claude_code.get(desk.project, path.stem)
    continuing.append(desk.world.transcript, session)
    copy = desk.store / "alpha" / path.parent.name / path.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(path.read_bytes())
    desk.stub.say(text("More."))

    records = desk.run("And now?", engine_ref={"session": session.id, "chat": ""})

    assert ended(records) == ("ok", None)
    assert [notice["code"] for notice in of(records, "notice")] == []
    asked = "\n".join(said(desk.stub.asked[-1]))
    for words in (kept.WORDS, "I will read it.", "The file says **hello**.", "And now?"):
        assert words in asked
    assert copy.read_bytes() == path.read_bytes()
