"""Which Chromium shows web pages, and whether it may: the machine's own, in its sandbox. Source: ART-2."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What it is called, on ``PATH``."""

PLACES: Final = (
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
"""Where it is on a machine that has it on no ``PATH``."""

Lack = Literal["browser", "package", "sandbox"]
"""Why no page is shown: no Chromium, nothing that drives it, or root without the owner's leave."""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that can be started."""

    program: Path
    sandbox: bool


def chromium(named: Path | None, *, sandbox: bool, path: str | None = None) -> Chromium | Lack:
    """The browser to use, or why there is none.

    Args:
        named: The one that the owner named; others are not looked for then.
        sandbox: Whether the owner wants its sandbox. It has none for root, so root needs the owner's word.
        path: Where to look instead of on the process's ``PATH``.
    """
    found = _found(named, path)
    if found is None:
        return "browser"
    if not _driven():
        return "package"
    if sandbox and os.geteuid() == 0:
        return "sandbox"
    return Chromium(found, sandbox)


def _driven() -> bool:
    try:
        return importlib.util.find_spec("playwright") is not None
    except ValueError:
        # It is marked as one that cannot be had.
        return False


def _found(named: Path | None, path: str | None) -> Path | None:
    if named is not None:
        return named if os.access(named, os.X_OK) and named.is_file() else None
    for name in NAMES:
        if (there := shutil.which(name, path=path)) is not None:
            return Path(there).absolute()
    return next((each for each in PLACES if path is None and each.is_file()), None)
