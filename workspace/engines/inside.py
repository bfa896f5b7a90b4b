"""The first process inside a turn's sandbox: `inside.py <door> <addresses> [program ...]`.

It opens the sockets through which programs in the sandbox reach out (each address is `host:port`,
separated by commas), passes them to the turn process through the unix socket `door`, and becomes
the program. Without a program it runs the turn's tools: requests come on stdin, answers go to
stdout.

It imports very little, because every turn that uses a tool waits for it.
"""

from __future__ import annotations

import os
import sys

HEADER = 64  # bytes before an answer: status, error or not, length of its text and of its output
READY = b"\n"  # the sandbox works: if it ends from now on, the cause is inside
BACKLOG = 128


def main(argv: list[str]) -> None:
    door, addresses, *program = argv[1:]
    if addresses:
        _hand_out(door, addresses.split(","))
    if program:
        _become(program)
    _serve()


def _hand_out(door: str, addresses: list[str]) -> None:
    """Pass listening sockets to the turn process: a socket stays in the network it was made in,
    whichever process holds it."""
    import _socket
    from array import array

    opened: dict[str, _socket.socket] = {}
    for address in addresses:
        host, _, port = address.rpartition(":")
        family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
        try:
            listener = _socket.socket(family, _socket.SOCK_STREAM)
            listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
            listener.bind((host, int(port)))
            listener.listen(BACKLOG)
        except OSError as error:
            print(f"{address} cannot be opened in the sandbox: {error}", file=sys.stderr)
            continue
        opened[address] = listener
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.connect(door)
    handles = array("i", [listener.fileno() for listener in opened.values()])
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)]
    link.sendmsg([",".join(opened).encode() + b"\n"], rights)
    link.recv(1)  # they have arrived: connections are accepted from now on


def _become(program: list[str]) -> None:
    import signal

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(program[0], program)  # noqa: S606 - what the turn process asked for


def _serve() -> None:
    """Answer requests until stdin ends. The first request says where the tools act."""
    sys.path.insert(0, os.path.abspath(__file__).rsplit("/", 3)[0])
    from workspace.engines import tools
    from workspace.engines.paths import Paths

    os.write(1, READY)
    cwd, *paths = _request()
    bench = Bench(Paths(*paths))
    while request := _request():
        tool, args, env, seconds = request
        if tool == "Bash":
            _guard()
        output = tools.run(tool, args, bench, tools.Settings(cwd, env=env), seconds)
        _answer(output.status, output.is_error, output.text, output.raw)
        _reap()
    os._exit(0)


def _guard() -> None:
    """Prevent a command from reading this process and from leaving children behind."""
    from config.process import prctl

    prctl.hide_memory()
    prctl.become_subreaper()


class Bench:
    """Where the tools act; they may open what the turn process would let them open."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths

    def runner(self, tool: str, args: Args) -> None:
        """None: the tools are inside already."""

    def denial(self, path: str, *, write: bool) -> str | None:
        return self.paths.denial(path, path, write=write)

    def stoppable(self) -> AbstractContextManager[None]:
        """Does nothing: Stop ends the whole sandbox."""
        from contextlib import nullcontext

        return nullcontext()


def _request() -> list[Any]:
    """What the turn process sent; [] at the end of stdin."""
    from marshal import loads

    size = int.from_bytes(_read(4), "big")
    found: list[Any] = loads(_read(size)) if size else []  # noqa: S302 - of our own parent
    return found


def _read(size: int) -> bytes:
    """That many bytes of stdin; fewer at its end."""
    data = b""
    while len(data) < size and (part := os.read(0, size - len(data))):
        data += part
    return data


def _answer(status: int, is_error: bool, text: str, raw: str | None) -> None:
    body, output = text.encode(errors="surrogatepass"), (raw or "").encode(errors="surrogatepass")
    head = f"{status} {int(is_error)} {len(body)} {-1 if raw is None else len(output)}"
    rest = memoryview(head.ljust(HEADER).encode() + body + output)
    while rest:
        rest = rest[os.write(1, rest) :]


def _reap() -> None:
    """Collect background processes that have ended since."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


TYPE_CHECKING = False  # every type checker takes this name for true
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from workspace.engines.base import Args
    from workspace.engines.paths import Paths

if __name__ == "__main__":
    main(sys.argv)
