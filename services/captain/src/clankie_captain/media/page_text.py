"""The text of pages, taken out of their bytes by a process of its own. Source: SEC-3."""

import asyncio
import json
import sys
from datetime import timedelta
from typing import Final

from clankie_captain.core.pages import Page, PageForm
from clankie_captain.media.leash import ProgramError, output
from clankie_settings import bounds

COMMAND: Final = (sys.executable, "-I", "-B", "-m", "clankie_captain.media.reader")
"""What reads a page: a process of this very Python."""

_ANSWER_BYTES: Final = 16 * bounds.PAGE_START
_FAULTS: Final = {
    "broken": "the page is damaged, or not what its server calls it",
    "empty": "the page holds no text",
    "heavy": "the page takes too much memory to read",
    "locked": "the document is locked with a password",
    "scripted": "the page shows nothing without a browser, for a script would have to write it first",
    "slow": "the page takes too long to read",
}


class PageError(Exception):
    """A page is not read; the text says why, in words for the model."""


class PageReader:
    """Reads pages.

    Args:
        within: Wall time of one of them.
        at_once: Processes at a time; other pages wait.
        command: What reads.
    """

    def __init__(
        self,
        within: timedelta = bounds.READER_TIME,
        at_once: int = bounds.READERS,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self._within = within
        self._readers = asyncio.Semaphore(at_once)
        self._command = command

    async def read(self, data: bytes, form: PageForm, charset: str, address: str, enough: int) -> Page:
        """The first ``enough`` characters of a page.

        Raises:
            PageError: It has none that can be read.
        """
        asked = {"form": form, "charset": charset, "address": address, "enough": enough}
        given = json.dumps(asked).encode() + b"\n" + data
        async with self._readers:
            try:
                said = await output(self._command, given, _ANSWER_BYTES, self._within)
            except TimeoutError:
                raise PageError(_FAULTS["slow"]) from None
            except (OSError, ProgramError):
                raise PageError(_FAULTS["broken"]) from None
        # Some megabytes at the worst: too long for the loop that everybody shares.
        return await asyncio.to_thread(_page, said, address, enough)


def _page(said: bytes, address: str, enough: int) -> Page:
    try:
        fields: object = json.loads(said)
    except (ValueError, RecursionError):
        fields = None
    match fields:
        case {"fault": str() as fault}:
            raise PageError(_FAULTS.get(fault, _FAULTS["broken"]))
        case {"title": str() as title, "text": str() as text, "more": bool() as more}:
            return Page(address, title[: bounds.PAGE_TITLE_CHARS * 4], text[:enough], more)
        case _:
            raise PageError(_FAULTS["broken"])
