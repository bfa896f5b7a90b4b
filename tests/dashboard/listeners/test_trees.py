"""Real programs as they were once recorded, process by process: what starts each of them again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.listeners.identity import Identity
from dashboard.listeners.processes import Parent, Process, parse_arguments

TREES = json.loads(Path(__file__).with_name("trees.json").read_text())


def recorded(name: str) -> Identity:
    """The listener of a tree: the first process, with those above it."""
    found = []
    for number, one in enumerate(TREES[name]):
        raw = one["cmdline"].encode().removesuffix(b"\0").split(b"\0")
        argv, _, titled = parse_arguments(raw)
        found.append(Parent(number + 2, one["comm"], argv, one["exe"], one["cwd"], titled))
    first, *above = found
    process = Process(
        first.pid, name=first.name, exe=first.exe, argv=first.argv, cwd=first.cwd,
        parents=tuple(above), titled=first.titled, whole=True,
    )  # fmt: skip
    return Identity(process, first.cwd)


def below(whole: Identity, *parents: Parent) -> Identity:
    """The same listener with other processes above it."""
    return replace(whole, process=replace(whole.process, parents=parents))


@pytest.mark.parametrize(
    ("name", "cwd", "argv"),
    [
        ("npm-next", "shop", "npm run dev"),
        ("npm-vite", "site", "npm run dev"),
        ("npx-http-server", "site", "npm exec http-server -- -p 8312"),
        ("http-server", "site", ""),
        ("flask-debug", "books",
         "/home/ada/venv/bin/python3 ../venv/bin/flask --debug run -p 8313"),
        ("uvicorn-reload", "api",
         "/home/ada/venv/bin/python3 ../venv/bin/uvicorn main:app --reload --port 8314"),
        ("uvicorn-workers", "api",
         "/home/ada/venv/bin/python3 ../venv/bin/uvicorn main:app --workers 3 --port 8315"),
        ("caddy", "static", "/usr/bin/caddy file-server --listen :8316"),
        ("nginx", "proxy", "/usr/sbin/nginx -p /home/ada/proxy -c /home/ada/proxy/nginx.conf"),
    ],
)  # fmt: skip
def test_a_program_is_started_again_by_what_was_typed_where_it_was_typed(
    name: str, cwd: str, argv: str
):
    whole = recorded(name)

    assert whole.start[:2] == (tuple(argv.split()), f"/home/ada/{cwd}")
    assert whole.start.pid in {whole.process.pid, *(one.pid for one in whole.process.parents)}


@pytest.mark.parametrize(
    ("cmdline", "titled"),
    [
        (b"my title\0", True),  # as long as the arguments were
        (b"my title\0\0", True),  # a byte shorter
        (b"server\0\0\0", True),
        (b"server\0\0", False),  # may be a program with one empty argument
        (b"server\0--name\0my title\0", False),
        (b"", False),
    ],
)
def test_a_title_is_known_by_its_spaces_or_by_the_room_that_it_leaves(cmdline: bytes, titled: bool):
    raw = cmdline.removesuffix(b"\0").split(b"\0") if cmdline else []

    assert parse_arguments(raw).titled is titled


def test_the_environment_to_start_with_is_that_of_what_was_typed():
    assert recorded("npm-next").start.pid == 5  # npm, above the server, its node and a shell


def test_without_the_wrapper_above_the_process_that_wrote_the_title_is_started():
    whole = recorded("npm-next")
    node, *_, shell = whole.process.parents
    alone = below(whole, node, shell)

    assert alone.start.argv[1:] == ("/home/ada/shop/node_modules/.bin/next", "dev", "-p", "3105")


def test_a_script_or_one_simple_command_of_a_shell_starts_what_wrote_a_title():
    whole = recorded("http-server")

    def start(*argv: str) -> tuple[str, ...]:
        above = Parent(3, "sh", argv, "/usr/bin/dash", whole.cwd)
        return below(whole, above).start.argv

    for known in (("sh", "serve.sh"), ("sh", "-c", "http-server -p 8311")):
        assert start(*known) == known
    for unknown in (("sh", "-c", "make && http-server"), ("bash", "--login"), ("zsh",)):
        assert start(*unknown) == ()


def test_a_server_is_started_where_its_wrapper_was_typed():
    whole = recorded("npm-vite")

    assert Identity(whole.process, "/home/ada/site/w").start.cwd == "/home/ada/site"
