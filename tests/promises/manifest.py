"""The promises this version keeps: id, sentence, figure, source. One entry, one marked test.

`tests/promises/test_manifest.py` fails on an entry without its test, a test without its entry,
and a figure in the README that differs from the one here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promise:
    id: str
    sentence: str
    figure: str
    source: str


PROMISES = (
    Promise(
        "F1",
        "kill -9 tears no file and loses no acknowledged write",
        "20 kills, 0 torn, 0 lost",
        "config/storage/files.py",
    ),
    Promise(
        "F2",
        "a killed process leaves no litter",
        "0 files, 0 locks, 0 processes after one start",
        "config/storage/files.py",
    ),
    Promise(
        "F3",
        "any failed system call leaves the old file or the new one",
        "every call of a write failed in turn",
        "config/storage/files.py",
    ),
    Promise(
        "F4",
        "concurrent edits lose nothing",
        "8 writers x 20 edits, 0 lost",
        "config/storage/files.py",
    ),
    Promise(
        "F5",
        "a write touches only what it means to",
        "100 generated files, 0 foreign bytes changed",
        "config/storage/yamlio.py",
    ),
    Promise("F6", "the index equals the files", "10 runs x 30 steps", "config/storage/mirror.py"),
    Promise(
        "F7",
        "a bad file hides nothing",
        "20 kinds of broken YAML",
        "config/storage/mirror.py",
    ),
    Promise("F8", "a hand edit is seen", "p99 < 1 s, p50 < 150 ms", "config/storage/watch.py"),
    Promise(
        "F9",
        "event streams have no gap and no double",
        "20 clients cut at random",
        "config/web/events.py",
    ),
    Promise(
        "F10",
        "a directory that a project works in by its path is the user's alone",
        "0 bytes and 0 times changed by what is not a turn's own doing",
        "workspace/projects/folders.py",
    ),
    Promise(
        "T1",
        "one firing per trigger and nominal time",
        "4 schedulers x 60 times, exactly 60 runs",
        "workspace/triggers/schedule/ticker.py",
    ),
    Promise(
        "T2",
        "triggers fire on time",
        "1,000 armed: p50 < 50 ms, p99 < 500 ms",
        "workspace/triggers/schedule/ticker.py",
    ),
    Promise(
        "T3",
        "a killed worker loses and doubles nothing",
        "12 kills, 0 lost, 0 doubled",
        "workspace/chats/turns/worker.py",
    ),
    Promise(
        "T4",
        "one bad trigger harms no other",
        "every kind of bad entry beside good ones",
        "workspace/triggers/entries/files.py",
    ),
    Promise(
        "T5",
        "clock changes fire nothing twice and skip nothing",
        "3 zones, both changes, steps of an hour",
        "workspace/triggers/schedule/cron.py",
    ),
    Promise(
        "T6",
        "missed times follow the catch-up rule",
        "skip: 0 runs, once: 1 marked run",
        "workspace/triggers/schedule/clock.py",
    ),
    Promise(
        "T7",
        "tools are really limited, by list and by permission mode",
        "runbook: 15 lists x 4 modes x 13 tools",
        "workspace/engines/policy.py",
    ),
    Promise(
        "T7",
        "tools are really limited",
        "every tool x mode x list of the runbook engine",
        "workspace/engines/policy.py",
    ),
    Promise(
        "T8", "a stopped turn leaves no process", "5 rounds, 0 left", "workspace/engines/procs.py"
    ),
    Promise(
        "T9",
        "turns of one chat never interleave",
        "10 concurrent senders, order kept",
        "workspace/chats/turns/queue.py",
    ),
    Promise(
        "G1",
        "foreign hosts and origins are refused",
        "every bad cell of the matrix, no handler run",
        "config/web/guard.py",
    ),
    Promise(
        "G2",
        "only a configured credential opens /mcp",
        "401 for every wrong one, no side effect",
        "workspace/access/gate.py",
    ),
    Promise(
        "G3",
        "the gate is before the body",
        "401 before 1 MB of a 100 MB body is read",
        "config/web/http/server.py",
    ),
    Promise(
        "G4",
        "a client does what its scope grants, nothing else",
        "every cell of the table",
        "workspace/access/policy.py",
    ),
    Promise("G5", "no input makes a 5xx", "1,000 requests, 0", "workspace/api"),
    Promise("G6", "no path leads out of its folder", "0 outside", "config/storage/paths.py"),
    Promise(
        "G7",
        "no image costs time or memory, and none acts when it is opened",
        "< 200 ms, < 50 MB each; 0 scripts, 0 requests",
        "review/assets.py",
    ),
    Promise(
        "G7",
        "no YAML bomb costs time or memory",
        "< 200 ms, < 50 MB each",
        "config/storage/yamlio.py",
    ),
    Promise(
        "G8",
        "git is driven safely",
        "13 hooks, 26 settings, 7 aliases, hostile names: 0 commands run",
        "config/git/command.py",
    ),
    Promise(
        "G9",
        "probes and icon fetches cannot be turned inward and never hang",
        "6 attacks, a turning name, the service itself: refused or timed out",
        "dashboard/rendering/reach.py",
    ),
    Promise(
        "G10",
        "a sandboxed turn reaches nothing of this service, nor of this machine but what is listed",
        "4 engines x 2 modes x 21 address forms x 5 ways, 0 reach it",
        "workspace/engines/proxy/rules.py",
    ),
    Promise(
        "G11",
        "one wall for every tool: a file tool sees no more than a command does, also for root",
        "3 engines x 36 tries, 0 read, 0 written",
        "workspace/engines/confinement.py",
    ),
    Promise(
        "G12",
        "rights travel with the cause: a client of one project stays in it",
        "16 ways x 15 calls, 0 outside",
        "workspace/access/principals.py",
    ),
    Promise(
        "G15",
        "whatever stands where a file is expected, the service reads on and stays small",
        "10 traps under 30 names: < 50 MB, hand edits seen in < 2 s",
        "config/storage/opening.py",
    ),
    Promise(
        "G13",
        "a page of another origin changes nothing on any port",
        "every write of three parts, by hand and in Chromium: 0 pass",
        "config/web/guard.py",
    ),
    Promise(
        "G14",
        "other users of this machine are not served",
        "another uid 403, no credential 401, on three ports",
        "config/web/connections/peers.py",
    ),
    Promise(
        "G16",
        "a review never lands on a commit that did not become it",
        "200 random rewritings, 0 wrong",
        "review/threads/carry",
    ),
    Promise(
        "R1",
        "recovery after kill -9 of everything",
        "healthy in < 5 s with 1,000 files",
        "config/process/supervise.py",
    ),
    Promise(
        "R2",
        "SIGTERM ends everything cleanly",
        "< 10 s, no traceback",
        "config/process/supervise.py",
    ),
    Promise(
        "R3",
        "a full or read-only disk breaks nothing",
        "old files intact, heals without restart",
        "config/storage/files.py",
    ),
    Promise(
        "R4",
        "nothing leaks",
        "500 streams: <= 2 descriptors, <= 2 threads, <= 5 MB",
        "config/web/http/server.py",
    ),
    Promise(
        "R5", "a backup under load restores whole", "0 findings", "config/storage/backups/backup.py"
    ),
    Promise(
        "R4",
        "streams leave nothing behind",
        "500 streams: <= 2 descriptors, <= 2 threads, <= 5 MB",
        "config/web/http/server.py",
    ),
    Promise("R6", "a second start names the first", "exit 2", "config/process/singleton.py"),
)
