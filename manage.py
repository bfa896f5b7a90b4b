#!/usr/bin/env python
"""Django's command-line utility for this project."""

import os
import signal
import sys

SUPERVISING = (["up"], ["qcluster"])  # they handle signals once everything is loaded
SERVING = (*SUPERVISING, ["runserver"])  # each of them reports that itself


def main() -> None:
    if sys.argv[1:2] in SUPERVISING:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # an exception may be lost during an import
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import execute_from_command_line

    from config.options import OptionError
    from config.process import heap

    heap.loading()
    try:
        if sys.argv[1:2] not in SERVING:
            django.setup()
            heap.freeze(lasting=False)
        execute_from_command_line(sys.argv)
    except OptionError as error:
        sys.exit(error.report())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
