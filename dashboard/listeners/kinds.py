"""What sort of listener one is: dev, database, system or other (section 7)."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

from dashboard.listeners.identity import Identity

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
    "/sbin/", "/usr/sbin/", "/usr/lib/systemd/", "/lib/systemd/", "/usr/libexec/",
    "/System/", "/Library/Apple/",
)  # fmt: skip
_RUNTIME = re.compile(
    r"(?:python|pypy|node|ruby|php|perl|lua|java|deno|bun|beam\.smp|dotnet|julia|elixir)[\d.]*",
)


def kind(identity: Identity, port: int) -> Kind:
    """By the program first, then by what lies around its directory."""
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
    if identity.framework or identity.package or identity.git:
        return "dev"
    if identity.process.exe.startswith(_SYSTEM_FOLDERS):
        return "system"
    homely = identity.cwd not in {"", "/"}
    return "dev" if homely and _RUNTIME.fullmatch(name) else "other"


def _repository(image: str) -> str:
    """`docker.io/library/postgres:16` is postgres."""
    return PurePath(image).name.partition("@")[0].partition(":")[0]
