"""Whether screenshots are on, and which browser takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from config.errors import Conflict
from dashboard.files.schema.config import Config, Screenshots
from dashboard.rendering import chromium


class Switch:
    """Belongs to the daemon's thread; PATH is searched in a thread."""

    def __init__(self, config: Callable[[], Config]) -> None:
        self._config = config
        self._browser: str | None = None

    @property
    def settings(self) -> Screenshots:
        return self._config().screenshots

    @property
    def browser(self) -> str | None:
        """The browser to run; None while screenshots are off."""
        return None if self.settings.enabled is False else self._browser

    async def look(self) -> bool:
        """Look for the browser again. Returns whether screenshots are on."""
        self._browser = await asyncio.to_thread(chromium.find_browser, self.settings.command)
        return self.browser is not None

    def require_browser(self) -> str:
        """The browser. Conflict, with the reason, if screenshots are off."""
        if (browser := self.browser) is not None:
            return browser
        command = self.settings.command
        if self.settings.enabled is False:
            why = "screenshots.enabled is false in config.yaml."
        elif command:
            why = f"screenshots.command {command} of config.yaml is not a program that can be run."
        else:
            why = "no Chromium was found. Install one or set screenshots.command in config.yaml."
        raise Conflict(f"Screenshots are off: {why}", code="screenshots_off")
