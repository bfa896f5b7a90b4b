"""Screenshots of pages in a real browser: one at a time, 15 s, its own origin only.

What a page loads may come from elsewhere, but not from addresses that icons are never fetched
from.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from dashboard.rendering import chromium, fetch
from dashboard.rendering.chromium import Broken, Browser

SECONDS = 15.0
HTML = frozenset({"text/html", "application/xhtml+xml"})
DELAY_S = 0.8  # after load, for what the page draws later


class NoShot(Exception):
    """There is no screenshot; the sentence says why."""


class Camera:
    """Takes one screenshot at a time. Belongs to one event loop.

    `spent`: CPU seconds that its browsers have taken so far.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self.spent = 0.0

    async def take(
        self, command: str, url: str, *, viewport: tuple[int, int] = (1280, 800),
        delay: float | None = None, dark: bool = False,
    ) -> bytes:  # fmt: skip
        """A PNG of the viewport, `delay` seconds after load. NoShot if there is none within 15
        s."""
        async with self._lock:
            try:
                async with asyncio.timeout(SECONDS):
                    await fetch.reachable(url)
                    async with chromium.running(command, viewport, self._spend) as browser:
                        wait = DELAY_S if delay is None else delay
                        return await _shot(browser, url, viewport, wait, dark)
            except TimeoutError as error:
                raise NoShot(f"the page was not there within {SECONDS:g} s") from error
            except (Broken, OSError, fetch.AddressRefused) as error:
                raise NoShot(str(error)) from error
            except (KeyError, TypeError, ValueError) as error:
                raise NoShot(f"the browser gave an unexpected answer: {error!r}") from error

    def _spend(self, cpu: float) -> None:
        self.spent += cpu


async def _shot(
    browser: Browser, url: str, viewport: tuple[int, int], delay: float, dark: bool
) -> bytes:
    await browser.ask("Browser.setDownloadBehavior", behavior="deny")
    target = (await browser.ask("Target.createTarget", url="about:blank"))["targetId"]
    session = (await browser.ask("Target.attachToTarget", targetId=target, flatten=True))[
        "sessionId"
    ]
    loaded = asyncio.Event()
    passage = Passage(browser, session, fetch.origin(url))

    def on_event(method: str, params: dict[str, Any]) -> None:
        # a page whose navigation was blocked stops without a load event
        stopped = method == "Page.frameStoppedLoading" and params.get("frameId") == target
        if method == "Page.loadEventFired" or stopped:
            loaded.set()
        elif method == "Page.javascriptDialogOpening":
            browser.say("Page.handleJavaScriptDialog", session, accept=False)
        elif method == "Fetch.requestPaused":
            passage.judge(params)

    browser.heard = on_event
    await browser.ask("Page.enable", session)
    # every request is paused for a decision, also after a redirect
    await browser.ask("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
    await browser.ask(
        "Emulation.setDeviceMetricsOverride", session,
        width=viewport[0], height=viewport[1], deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    await browser.ask("Emulation.setEmulatedMedia", session, features=[scheme, still])
    loaded.clear()
    went = await browser.ask("Page.navigate", session, url=url)
    if went.get("errorText"):
        raise NoShot(f"the page does not load: {went['errorText']}")
    await loaded.wait()
    kind = (await browser.ask("Page.getFrameTree", session))["frameTree"]["frame"]["mimeType"]
    if kind not in HTML:
        raise NoShot(f"the page is {kind or 'nothing'}, no HTML")
    await asyncio.sleep(delay)
    shot = await browser.ask("Page.captureScreenshot", session, format="png")
    return base64.b64decode(shot["data"])


class Passage:
    """Which requests of a page pass: documents of its own origin, and reachable addresses."""

    def __init__(self, browser: Browser, session: str, home: str) -> None:
        self._browser, self._session, self._home = browser, session, home
        self._origins: dict[str, asyncio.Task[bool]] = {}

    def judge(self, params: dict[str, Any]) -> None:
        """Let one paused request pass or fail."""
        number, url = params["requestId"], params["request"]["url"]
        try:
            origin = fetch.origin(url)
        except fetch.AddressRefused:
            self._answer(number, fine=False)
            return
        if origin == self._home or params["resourceType"] == "Document":
            self._answer(number, fine=origin == self._home)
            return
        if origin not in self._origins:
            self._origins[origin] = asyncio.create_task(_reachable(origin))
        self._origins[origin].add_done_callback(
            lambda task: self._answer(number, fine=not task.cancelled() and task.result())
        )

    def _answer(self, number: str, *, fine: bool) -> None:
        if fine:
            self._browser.say("Fetch.continueRequest", self._session, requestId=number)
        else:
            self._browser.say(
                "Fetch.failRequest", self._session, requestId=number, errorReason="Aborted"
            )


async def _reachable(origin: str) -> bool:
    try:
        await fetch.reachable(origin)
    except fetch.AddressRefused:
        return False
    return True
