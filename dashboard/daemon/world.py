"""The rooms of one daemon run, made and wired in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dashboard.events import EVENTS, Telling
from dashboard.files.schema.config import Config
from dashboard.gallery import Gallery
from dashboard.gallery import World as GalleryWorld
from dashboard.lost import Lost
from dashboard.lost import Settings as LostSettings
from dashboard.lost import World as LostWorld
from dashboard.services.environment import LoginOnce
from dashboard.services.state import Change, Limits
from dashboard.services.state import World as ServicesWorld
from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock


@dataclass(frozen=True, slots=True)
class Calls:
    """What the rooms ask of the daemon; all of it on its thread."""

    config: Callable[[], Config]
    served: Callable[[Change], None]
    lost: Callable[[], None]  # the notice is another
    pictured: Callable[[str], None]  # the image of an app is another
    on_battery: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Made:
    login: LoginOnce
    services: Supervisor
    lost: Lost
    gallery: Gallery


def made(calls: Calls, telling: Telling, *, open_files: int | None) -> Made:
    """`open_files`: the soft limit services get back (1.1)."""
    clock, login = Clock(), LoginOnce()

    def limits() -> Limits:
        said = calls.config().services
        return Limits(said.enabled, said.stop_timeout, said.log_max_bytes, said.log_keep)

    def lost_settings() -> LostSettings:
        config = calls.config()
        return LostSettings(config.lost_enabled, config.lost_grace)

    def lost_changed(ids: Sequence[str]) -> None:
        telling.reboot(ids)
        calls.lost()

    services = Supervisor(
        ServicesWorld(clock, calls.served, login, limits=limits, open_files=open_files)
    )
    gallery = GalleryWorld(
        config=calls.config,
        thumb_changed=calls.pictured,
        icon_changed=telling.bookmarks,
        clients=watched,
        battery=calls.on_battery,
    )
    lost = LostWorld(clock, services, lost_changed, lost_settings)
    return Made(login, services, Lost(lost), Gallery(gallery))


def watched() -> bool:
    """Whether a stream client is connected."""
    return EVENTS.clients > 0
