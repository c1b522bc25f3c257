"""Which pictures of a message come along; one rule for live messages and history. Source: IMG-1."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from clankie_bridge.core.message import File, Gifv, Message
from clankie_bridge.core.text import cleaned
from clankie_settings import bounds
from clankie_settings.wire.attachment import Attachment, AttachmentsOmitted, MediaType
from clankie_settings.wire.trigger import ContextVisual

_BY_TYPE: Final[dict[str, MediaType]] = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
_BY_SUFFIX: Final[dict[str, MediaType]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_ADDRESS: Final = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Selection:
    """The pictures that come along, and how many do not, by cause."""

    attachments: tuple[Attachment, ...] = ()
    omitted: AttachmentsOmitted = field(default_factory=AttachmentsOmitted)

    @property
    def left_out(self) -> int:
        """How many do not come along."""
        return self.omitted.unsupported + self.omitted.too_large + self.omitted.over_limit


NOTHING: Final = Selection()
"""A message without files."""


def select(message: Message) -> Selection:
    """The pictures of a message: attachments first, then GIF-picker embeds, at most four. Source: IMG-1."""
    files, gifvs = message.all_files, message.all_gifvs
    if message.voice_seconds is not None:
        files = ()
    if not files and not gifvs:
        return NOTHING
    fitting: list[Attachment] = []
    unsupported = too_large = 0
    for each in _candidates(files, gifvs):
        if each is None:
            unsupported += 1
        elif isinstance(each, int):
            too_large += 1
        else:
            fitting.append(each)
    taken = tuple(fitting[: bounds.ATTACHMENTS])
    over = len(fitting) - len(taken)
    return Selection(taken, AttachmentsOmitted(unsupported=unsupported, too_large=too_large, over_limit=over))


def newest(window: Sequence[Message], target: Message | None) -> ContextVisual | None:
    """The one visual of the backlog: the reply target's where it has any, else the newest of the window.

    Source: CTX-5.
    """
    for message in (*((target,) if target is not None else ()), *reversed(window)):
        chosen = select(message)
        if chosen.attachments:
            more = len(chosen.attachments) - 1 + chosen.left_out
            return ContextVisual(message_id=message.id, attachment=chosen.attachments[0], omitted=more)
        if chosen.left_out:
            return ContextVisual(message_id=message.id, omitted=chosen.left_out)
    return None


def _candidates(files: Sequence[File], gifvs: Sequence[Gifv]) -> Iterator[Attachment | int | None]:
    """For each an attachment, its size where it is too large, or None where its kind is not supported."""
    seen: set[str] = set()
    for file in files:
        if file.id not in seen:
            seen.add(file.id)
            yield _picture(file)
    for gifv in gifvs:
        if gifv.id not in seen:
            seen.add(gifv.id)
            yield _moving(gifv)


def _picture(file: File) -> Attachment | int | None:
    media_type = _media_type(file.media_type, file.filename)
    if media_type is None or not _is_address(file.url):
        return None
    if file.byte_size is not None and file.byte_size > bounds.ATTACHMENT_BYTES:
        return file.byte_size
    name = cleaned(file.filename or "")[: bounds.FILENAME_CHARS] or None
    return Attachment(id=file.id, url=file.url, media_type=media_type, filename=name, byte_size=file.byte_size or None)


def _moving(gifv: Gifv) -> Attachment | None:
    if not _is_address(gifv.url):
        return None
    motion = gifv.motion_url if gifv.motion_url is not None and _is_address(gifv.motion_url) else None
    # The claim of a preview is a guess either way: the bytes decide when they are fetched.
    media_type = _media_type(gifv.media_type, gifv.url.partition("?")[0]) or "image/png"
    return Attachment(id=gifv.id, url=gifv.url, motion_url=motion, media_type=media_type)


def _media_type(claim: str | None, name: str | None) -> MediaType | None:
    if claim:
        return _BY_TYPE.get(claim)
    return _BY_SUFFIX.get((name or "").rpartition(".")[2].lower())


def _is_address(url: str) -> bool:
    return len(url) <= bounds.URL_CHARS and _ADDRESS.fullmatch(url) is not None
