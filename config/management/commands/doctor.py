"""`manage.py doctor`: examines all that the service depends on; exit code 1 for a fault."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import BaseCommand
from django.template.defaultfilters import pluralize

from config.process.doctor import FAULT, OK, examine


class Command(BaseCommand):
    help = "Checks configuration, data directory, database, ports, server and projects."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *, json: bool, **options: Any) -> None:
        findings = list(examine())
        for finding in findings:
            if json:
                self.stdout.write(orjson.dumps(asdict(finding)).decode())
            else:
                mark = "" if finding.level == OK else f"{finding.level}: "
                self.stdout.write(f"{finding.subject:16} {mark}{finding.text}")
        faults = sum(finding.level == FAULT for finding in findings)
        if not json:
            self.stdout.write(f"{faults or 'no'} fault{pluralize(faults)}")
        if faults:
            sys.exit(1)
