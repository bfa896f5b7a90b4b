"""What a process with many threads keeps of the memory that it took for a moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.process import prctl
from tests.service import Service

BUSY = """
import sys, threading
from config.process import heap

if sys.argv[1] == "given back":
    heap.give_back()

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def work(done):
    bytearray(8_000_000)  # the first large buffer that is freed
    for _ in range(3):
        parts = [bytearray(300_000) for _ in range(20)]
        kept.append(bytes(2_000))
        del parts
    done.wait()

kept, done = [], threading.Barrier(9)
before = held()
for _ in range(8):
    threading.Thread(target=work, args=(done,)).start()
done.wait()
print(held() - before)
"""


@pytest.mark.skipif(not prctl.KNOWN, reason="the heap of Linux")
def test_what_threads_took_for_a_moment_goes_back_to_the_system():
    def grown(how: str) -> int:
        command = [sys.executable, "-c", BUSY, how]
        return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    assert grown("given back") < grown("as it comes") / 3


def test_a_start_searches_for_no_garbage_until_all_is_loaded():
    code = """
import gc
from config.process import heap

class Ring: pass

def garbage():
    ring = Ring()
    ring.itself = ring

heap.loading()
for _ in range(100_000):
    garbage()
waiting = sum(type(one) is Ring for one in gc.get_objects())
heap.freeze()
left = sum(type(one) is Ring for one in gc.get_objects())
print(waiting, left, gc.isenabled(), gc.get_freeze_count() > 0)
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["100000", "0", "True", "True"]


def test_a_command_has_no_search_look_at_what_was_loaded_for_it(stopped_service: Service):
    code = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 50_000)"

    assert stopped_service.run("shell", "-v0", "-c", code).stdout.split() == ["True", "True"]


FORK = """
import os, resource
from django.db import connection
from config.process import heap
from config.web.http import serving

heap.loading()
serving.load_all()
heap.{how}()
if os.fork() == 0:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    connection.ensure_connection()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(not prctl.KNOWN, reason="the heap of Linux")
def test_a_fork_copies_few_of_the_pages_it_shares(stopped_service: Service):
    stopped_service._use_template()

    def copied(how: str) -> int:
        """How many pages a fork had to have for a connection to the database."""
        return int(stopped_service.run("shell", "-v0", "-c", FORK.format(how=how)).stdout)

    assert copied("prepare_for_forks") < 0.6 * copied("freeze")
