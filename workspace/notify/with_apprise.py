"""`python -m workspace.notify.with_apprise`: one message, from standard input, through Apprise.

Ends with 1 and the last thing that the library said where the message was not taken. Runs without
Django, and knows nothing but what it is given.
"""

from __future__ import annotations

import json
import logging
import sys

ICONS = {"app_down": "failure", "crash_loop": "failure", "failed": "failure", "app_up": "success"}


def main() -> int:
    import apprise

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    message = json.loads(sys.stdin.buffer.read())
    channel = apprise.Apprise()
    if not channel.add(message["address"]):
        print("Apprise knows no service at this address", file=sys.stderr)
        return 1
    lines = [message["text"], message["url"], f"({message['node']})" if message["node"] else ""]
    taken = channel.notify(
        title=message["title"],
        body="\n".join(filter(None, lines)) or message["title"],
        notify_type=ICONS.get(message["event"], "info"),
        body_format="text",
        interpret_escapes=False,
    )
    return 0 if taken else 1


if __name__ == "__main__":
    sys.exit(main())
