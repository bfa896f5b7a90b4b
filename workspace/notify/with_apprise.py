"""`python -m workspace.notify.with_apprise`: send a message from standard input through Apprise.

If the message is not taken, it exits with 1, and the last line on stderr is the reason. Runs
without Django, and knows nothing but its input.
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
