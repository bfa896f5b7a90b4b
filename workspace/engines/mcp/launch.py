"""`launch.py <program> [argument ...]`: become the program, with the variables of its server.

They come in a single variable, because what starts the sandbox must not see them: a PATH or an
LD_PRELOAD from a stranger's file would take effect outside of it.
"""

from __future__ import annotations

import json
import os
import sys

GIVEN = "SVC_SERVER_ENV"

if __name__ == "__main__":
    os.environ.update(json.loads(os.environ.pop(GIVEN)))
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - what the turn process asked for
