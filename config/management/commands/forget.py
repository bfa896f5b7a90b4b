"""`manage.py forget [ID]`: list or delete the rows of other machines in a shared database."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize
from django.utils.module_loading import import_string

from config.errors import Conflict, NotFound, SvcError, Unavailable, printable
from config.process import nodes


class Command(BaseCommand):
    help = "Lists what other machines have in this database; with an ID, deletes it for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", nargs="?", help="of a home or a node that will not come back")

    def handle(self, *, id: str | None, **options: Any) -> None:  # noqa: A002 - the argument's name
        try:
            for line in [forgotten(id)] if id else list_others():
                self.stdout.write(line)
        except SvcError as error:
            raise CommandError(str(error), returncode=2) from error


def list_others() -> list[str]:
    """A line for each home or node other than this one's: its id, who serves it, what it has."""
    found = [
        f"{one}  {_describe_servers(one)}  {', '.join(words)}"
        for one, words in sorted(_rows_by_home().items())
    ]
    return found or ["no rows of other machines"]


def forgotten(one: str) -> str:
    """Delete the rows of a home or node; return a sentence that counts them. NotFound if it has
    none, Conflict while a process serves it, Unavailable while that cannot be known."""
    if one not in _rows_by_home():
        raise NotFound(f"no rows of another machine: {printable(one)}; `forget` alone lists them")
    if not nodes.can_hear():
        raise Unavailable("Redis does not answer, so it is not known who is alive; try again later")
    if alive := [node.name for node in _serving(one) if node.alive]:
        raise Conflict(f"{alive[0]} is alive and serves it; stop it there first")
    count = sum(import_string(part)().forget(one) for part in settings.SVC_ELSEWHERE)
    nodes.forget(one)
    return f"{count} row{pluralize(count)} deleted"


def _rows_by_home() -> dict[str, list[str]]:
    found = defaultdict(list)
    for part in settings.SVC_ELSEWHERE:
        for one, words in import_string(part)().describe_others().items():
            found[one].append(words)
    return found


def _serving(one: str) -> list[nodes.Node]:
    return [node for node in nodes.others() if one in (node.id, node.home)]


def _describe_servers(one: str) -> str:
    serving = [f"{node.name} ({'alive' if node.alive else 'gone'})" for node in _serving(one)]
    return ", ".join(serving) or "not heard of for a week"
