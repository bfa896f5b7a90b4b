"""The reviewer is named by the setting, else by the machine."""

from __future__ import annotations

import dataclasses
import getpass
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from config import options
from review import reviewer
from review.reviewer import Reviewer


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    reviewer.me.cache_clear()
    yield
    reviewer.me.cache_clear()


def named(settings, value: str | None, tmp_path: Path) -> Reviewer:
    given = {} if value is None else {"SVC_REVIEWER": value}
    loaded = options.load({"SVC_DATA_DIR": str(tmp_path), **given})
    settings.SVC = dataclasses.replace(django_settings.SVC, reviewer=loaded.reviewer)
    return reviewer.me()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ada", Reviewer("ada", "ada")),
        ("Ada Lovelace <ada@x.org>", Reviewer("ada@x.org", "Ada Lovelace")),
        ("  Ada   < ada >  ", Reviewer("ada", "Ada")),
        ("Åda<é>", Reviewer("é", "Åda")),
        ("x" * 128, Reviewer("x" * 128, "x" * 128)),
    ],
)
def test_the_setting_gives_id_and_name(settings, tmp_path: Path, value: str, expected: Reviewer):
    assert named(settings, value, tmp_path) == expected


@pytest.mark.parametrize(
    "value",
    ["<ada>", "Ada <>", "Ada < >", "Ada <a> b", "Ada <a", "a>b", "x" * 129, "a\x07b", "A\n<b>",
     f"Ada <{'x' * 129}>"],
)  # fmt: skip
def test_a_malformed_setting_refuses_the_start(tmp_path: Path, value: str):
    with pytest.raises(options.OptionError) as caught:
        options.load({"SVC_DATA_DIR": str(tmp_path), "SVC_REVIEWER": value})

    assert str(caught.value) == 'SVC_REVIEWER must be "id" or "Name <id>"'


def test_a_refused_start_ends_with_two(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env={"SVC_DATA_DIR": str(tmp_path), "SVC_REVIEWER": "<x>", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert 'SVC_REVIEWER must be "id" or "Name <id>"' in done.stderr


def test_without_a_setting_the_user_is_named_as_in_git(settings, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ada Lovelace\n")

    assert named(settings, None, tmp_path) == Reviewer("ada", "Ada Lovelace")


def test_without_a_name_in_git_the_id_is_the_name(settings, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert named(settings, None, tmp_path) == Reviewer("ada", "ada")


def test_a_user_without_a_name_is_called_reviewer(settings, tmp_path: Path, monkeypatch):
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.setenv("PATH", str(tmp_path))  # no git here

    assert named(settings, None, tmp_path) == Reviewer("reviewer", "reviewer")


def test_the_answer_is_decided_once(settings, tmp_path: Path, monkeypatch):
    first = named(settings, "ada", tmp_path)
    settings.SVC = dataclasses.replace(django_settings.SVC, reviewer=("bob", "Bob"))

    assert reviewer.me() is first
