"""What strangers call themselves is shown without control characters and without secrets."""

from __future__ import annotations

import time

import orjson
import pytest

from dashboard.files import masks
from dashboard.listeners.printable import masked_argv, plain


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["srv", "--token", "abc"], ["srv", "--token", "***"]),
        (["srv", "--token", "-abc"], ["srv", "--token", "***"]),
        (["srv", "--api-key=abc", "-p", "1"], ["srv", "--api-key=***", "-p", "1"]),
        (["srv", "--DB_PASSWORD=a b c"], ["srv", "--DB_PASSWORD=***"]),
        (
            ["env", "AWS_SECRET_ACCESS_KEY=a/b+c", "srv"],
            ["env", "AWS_SECRET_ACCESS_KEY=***", "srv"],
        ),
        (["srv", "postgres://bob:pw@db/shop"], ["srv", "postgres://***@db/shop"]),
        (["srv", "--db=postgres://bob:p@w@db/shop"], ["srv", "--db=postgres://***@db/shop"]),
        (["srv", "https://x/?access_token=abc&a=1"], ["srv", "https://x/?access_token=***&a=1"]),
        (["sh", "-c", "cd x; TOKEN=abc npm start"], ["sh", "-c", "cd x; TOKEN=*** npm start"]),
        (["sh", "-c", "A=1 PASS='a b' npm start"], ["sh", "-c", "A=1 PASS=*** npm start"]),
        (["sh", "-c", "srv --password abc --port 1"], ["sh", "-c", "srv --password *** --port 1"]),
        (["srv", '{"token": "a b", "port": 1}'], ["srv", '{"token": ***, "port": 1}']),
        (["curl", "-H", "Authorization: Bearer abc"], ["curl", "-H", "Authorization: ***"]),
        (["srv", "--port", "3000", "--host", "x"], ["srv", "--port", "3000", "--host", "x"]),
        (["srv", "--opt=token=abc", "a:token:b"], ["srv", "--opt=token=***", "a:token:***"]),
        (["env", "TOKEN=//a b", "srv"], ["env", "TOKEN=***", "srv"]),
        (["node", "monkey.js", "run"], ["node", "monkey.js", "run"]),
        (["srv", "--bind=keyserver://host/x"], ["srv", "--bind=keyserver://host/x"]),
    ],
)
def test_values_after_or_of_a_secret_name_are_hidden(argv: list[str], shown: list[str]):
    assert masked_argv(argv) == shown


def test_control_characters_turned_text_and_broken_text_are_replaced():
    text = plain("a\x1b[31m\r\nb\x00\u202ec\u2028\udcff é 漢")

    assert text == "a�[31m��b��c�� é 漢"
    assert orjson.loads(orjson.dumps(text)) == text


def test_long_text_and_long_argument_lists_are_cut_and_say_so():
    assert plain("x" * 5, 5) == "xxxxx"
    assert plain("x" * 6, 5) == "xxxx…"
    assert len(masked_argv(["x" * 10_000] * 1_000)) == 201
    assert masked_argv(["x"] * 201)[-1] == "…"


def test_a_long_secret_is_hidden_before_it_is_cut():
    assert masked_argv(["srv", "postgres://bob:" + "x" * 50_000 + "@db"]) == [
        "srv", "postgres://***@db",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a-", "-", "-a ", "a=", "a:", "a://", "a://b", "@", " ", '"', "key ", "="]
)
def test_hostile_arguments_cost_no_more_than_their_length(piece: str):
    argument = piece * (2_000 // len(piece))

    began = time.process_time()
    masked_argv([argument] * 200)

    assert time.process_time() - began < 1.0
    assert "secret-value" not in masks.within(argument + " --token secret-value")
