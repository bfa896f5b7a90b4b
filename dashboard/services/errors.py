"""The refusals of service actions: their code words and sentences."""

from __future__ import annotations

from config.errors import Conflict, NotFound
from dashboard.services.system.ports import Holder


def not_managed(slug: str, *, log: bool = False) -> Conflict | NotFound:
    """NotFound where a log is asked for, Conflict for an action."""
    text = f'App "{slug}" has no service; add service.command to apps/{slug}.yaml.'
    if log:
        return NotFound(text, code="not_managed")
    return Conflict(text, code="not_managed")


def no_action(slug: str, action: str) -> NotFound:
    return NotFound(f'No action "{action[:40]}" for "{slug}"; use start, stop or restart.')


def busy(slug: str) -> Conflict:
    return Conflict(f'Too many actions wait for "{slug}".', code="busy")


def services_off() -> Conflict:
    return Conflict("Services are off (services.enabled in config.yaml).", code="services_off")


class PortInUse(Conflict):
    """Conflict: another process listens on the port of the service."""

    code = "port_in_use"

    def __init__(self, port: int, holder: Holder) -> None:
        super().__init__(
            f"Port {port} is held by {holder.text}. Stop it or change the port.",
            extra={"holder": holder.wire()},
        )
