"""The kind of a listener: dev, database, system or other."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Literal

from dashboard.listeners.identity import Answer, Identity

Kind = Literal["dev", "database", "system", "other"]

_DATABASE_PORTS = frozenset({1433, 1521, 3306, 5432, 5672, 6379, 9042, 9092, 11211, 27017})

_DATABASES = {
    "postgres", "postgresql", "mysqld", "mysql", "mariadbd", "mariadb", "redis-server", "redis",
    "valkey-server", "valkey", "mongod", "mongo", "memcached", "clickhouse-server", "clickhouse",
    "cockroach", "etcd", "influxd", "influxdb", "couchdb", "cassandra", "scylla", "rabbitmq",
    "kafka", "elasticsearch", "opensearch", "neo4j", "sqlservr", "nats-server", "dragonfly",
}  # fmt: skip
_SYSTEM = {
    "systemd", "init", "launchd", "sshd", "systemd-resolved", "systemd-resolve", "resolved",
    "cupsd", "cups-browsed", "avahi-daemon", "dnsmasq", "rpcbind", "rpc.statd", "rpc.mountd",
    "smbd", "nmbd", "exim4", "master", "chronyd", "ntpd", "containerd", "dockerd", "tailscaled",
    "rapportd", "ControlCenter", "ControlCe", "AirPlayXPCHelper", "sharingd", "xrdp", "Xvnc",
    "gnome-remote-desktop-daemon", "NetworkManager", "bluetoothd", "snapd", "unbound", "named",
}  # fmt: skip
_SYSTEM_FOLDERS = (
    "/usr/lib/systemd/", "/lib/systemd/", "/usr/libexec/", "/System/", "/Library/Apple/",
)  # fmt: skip
_RUNTIME = re.compile(
    r"(?:python|pypy|node|ruby|php|perl|lua|java|deno|bun|beam\.smp|dotnet|julia|elixir)[\d.]*",
)


def kind(identity: Identity, port: int, answer: Answer | None = None) -> Kind:
    """The kind by well-known programs and images, then by what was found at the directory, then by
    the answer: a process that serves pages is a dev server, whatever started it."""
    name = identity.process.name
    image = identity.container.image if identity.container else None
    if (
        port in _DATABASE_PORTS
        or name in _DATABASES
        or (image and _repository(image) in _DATABASES)
    ):
        return "database"
    if identity.container:
        return "dev"
    if identity.process.pid is None or name in _SYSTEM:
        return "system"
    if identity.framework or identity.package or identity.git or _serves(identity, answer):
        return "dev"
    if identity.process.exe.startswith(_SYSTEM_FOLDERS):
        return "system"
    programs = (name, PurePath(identity.process.exe).name)
    runtime = any(map(_RUNTIME.fullmatch, programs))
    return "dev" if runtime and identity.cwd not in {"", "/"} else "other"


def _serves(identity: Identity, answer: Answer | None) -> bool:
    """Whether it serves a page, from any directory, or gives another HTTP answer from a directory
    of its own: many desktop programs give such answers too."""
    if answer is None or answer.protocol not in {"http", "https"}:
        return False
    page = "html" in answer.headers.get("content-type", "").lower()
    return page or identity.cwd not in {"", "/", str(Path.home())}


def _repository(image: str) -> str:
    """The name of an image: `docker.io/library/postgres:16` is postgres."""
    return PurePath(image).name.partition("@")[0].partition(":")[0]
