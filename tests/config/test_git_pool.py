"""Threads in which git works aside."""

from __future__ import annotations

import subprocess
import sys

ENDS = """
import threading
from config.errors import Unavailable
from config.git.pool import aside

def late():
    threading.main_thread().join()
    while True:
        try:
            aside(int).result()
        except Unavailable as refused:
            print(refused)
            break

threading.Thread(target=late).start()
"""


def test_work_handed_over_in_a_process_that_ends_is_refused_with_the_reason():
    done = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.startswith("Git cannot be asked: cannot schedule new futures")
    assert done.stderr == ""
