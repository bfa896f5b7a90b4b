"""`manage.py token CLIENT`: a token for a management client, and where to paste what."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import written
from config.errors import SvcError
from config.process.singleton import Instance
from workspace.access import offer
from workspace.access.clients import management


class Command(BaseCommand):
    help = "Makes a token for a client of /mcp and shows what to paste where; stores nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("client", help="its name in svc.config.yaml, e.g. laptop")
        for flag, what in (
            ("--project", "project it may use"),
            ("--allow", "operation it may call"),
        ):
            text = f"a {what}, or a pattern; may be given again"
            parser.add_argument(flag, action="append", default=[], metavar="NAME", help=text)

    def handle(self, *, client: str, project: list[str], allow: list[str], **options: Any) -> None:
        url = f"http://localhost:{_port()}"
        try:
            made = offer.make(client, management(), url=url, projects=project, allow=allow)
        except SvcError as error:
            raise CommandError(str(error), returncode=2) from error
        for line in render_lines(made):
            self.stdout.write(line)


def render_lines(made: offer.Offer) -> Iterator[str]:
    """The lines to print: instructions as comments, and the text to paste."""
    yield "# 1. The token, shown once and stored nowhere: for the environment of the client, and,"
    yield f"#    for the service, into {settings.DATA_DIR / written.SERVICE_ENV} (chmod 600)."
    yield f"export {made.variable}={made.token}"
    yield ""
    if made.config:
        yield f"# 2. Into {settings.SVC.config_file}, into its managementApi block if it has one:"
        yield made.as_yaml()
    else:
        yield f"# 2. {settings.SVC.config_file} names {made.client} already, and its variable."
        yield ""
    yield "# 3. Start the service again, then connect."
    for program, text in made.connect().items():
        yield f"#    {program}:"
        yield text
        yield ""


def _port() -> int:
    """The main port of the running server, else the configured one."""
    facts = Instance(settings.DATA_DIR, "server").holder() or {}
    return int(facts.get("ports", {}).get("main") or settings.SVC.port)
