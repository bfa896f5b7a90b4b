"""`manage.py notify`: the channels and their state; `--test` sends a test to each, or to one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.errors import NotFound
from workspace.notify import describe, setting


class Command(BaseCommand):
    help = "Shows the channels that notifications go to, or sends them a test."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        text = "send a test to this channel, without a name to all of them; 1 where one fails"
        parser.add_argument("--test", nargs="?", const="", metavar="CHANNEL", help=text)

    def handle(self, *, test: str | None, **options: Any) -> None:
        found = setting.current()
        for sentence in found.sentences():
            self.stderr.write(sentence)
        if not found.channels:
            text = "no channels: name some under `notify:` in svc.config.yaml"
            raise CommandError(f"{text} (docs/notifications.md)", returncode=2)
        if test is None:
            self._show()
        elif not self._try([test] if test else [one.name for one in found.channels]):
            sys.exit(1)

    def _show(self) -> None:
        for one in describe.listing_for_commands()["channels"]:
            self.stdout.write(f"{one['name']}: {one['shown']}")
            self.stdout.write(f"  wants {', '.join(one['events'])}")
            why = f": {one['error']}" if one["error"] else ""
            self.stdout.write(f"  {one['state']}{why}, {one['waiting']} waiting")

    def _try(self, names: list[str]) -> bool:
        """Send a test to the channels; return whether all accepted it."""
        good = True
        for name in names:
            try:
                tried = describe.test(name)
            except NotFound as error:
                raise CommandError(str(error), returncode=2) from error
            good &= tried["ok"]
            self.stdout.write(f"{name}: {tried['error'] or 'taken'}")
        return good
