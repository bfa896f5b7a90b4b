"""What a page looks like in a real browser (14.2): one at a time, 15 s, its own origin only."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from dashboard.looks import chromium, fetch
from dashboard.looks.chromium import Broken, Browser

SECONDS = 15.0
DELAY_S = 0.8  # after load, for what a page draws then


class NoShot(Exception):
    """There is no screenshot; the sentence says why."""


class Camera:
    """Takes one screenshot at a time. Belongs to one event loop."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def take(
        self, command: str, url: str, *, viewport: tuple[int, int] = (1280, 800),
        delay: float | None = None, dark: bool = False,
    ) -> bytes:  # fmt: skip
        """A PNG of the viewport, `delay` seconds after load. NoShot when there is none in 15 s."""
        async with self._lock:
            try:
                async with asyncio.timeout(SECONDS), chromium.running(command, viewport) as browser:
                    return await _shot(
                        browser, url, viewport, DELAY_S if delay is None else delay, dark
                    )
            except TimeoutError as error:
                raise NoShot(f"the page was not there within {SECONDS:g} s") from error
            except (Broken, OSError, fetch.Refused) as error:
                raise NoShot(str(error)) from error


async def _shot(
    browser: Browser, url: str, viewport: tuple[int, int], delay: float, dark: bool
) -> bytes:
    home = fetch.origin(url)
    await browser.ask("Browser.setDownloadBehavior", behavior="deny")
    target = (await browser.ask("Target.createTarget", url="about:blank"))["targetId"]
    session = (await browser.ask("Target.attachToTarget", targetId=target, flatten=True))[
        "sessionId"
    ]
    loaded = asyncio.Event()

    def heard(method: str, params: dict[str, Any]) -> None:
        # a page that was kept from going elsewhere stops, and fires no load event
        stopped = method == "Page.frameStoppedLoading" and params.get("frameId") == target
        if method == "Page.loadEventFired" or stopped:
            loaded.set()
        elif method == "Page.javascriptDialogOpening":
            browser.say("Page.handleJavaScriptDialog", session, accept=False)
        elif method == "Fetch.requestPaused":
            _judge(browser, session, params, home)

    browser.heard = heard
    await browser.ask("Page.enable", session)
    # every document, that of a redirect or a frame too, asks before it is loaded
    await browser.ask("Fetch.enable", session, patterns=[{"resourceType": "Document"}])
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
    await asyncio.sleep(delay)
    shot = await browser.ask("Page.captureScreenshot", session, format="png")
    return base64.b64decode(shot["data"])


def _judge(browser: Browser, session: str, params: dict[str, Any], home: str) -> None:
    """Let a document of the app's own origin pass, and no other."""
    try:
        own = fetch.origin(params["request"]["url"]) == home
    except fetch.Refused:
        own = False
    if own:
        browser.say("Fetch.continueRequest", session, requestId=params["requestId"])
    else:
        browser.say(
            "Fetch.failRequest", session, requestId=params["requestId"], errorReason="Aborted"
        )
