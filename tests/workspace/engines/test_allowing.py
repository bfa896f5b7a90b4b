"""Rules of a chat: which calls one covers, and that no trick of a shell gets past it."""

from __future__ import annotations

import pytest

from workspace.engines import allowing


def bash(command: str) -> dict[str, str]:
    return {"command": command}


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git status", "Bash(git status)"),
        ("git commit -m 'one thing'", "Bash(git commit)"),
        ("npm test -- --watch", "Bash(npm test)"),
        (".venv/bin/pytest tests/a.py -q", "Bash(.venv/bin/pytest)"),
        ("ls", "Bash(ls)"),
        ("  make check ", "Bash(make check)"),
        ("cat notes.txt", "Bash(cat notes.txt)"),
        ("rm -rf build", "Bash(rm)"),
    ],
)
def test_a_command_is_allowed_by_its_words_up_to_the_first_that_is_not_plain(
    command: str, rule: str
) -> None:
    assert allowing.rule_for("Bash", bash(command)) == rule
    assert allowing.valid(rule)
    assert allowing.covers(rule, "Bash", bash(command))


@pytest.mark.parametrize(
    "command",
    [
        "git status --short",
        "git  status",
        "git status src/a.py",
        "git status 'a file'",
        'git status "a file; rm"',
    ],
)
def test_a_rule_covers_what_begins_with_its_words(command: str) -> None:
    assert allowing.covers("Bash(git status)", "Bash", bash(command))


HOSTILE = [
    "git status; rm -rf /",
    "git status && rm -rf /",
    "git status & rm -rf /",
    "git status | sh",
    "git status || sh",
    "git status\nrm -rf /",
    "git status\rrm -rf /",
    "git status\trm",
    "git status $(rm -rf /)",
    "git status `rm -rf /`",
    'git status "$(rm -rf /)"',
    'git status "`rm -rf /`"',
    "git status ${IFS}x",
    "git status $HOME",
    "git status > /etc/passwd",
    "git status < /etc/passwd",
    "git status <(rm)",
    "git status 'open",
    'git status "open',
    "git status \\; rm",
    "git status 'a\\' ; rm '",
    "git status 'a\nb'",
    "git status {a,b}",
    "git status *",
    "git status # rm",
    "git status !!",
    "git status\x00",
    "git status\u00a0rm",
    "git status\u2028rm",
    "PAGER=sh git status",
    "A=1 git status",
    "git -c core.pager=sh status",
    "'git' status",
    '"git" status',
    "git 'status'",
    "git sta'tus'",
    "g\\it status",
    "git statusx",
    "git",
    "sudo git status",
    "(git status)",
    "{ git status; }",
    "! git status",
    "\ngit status",
    "",
]


@pytest.mark.parametrize("command", HOSTILE)
def test_nothing_hidden_in_a_command_is_covered(command: str) -> None:
    assert not allowing.covers("Bash(git status)", "Bash", bash(command))


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'git status'", "env git status", "sudo make", "python -c 'x'", "/bin/sh run.sh",
        "xargs rm", "A=1 make", "a | b", "echo $HOME", "", "make; make", ". run.sh",
    ],
)  # fmt: skip
def test_what_runs_other_programs_is_never_allowed_by_its_name(command: str) -> None:
    assert allowing.rule_for("Bash", bash(command)) is None


def test_a_tool_is_covered_by_its_name_and_bash_never() -> None:
    assert allowing.rule_for("Edit", {"file_path": "a"}) == "Edit"
    assert allowing.covers("Edit", "Edit", {"file_path": "b"})
    assert not allowing.covers("Edit", "Write", {"file_path": "b"})
    assert not allowing.valid("Bash")
    assert not allowing.covers("Bash", "Bash", bash("ls"))
    assert not allowing.covers("Bash(ls)", "mcp__shell__run", bash("ls"))
    assert allowing.valid("mcp__shell__run")


@pytest.mark.parametrize("rule", ["Bash()", "Bash(git; rm)", "Bash(git *)", "Bash(A=1 x)", "", "*"])
def test_a_rule_that_was_written_by_hand_and_is_none_covers_nothing(rule: str) -> None:
    assert not allowing.valid(rule)
    assert not allowing.covers(rule, "Bash", bash("git status"))


def test_a_command_without_text_is_not_looked_at() -> None:
    assert allowing.rule_for("Bash", {}) is None
    assert not allowing.covers("Bash(ls)", "Bash", {"command": ["ls"]})


def test_a_long_command_is_decided_at_once() -> None:
    command = "git status " + "a" * 50_000 + "\x00"
    assert not allowing.covers("Bash(git status)", "Bash", bash(command))
