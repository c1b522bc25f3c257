"""The workshop that the settings ask for and the machine can have. Source: ART-2."""

from collections.abc import Callable
from typing import Final

import structlog

from clankie_captain.core import stall
from clankie_captain.errors import ConfigurationError
from clankie_captain.media.camera import Camera
from clankie_captain.media.chromium import Chromium, Lack, chromium
from clankie_captain.media.decoding import WorkerDecoder
from clankie_captain.media.drawing import Draughtsman
from clankie_captain.media.film_program import film_program
from clankie_captain.media.guard import Resolve
from clankie_captain.media.painting import ADDRESS, Painter
from clankie_captain.media.passage import Passage
from clankie_captain.media.workshop import MediaWorkshop
from clankie_settings import bounds
from clankie_settings.schema import CaptainSettings

REMEDIES: Final[dict[Lack, str]] = {
    "browser": "install Chromium, or name yours: CLANKIE_BROWSER",
    "package": "pip install 'clankie-captain[browser]'",
    "sandbox": "run as another user than root, or set CLANKIE_BROWSER_SANDBOX=off",
}
"""What to do where no page can be shown."""

_log = structlog.get_logger()


def furnished(settings: CaptainSettings, passage: Callable[[], Passage] = Passage) -> MediaWorkshop:
    """The workshop; close it with ``aclose``.

    Raises:
        ConfigurationError: A model for pictures is configured, and no key for it.
    """
    root = settings.discord_attachment_root
    draughtsman = Draughtsman(stall.share(bounds.DRAWING_TIME, settings.stall_after))
    return MediaWorkshop(root, draughtsman, _camera(settings, passage), _painter(settings))


def command_passage(resolve: Resolve) -> Passage:
    """The way to the web of one command, where the owner granted it. Source: GRANT-4, SEC-3."""
    return Passage(resolve, most=bounds.COMMAND_WEB_BYTES, in_all=bounds.COMMAND_WEB_REQUESTS)


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


def _camera(settings: CaptainSettings, passage: Callable[[], Passage]) -> Camera | None:
    found = chromium(settings.browser, sandbox=settings.browser_sandbox == "on")
    if isinstance(found, Chromium):
        return Camera(found, passage, stall.share(bounds.PAGE_TIME, settings.stall_after))
    _log.info("pages.unavailable", remedy=REMEDIES[found])
    return None


def _painter(settings: CaptainSettings) -> Painter | None:
    way = painter_way(settings)
    if way is None:
        return None
    return Painter(*way, WorkerDecoder(film_program()), stall.share(bounds.PAINTING_TIME, settings.stall_after))
