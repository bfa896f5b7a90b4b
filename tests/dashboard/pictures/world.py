"""A gallery by itself: what it would ask of the daemon, and what it said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dashboard.files.schema.config import Config, read_config
from dashboard.health.record import State
from dashboard.pictures import PicturedApp, World

SHOP = PicturedApp(name="Shop", framework="Django", url="http://127.0.0.1:9/", state=State.UP)


def config(**screenshots: Any) -> Config:
    """Settings with no browser but the one given."""
    given: Mapping[str, Any] = {"command": "/nowhere/browser", **screenshots}
    return read_config({"screenshots": given})[0]


class Told:
    """The world as a test sets it, and what the gallery told it."""

    def __init__(self, **screenshots: Any) -> None:
        self.config = config(**screenshots)
        self.thumbs: list[str] = []
        self.icons: list[str] = []
        self.clients = False
        self.battery = False

    @property
    def world(self) -> World:
        return World(
            config=lambda: self.config,
            thumb_changed=self.thumbs.append,
            icon_changed=self.icons.append,
            clients=lambda: self.clients,
            battery=lambda: self.battery,
        )

    def forbid_private(self) -> None:
        self.config = replace(self.config, icons_allow_private=False)
