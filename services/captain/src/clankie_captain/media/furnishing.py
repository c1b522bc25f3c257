"""The workshop that the settings ask for and the machine can have. Source: ART-2."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog

from clankie_captain.errors import ConfigurationError
from clankie_captain.media.camera import Camera
from clankie_captain.media.chromium import Chromium, Lack, chromium
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.drawing import Draughtsman
from clankie_captain.media.film_program import film_program
from clankie_captain.media.painting import ADDRESS, Painter
from clankie_captain.media.passage import Passage
from clankie_captain.media.workshop import MediaWorkshop
from clankie_captain.media.workspace import Workspace, prepared
from clankie_settings import bounds
from clankie_settings.clock import RandomIds
from clankie_settings.schema import CaptainSettings

REMEDIES: Final[dict[Lack, str]] = {
    "browser": "install Chromium, or name yours: CLANKIE_BROWSER",
    "package": "pip install 'clankie-captain[browser]'",
    "sandbox": "run as another user than root, or set CLANKIE_BROWSER_SANDBOX=off",
}
"""What to do where no page can be shown."""

SHARE: Final = 0.8
"""How much of the stall bound one call of a tool may take: whoever works is not taken for dead."""

_log = structlog.get_logger()


def furnished(settings: CaptainSettings, passage: Callable[[], Passage] = Passage) -> MediaWorkshop:
    """The workshop; close it with ``aclose``.

    Raises:
        ConfigurationError: A model for pictures is configured, and no key for it, or the workspace is no place for one.
    """
    root = settings.discord_attachment_root
    workspace = Workspace(_folder(settings), RandomIds())
    return MediaWorkshop(root, Draughtsman(), _camera(settings, passage), _painter(settings), workspace)


def painter_way(settings: CaptainSettings) -> tuple[str, str | None, str] | None:
    """Name, key and address of the model for pictures; None where none is configured.

    Raises:
        ConfigurationError: It has no key, and is not a server of one's own.
    """
    if settings.image_model is None:
        return None
    name, key = settings.image_model.partition(":")[2], settings.openai_api_key
    if key is None and settings.image_base_url is None:
        raise ConfigurationError(
            "CLANKIE_IMAGE_MODEL needs a key: set OPENAI_API_KEY, or CLANKIE_IMAGE_BASE_URL to a server of your own"
        )
    return name, key.get_secret_value() if key is not None else None, settings.image_base_url or ADDRESS


def _folder(settings: CaptainSettings) -> Path:
    _, is_file, path = (settings.database_url or "").partition("sqlite+aiosqlite:///")
    chosen = settings.workspace or settings.state / "workspace"
    databases = (Path(path),) if is_file and path else ()
    return prepared(chosen, settings.state, settings.discord_attachment_root, databases)


def _camera(settings: CaptainSettings, passage: Callable[[], Passage]) -> Camera | None:
    found = chromium(settings.browser, sandbox=settings.browser_sandbox == "on")
    if isinstance(found, Chromium):
        return Camera(found, passage, _within(bounds.PAGE_TIME, settings))
    _log.info("pages.unavailable", remedy=REMEDIES[found])
    return None


def _painter(settings: CaptainSettings) -> Painter | None:
    way = painter_way(settings)
    if way is None:
        return None
    return Painter(*way, WorkerDecoder(film_program()), _within(bounds.PAINTING_TIME, settings))


def _within(most: timedelta, settings: CaptainSettings) -> timedelta:
    return min(most, settings.stall_after * SHARE)
