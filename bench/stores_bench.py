"""S1, S3 and S12 in each mode of stores side by side, and lists that grow with their rows (L1).

Needs Debian's postgresql and redis-server, and requirements-cluster.txt. Lists and requests are
measured in CPU time, so that other work on the machine is not counted.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from bench import chats_bench, idle_bench, mcp_bench
from bench.figures import Figure
from bench.stores import lists
from bench.stores.modes import Mode, modes
from tests.service import Service


def main() -> list[Figure]:
    figures = []
    with modes() as all_modes:
        for mode in all_modes:
            measured = service_figures(mode)
            if mode.redis is None:  # the rows are the same with a Redis as well
                measured += lists.figures(mode)
            figures += [replace(one, mode=mode.name) for one in measured]
    return figures


def service_figures(mode: Mode) -> list[Figure]:
    """The figures of other benchmarks, measured with another environment."""
    peer = mcp_bench.beside_peers(mcp_bench.ours(mode.environment(), mode.pids))
    with tempfile.TemporaryDirectory() as folder:
        idle = rest(mode, Path(folder) / "idle")
        env = mode.environment() | {"BENCH_TOKEN": mcp_bench.TOKEN}
        service = Service(Path(folder) / "a", config=mcp_bench.CONFIG, env=env).start()
        try:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            return [*peer, *chats_bench.reads(service), *idle]
        finally:
            service.kill9()


def rest(mode: Mode, folder: Path) -> list[Figure]:
    """S12 without clients of /mcp, and the memory of the store's servers as well."""
    service, beside = Service(folder, env=mode.environment()), mode.memory()
    with idle_bench.resting(service) as figures:
        added = f"{mode.memory() - beside:.0f} MB" if mode.cluster else "0 MB"
    name = "idle memory of the servers of the store, added by it"
    return [*figures, Figure("S12", name, added, "", None, "", True)]
