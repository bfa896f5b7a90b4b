"""`manage.py dashboard VERB`: the dashboard from a terminal, over its HTTP API.

Exit code 0: done. 1: refused, the reason on stderr. 2: usage. 3: not reachable.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.management import following
from dashboard.management.client import Client, NotReachable, ServiceRefused
from dashboard.management.verbs import VERBS

REFUSED, USAGE, NOT_REACHABLE = 1, 2, 3
JSON = "the answer as JSON"  # before or after the verb


class Command(BaseCommand):
    help = "Shows and controls the apps of this machine through the running service."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help=JSON)
        verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

        def verb(name: str, text: str, *positional: str) -> ArgumentParser:
            made: ArgumentParser = verbs.add_parser(name, help=text, description=text)
            made.add_argument("--json", action="store_true", default=SUPPRESS, help=JSON)
            for one in positional:
                made.add_argument(one)
            return made

        listing = verb("ls", "list the apps")
        listing.add_argument("--state")
        listing.add_argument("--tag")
        listing.add_argument("--source", choices=("declared", "discovered"))
        verb("show", "show one app", "slug")
        verb("start", "start an app's service", "slug")
        stop = verb("stop", "stop an app's service, or all")
        stop.add_argument("slug", nargs="?")
        stop.add_argument("--all", action="store_true", help="every service that runs")
        verb("restart", "restart an app's service", "slug")
        logs = verb("logs", "show the end of a service's log", "slug")
        logs.add_argument("-n", "--lines", type=int, default=200)
        logs.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
        _more(verb)

    def handle(self, *args: Any, **options: Any) -> None:
        if wrong := _find_misuse(options):
            self._end(USAGE, wrong)
        try:
            self._do(options)
        except ServiceRefused as refused:
            if options["json"]:
                self._say(json.dumps(refused.body, ensure_ascii=False))
            self._end(REFUSED, str(refused))
        except NotReachable as error:
            self._end(NOT_REACHABLE, str(error))
        except BrokenPipeError:  # the reader has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            self.stderr.write("")

    def _do(self, options: dict[str, Any]) -> None:
        client, as_json = Client.here(), options["json"]
        if options["verb"] == "logs":
            following.show(
                client, options["slug"], lines=options["lines"], follow=options["follow"],
                as_json=as_json, write=self._say,
            )  # fmt: skip
            return
        shown = VERBS[options["verb"]](client, options)
        if as_json:
            self._say(json.dumps(shown.body, ensure_ascii=False))
        for line in [] if as_json else shown.lines:
            self._say(line)
        if shown.failure:
            self._end(REFUSED, "\n".join(shown.failure))

    def _say(self, line: str) -> None:
        """Write at once, also into a pipe, because the reader of `logs -f` waits for each line."""
        self.stdout.write(line)
        self.stdout.flush()

    def _end(self, code: int, text: str) -> None:
        self.stderr.write(text)
        sys.exit(code)


def _find_misuse(options: dict[str, Any]) -> str | None:
    """Errors that the parser cannot detect: arguments that require or exclude each other."""
    verb = options["verb"]
    if verb == "stop" and bool(options["slug"]) == options["all"]:
        return "stop: give one app, or --all"
    if verb == "lost" and options["what"] in {"restart", "service"} and not options["id"]:
        return f"lost {options['what']}: give the id that `lost` shows"
    return None


def _more(verb: Any) -> None:
    """The verbs that declare, hide, find and remove."""
    claim = verb("claim", "declare what listens as an app", "id", "slug")
    claim.add_argument("--name")
    claim.add_argument("--expected", choices=("always", "sometimes", "never"))
    ignore = verb("ignore", "hide what listens", "id")
    ignore.add_argument("--by", choices=("port", "process", "dir"))
    ignore.add_argument("--reason")
    verb("scan", "look for listeners now and list those nobody declared")
    lost = verb("lost", "list what the last reboot ended; restart, service or dismiss it")
    lost.add_argument("what", nargs="?", choices=("restart", "service", "dismiss"))
    lost.add_argument("id", nargs="?")
    lost.add_argument("--slug")
    remove = verb("rm", "move an app's file to backups/removed", "slug")
    remove.add_argument("--stop", action="store_true", help="stop its service first")
    verb("open", "open an app in the browser", "slug")
