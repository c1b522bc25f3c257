"""Pictures of web pages, each by a browser of its own on a leash. Source: ART-2, SEC-3."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from asyncio import StreamReader, StreamWriter, subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

from clankie_captain.core.pictures import sniff
from clankie_captain.errors import RefusedAddressError
from clankie_captain.kin import end, kin
from clankie_captain.media.chromium import Chromium
from clankie_captain.media.leash import leashed
from clankie_captain.media.passage import Passage
from clankie_settings import bounds

COMMAND: Final = (sys.executable, "-I", "-B", "-m", "clankie_captain.media.photographer")
"""What drives a browser: a process of this very Python."""

PRIVATE: Final = (
    "the address, or one that it leads to, is not on the public web; only http and https at their own ports are shown"
)
UNKNOWN: Final = "there is no host of this name, or it does not answer"
_FAILED: Final = "the browser failed; tell whoever runs me"
_FAULTS: Final = {
    "busy": "the page never holds still",
    "crashed": "the page made its browser crash",
    "download": "the address is a file to download, and no page",
    "heavy": "the page takes too much memory",
    "large": "its picture is too large; leave the rest of the page out",
    "slow": "the page did not answer in time",
    "unreachable": UNKNOWN,
    "unstarted": "the browser does not start; tell whoever runs me",
}


class CameraError(Exception):
    """A page is not shown; the text says why, in words for the model."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of a page.

    ``status`` is what the page's server answered, ``whole`` whether the page had loaded, and ``cut`` whether the page
    goes on below the picture.
    """

    data: bytes
    media_type: str
    status: int | None
    whole: bool
    cut: bool


class Camera:
    """Shows web pages.

    Args:
        browser: What shows them.
        passage: Makes the browser's way to the network.
        within: Wall time of one picture.
        at_once: Browsers at a time; other pages wait, no longer than ``within``.
        command: What drives a browser.
    """

    def __init__(
        self,
        browser: Chromium,
        passage: Callable[[], Passage] = Passage,
        within: timedelta = bounds.PAGE_TIME,
        at_once: int = bounds.BROWSERS,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self._browser = browser
        self._passage = passage
        self._within = within.total_seconds()
        self._browsers = asyncio.Semaphore(at_once)
        self._command = command

    async def take(self, url: str, progress: Callable[[], None], *, full: bool) -> Shot:
        """A picture of a page's window, or of the whole page; ``progress`` is told of each step.

        Raises:
            CameraError: The page is not shown.
        """
        passage = self._passage()
        try:
            async with asyncio.timeout(self._within):
                await passage.admit(url)
                await self._browsers.acquire()
        except RefusedAddressError:
            raise CameraError(PRIVATE) from None
        except TimeoutError:
            raise CameraError("other pages are being shown; try again in a minute") from None
        except OSError:
            raise CameraError(UNKNOWN) from None
        try:
            progress()
            return await self._taken(passage, url, progress, full=full)
        finally:
            self._browsers.release()

    async def starts(self) -> bool:
        """Whether a browser comes up; it is shown nothing, and reaches nothing."""
        try:
            await self._taken(Passage(in_all=0), "http://nowhere.invalid/", lambda: None, full=False)
        except CameraError as error:
            # It was there to tell that there is no such page.
            return str(error) == UNKNOWN
        return True

    async def _taken(self, passage: Passage, url: str, progress: Callable[[], None], *, full: bool) -> Shot:
        try:
            async with asyncio.timeout(self._within), passage.opened() as proxy, self._driven() as driver:
                errand = {
                    "url": url,
                    "full": full,
                    "program": str(self._browser.program),
                    "sandbox": self._browser.sandbox,
                    "proxy": proxy,
                }
                return await _shot(driver, errand, progress)
        except CameraError as error:
            if passage.refusals and str(error) == UNKNOWN:
                raise CameraError(PRIVATE) from None
            raise
        except TimeoutError:
            raise CameraError("the page took too long") from None
        except (OSError, ValueError, EOFError):
            raise CameraError(_FAILED) from None

    @asynccontextmanager
    async def _driven(self) -> AsyncGenerator[subprocess.Process]:
        """A driver, with a folder that its browser may write to; neither they nor it are there afterwards."""
        folder = tempfile.mkdtemp(prefix="clankie-")
        try:
            # Whatever the browser or what drives it writes goes with the folder.
            own = {"HOME": folder, "TMPDIR": folder, "PATH": os.defpath}
            async with leashed(self._command, own) as driver:
                try:
                    yield driver
                finally:
                    # The browser has a group of its own. While its driver lives, it can be found, and is buried by it.
                    end(kin(driver.pid))
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _shot(driver: subprocess.Process, errand: dict[str, Any], progress: Callable[[], None]) -> Shot:
    """Send a driver off and take what it brings.

    Raises:
        CameraError: It says why it brings nothing.
        ValueError: It says what no driver of ours says.
        EOFError: It ended without a word.
        OSError: It takes nothing.
    """
    to_it, from_it = cast("StreamWriter", driver.stdin), cast("StreamReader", driver.stdout)
    to_it.write(json.dumps(errand).encode())
    await to_it.drain()
    to_it.close()
    while True:
        line = await from_it.readline()
        match json.loads(line):
            case {"step": str()}:
                progress()
            case {"fault": str() as fault}:
                raise CameraError(_FAULTS.get(fault, _FAILED))
            case {
                "bytes": int() as size,
                "status": int() | None as status,
                "whole": bool() as whole,
                "cut": bool() as cut,
            }:
                if not 0 < size <= bounds.ARTIFACT_BYTES:
                    raise ValueError("too large")
                data = await from_it.readexactly(size)
                form = sniff(data)
                if form not in ("png", "jpeg"):
                    raise ValueError("no picture")
                return Shot(data, f"image/{form}", status, whole, cut)
            case _:
                raise ValueError("nothing that was agreed")
