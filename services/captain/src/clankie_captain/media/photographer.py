"""``python -m clankie_captain.media.photographer``: show one web page in a browser, say what came of it, and end.

An errand on stdin, and on stdout a line for each step and one for the outcome, with the picture behind it. It is a
process of its own, so that neither the browser nor what drives it has the captain's environment, and so that a
leash can end them all. The network is none of its business: the browser knows one proxy and looks no name up.
Source: ART-2, SEC-3.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from clankie_captain.kin import adopt, bury, held, kin
from clankie_settings import bounds
from clankie_settings.clock import SystemClock

if TYPE_CHECKING:
    from playwright.async_api import Browser, FloatRect, Page

LOOK_EVERY: Final = timedelta(milliseconds=250)
"""How often the browser's memory is looked at."""

QUIET_S: Final = 3.0
"""How long a page that has loaded may go on asking for more before it is shown."""

SHUTTER_S: Final = 10.0
"""How long a page may take to hold still."""

QUALITY: Final = 80
"""Of a JPEG, where a PNG would be too large."""

_HEIGHT: Final = "Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0)"


class PageError(Exception):
    """A page is not shown; the text is one of the outcomes that the captain knows."""


def flags(proxy: str) -> list[str]:
    """How a browser is started that has one way out and keeps nothing."""
    return [
        f"--proxy-server={proxy}",
        # Without this, addresses of this machine would go past the proxy.
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        "--no-pings",
        "--disable-background-networking",
        "--disable-domain-reliability",
        "--disable-3d-apis",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-file-system",
        "--disable-notifications",
        "--deny-permission-prompts",
        "--block-new-web-contents",
        "--disk-cache-size=1",
        "--renderer-process-limit=4",
        "--js-flags=--max-old-space-size=384",
    ]


def say(**what: object) -> None:
    """Tell the captain something, a line of JSON."""
    sys.stdout.buffer.write(json.dumps(what).encode() + b"\n")
    sys.stdout.buffer.flush()


async def show(errand: dict[str, Any]) -> None:
    """Show a page, and hand its picture over.

    Raises:
        PageError: It cannot be shown.
    """
    from playwright.async_api import Error, async_playwright

    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=errand["program"],
                args=flags(errand["proxy"]),
                chromium_sandbox=errand["sandbox"],
                headless=True,
            )
        except Error:
            raise PageError("unstarted") from None
        say(step="started")
        async with browser:
            try:
                await _first(_seen(browser, errand), _heavy(), _gone(browser))
            except Error as error:
                raise PageError(_fault(error)) from None


async def _seen(browser: "Browser", errand: dict[str, Any]) -> None:
    context = await browser.new_context(
        viewport={"width": bounds.PAGE_WIDTH, "height": bounds.PAGE_HEIGHT},
        accept_downloads=False,
        service_workers="block",
        locale="en-US",
        reduced_motion="reduce",
    )
    page = await context.new_page()
    crashed = asyncio.Event()
    page.on("crash", lambda _: crashed.set())
    await _first(_taken(page, errand), _over(crashed))


async def _taken(page: "Page", errand: dict[str, Any]) -> None:
    from playwright.async_api import TimeoutError as Late

    try:
        answer = await page.goto(errand["url"], wait_until="commit", timeout=bounds.PAGE_LOADING.total_seconds() * 1e3)
    except Late:
        raise PageError("slow") from None
    say(step="answered")
    whole = True
    try:
        await page.wait_for_load_state("load", timeout=bounds.PAGE_LOADING.total_seconds() * 1e3)
    except Late:
        whole = False
    say(step="loaded")
    with suppress(Late):
        await page.wait_for_load_state("networkidle", timeout=QUIET_S * 1e3)
    try:
        async with asyncio.timeout(SHUTTER_S):
            height = await _height(page) if errand["full"] else bounds.PAGE_HEIGHT
            data = await _picture(page, min(height, bounds.PAGE_FULL_HEIGHT), full=errand["full"])
    except (Late, TimeoutError):
        raise PageError("busy") from None
    status = answer.status if answer is not None else None
    say(bytes=len(data), status=status, whole=whole, cut=height > bounds.PAGE_FULL_HEIGHT)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


async def _height(page: "Page") -> int:
    said: object = await page.evaluate(_HEIGHT)
    # A page may let anything stand for a number.
    return (
        max(bounds.PAGE_HEIGHT, int(said)) if isinstance(said, int | float) and 0 < said < 1e9 else bounds.PAGE_HEIGHT
    )


async def _picture(page: "Page", height: int, *, full: bool) -> bytes:
    clip: FloatRect = {"x": 0, "y": 0, "width": bounds.PAGE_WIDTH, "height": height}
    late = SHUTTER_S * 1e3
    data = await page.screenshot(full_page=full, clip=clip, animations="disabled", timeout=late)
    if len(data) > bounds.ARTIFACT_BYTES:
        data = await page.screenshot(full_page=full, clip=clip, type="jpeg", quality=QUALITY, timeout=late)
    if len(data) > bounds.ARTIFACT_BYTES:
        raise PageError("large")
    return data


async def _heavy() -> None:
    """Never returns.

    Raises:
        PageError: The browser holds more than it may.
    """
    me, clock = os.getpid(), SystemClock()
    while True:
        if held(await asyncio.to_thread(kin, me)) > bounds.PAGE_MEMORY:
            raise PageError("heavy")
        await clock.sleep(LOOK_EVERY)


async def _gone(browser: "Browser") -> None:
    gone = asyncio.Event()
    browser.on("disconnected", lambda _: gone.set())
    await _over(gone)


async def _over(event: asyncio.Event) -> None:
    await event.wait()
    raise PageError("crashed")


async def _first(wanted: Awaitable[None], *others: Awaitable[None]) -> None:
    """Wait for what is wanted, unless another of them fails before."""
    tasks = [asyncio.ensure_future(each) for each in (wanted, *others)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _fault(error: Exception) -> str:
    said = str(error)
    if "Download is starting" in said:
        return "download"
    return "crashed" if "crashed" in said or "has been closed" in said else "unreachable"


def _leave() -> None:
    bury()
    os._exit(0)


async def main() -> None:
    """Do the errand on stdin, and leave nothing behind that was started for it."""
    adopt()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _leave)
    # Should the captain be gone by then, nobody else ends this.
    asyncio.get_running_loop().call_later(bounds.PAGE_TIME.total_seconds(), _leave)
    errand = json.loads(await asyncio.to_thread(sys.stdin.buffer.read))
    try:
        await show(errand)
    except PageError as fault:
        say(fault=str(fault))
    _leave()


if __name__ == "__main__":
    asyncio.run(main())
