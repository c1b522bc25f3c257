"""A new message as Discord wants it: words, files and what is said of them, as one request. Source: ROOM-6, ART-3."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

from clankie_bridge.core.artifacts import Cause, lightened, noted
from clankie_bridge.core.render import TextFile
from clankie_bridge.discord.rest import Answer, Upload
from clankie_bridge.ports import Outgoing

_REQUEST_TOO_LARGE: Final = 40_005
_MISSING_PERMISSIONS: Final = 50_013
_NOT_ABOUT_FILES: Final = frozenset({10_003, 50_001, 50_007})
"""Unknown channel, missing access, closed DM: the words alone are refused just so."""


def message_payload(outgoing: Outgoing, reply_to: str | None) -> dict[str, Any]:
    """The JSON of a new message: nobody is pinged, and the nonce makes sending it twice harmless.

    Source: ROOM-6, C14, C19.
    """
    payload: dict[str, Any] = {
        "allowed_mentions": {"parse": [], "replied_user": False},
        "nonce": outgoing.nonce,
        "enforce_nonce": True,
    }
    files = uploads(outgoing)
    if files:
        payload["attachments"] = [{"id": index, "filename": each.filename} for index, each in enumerate(files)]
    words = "" if isinstance(outgoing.part, TextFile) else noted(outgoing.part.text, outgoing.left_out)
    if words:
        payload["content"] = words
    if reply_to is not None:
        payload["message_reference"] = {"message_id": reply_to, "fail_if_not_exists": False}
    return payload


def uploads(outgoing: Outgoing) -> tuple[Upload, ...]:
    """The files of a new message, in the order of its ``attachments``."""
    pictures = tuple(Upload(each.filename, each.data, each.media_type) for each in outgoing.pictures)
    if isinstance(outgoing.part, TextFile):
        return (Upload(outgoing.part.filename, outgoing.part.text.encode(), "text/plain; charset=utf-8"), *pictures)
    return pictures


def lighter(outgoing: Outgoing, answer: Answer) -> Outgoing | None:
    """The same words with fewer pictures, where these may be why Discord refused; None where they are not.

    The nonce stays: what Discord refused it has not stored, and what it did store, though its answer was lost, this
    must not make again.

    Source: ART-3, C31.
    """
    if not outgoing.pictures or answer.code in _NOT_ABOUT_FILES:
        return None
    if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or answer.code == _REQUEST_TOO_LARGE:
        cause = Cause.TOO_LARGE
    else:
        cause = Cause.NOT_PERMITTED if answer.code == _MISSING_PERMISSIONS else Cause.REFUSED
    return with_fewer(outgoing, cause)


def with_fewer(outgoing: Outgoing, cause: Cause) -> Outgoing:
    """The same words with as many pictures as this cause leaves, which the words say."""
    kept = lightened(outgoing.pictures, cause)
    lost = len(outgoing.pictures) - len(kept)
    return replace(outgoing, pictures=kept, left_out=(*outgoing.left_out, *[cause] * lost))
