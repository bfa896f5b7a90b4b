"""The real Claude Code in a terminal works through a review that a person is writing.

The model is scripted, its home a new folder, its key a dummy, its environment made here.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.review.places import put
from tests.review.repos import Repo
from tests.service import Service, until
from tests.stubs import anthropic
from tests.stubs.anthropic import Reply, Stub, text, use

AWAY = "claude-agent-sdk is not installed: requirements-claude.txt"
THREAD = "threads: [{id: t-asked, path: a.py, line: 2, comments: [{author: ada, body: Why 2?}]}]\n"
TOOLS = [f"mcp__review__{name}" for name in ("wait_for_thread", "get_commit", "reply")]


def program() -> str:
    """The command line that comes with the SDK."""
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        pytest.skip(AWAY)
    path = Path(found.origin).parent / "_bundled" / "claude"
    if not path.is_file():
        pytest.skip(AWAY)
    return str(path)


class Terminal:
    """A shell of the person, with nothing of this machine in it."""

    def __init__(self, folder: Path, stub: Stub) -> None:
        self.home, self.cwd = folder / "home", folder / "api"
        self.home.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "ANTHROPIC_API_KEY": "sk-ant-stub-0123456789",
            "ANTHROPIC_BASE_URL": stub.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [program(), *args], cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *args: str) -> str:
        with self.start(*args) as process:
            said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said
        return said


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "service", scheduler=False) as service:
        yield service


@pytest.fixture
def pay(served: Service, tmp_path: Path) -> Repo:
    """Project `pay` with one commit under review."""
    repo = Repo(tmp_path / "api")
    repo.commit({"a.py": "one\ntwo\n"}, "Base")
    repo.branch("topic")
    repo.commit({"a.py": "one\n2\n"}, "Count")
    entry = f"repos: [{{name: api, path: '{repo.path}', range: main..topic}}]\n"
    put(served.projects / "pay" / "project.yaml", entry.encode())
    return repo


def script(stub: Stub, sha: str) -> None:
    """What the model does when it has tools: wait, answer, look for more, say so."""
    at = {"project": "pay", "repo": "api", "sha": sha, "thread": "t-asked"}
    stub.when(
        lambda asked: bool(asked.tools),
        Reply([use("mcp__review__wait_for_thread", {"project": "pay"})]),
        Reply([use("mcp__review__reply", at | {"body": "Done.", "author": "claude"})]),
        Reply([use("mcp__review__wait_for_thread", {"project": "pay", "wait_seconds": 0})]),
        Reply([text("All answered.")]),
    )


@pytest.mark.timeout(180)
def test_claude_answers_the_thread_that_is_written_while_it_waits(
    served: Service, pay: Repo, tmp_path: Path
):
    sha = pay.sha("topic")
    review = served.projects / "pay" / "reviews" / "api" / f"{sha}.yaml"
    with anthropic.serve() as stub:
        script(stub, sha)
        shell = Terminal(tmp_path, stub)
        shell.run("mcp", "add", "--transport", "http", "review", f"{served.review_url}/mcp")
        asks = "Answer every unanswered thread of project pay, then stop."
        with shell.start(
            "-p", asks, "--permission-mode", "dontAsk", "--allowedTools", *TOOLS
        ) as claude:
            until(lambda: any(one.tools for one in stub.asked), seconds=60, what="its first words")
            put(review, THREAD.encode())
            said, _ = claude.communicate(timeout=120)
        heard = [words for one in stub.asked for _, words in one.results.values()]

    assert "All answered." in said
    assert "Why 2?" in heard[0]
    at = f"{served.review_url}/api/projects/pay/repos/api/commits/{sha}/review"
    (found,) = served.http.get(at).json()["threads"]
    assert [(one["author"], one["body"]) for one in found["comments"]] == [
        ("ada", "Why 2?"),
        ("agent:claude", "Done."),
    ]
    assert found["resolved"] is False
