"""From Discord's JSON to our records: tolerant in what it reads, strict in what it makes.

Raw payloads are read instead of hikari's message objects, since those lose what is needed here (an embed's
type, a forward, a reply whose target is gone) and whole messages where a key is missing.
"""

from dataclasses import dataclass
from typing import Final, Literal

from clankie_bridge.core.message import (
    DEFAULT,
    REPLY,
    THREAD_STARTER,
    Author,
    File,
    Forward,
    Gifv,
    Message,
    Poll,
    Reference,
    written_at,
)
from clankie_bridge.core.text import inert_name
from clankie_bridge.discord.payloads import (
    Json,
    json_object,
    number,
    objects,
    snowflake,
    snowflakes,
    text,
)
from clankie_settings import bounds

_FORWARD: Final = 1
_SUPPRESS_EMBEDS: Final = 1 << 2
_VOICE_MESSAGE: Final = 1 << 13
_NOBODY: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Change:
    """A message that was changed after it was written.

    ``unfurled``: Discord added previews, its words are the same; ``edited``: its author changed it;
    ``deleted``: ``message`` is None.
    """

    kind: Literal["unfurled", "edited", "deleted"]
    channel_id: str
    message_id: str
    message: Message | None = None


def message(payload: Json, guild_id: str | None = None) -> Message | None:
    """The message of a MESSAGE_CREATE event or of a REST answer, or None where it lacks an id or an author.

    ``guild_id`` is for REST answers, which do not carry it. Never raises, whatever the payload holds.

    Source: ING-1, ING-6.
    """
    return _message(payload, guild_id, depth=0)


def change(payload: Json) -> Change | None:
    """The change that a MESSAGE_UPDATE event brings, or None where it names no message.

    A null ``edited_timestamp`` tells Discord's own addition of embeds from an edit.

    Source: IMG-9, ING-7.
    """
    message_id, channel_id = snowflake(payload.get("id")), snowflake(payload.get("channel_id"))
    if message_id is None or channel_id is None:
        return None
    kind = "unfurled" if payload.get("edited_timestamp") is None else "edited"
    return Change(kind, channel_id, message_id, message(payload))


def deletions(payload: Json) -> tuple[Change, ...]:
    """What a MESSAGE_DELETE or MESSAGE_DELETE_BULK event takes away."""
    channel_id = snowflake(payload.get("channel_id"))
    if channel_id is None:
        return ()
    single = snowflake(payload.get("id"))
    ids = (single,) if single is not None else snowflakes(payload.get("ids"))
    return tuple(Change("deleted", channel_id, each) for each in ids)


def _message(payload: Json, guild_id: str | None, depth: int) -> Message | None:
    message_id, channel_id = snowflake(payload.get("id")), snowflake(payload.get("channel_id"))
    is_webhook = payload.get("webhook_id") is not None
    who = author(json_object(payload.get("author")), json_object(payload.get("member")), is_webhook=is_webhook)
    if message_id is None or channel_id is None or who is None:
        return None
    kind = number(payload.get("type"))
    embeds = payload.get("embeds")
    files = payload.get("attachments")
    flags = number(payload.get("flags")) or 0
    return Message(
        id=message_id,
        channel_id=channel_id,
        author=who,
        sent_at=written_at(message_id),
        guild_id=snowflake(payload.get("guild_id")) or guild_id,
        channel_type=number(payload.get("channel_type")),
        type=DEFAULT if kind is None else kind,
        content=text(payload.get("content")),
        mentions=_mentions(payload.get("mentions")),
        mention_role_ids=frozenset(snowflakes(payload.get("mention_roles"))),
        files=_files(files) if files else (),
        gifvs=_gifvs(embeds, message_id) if embeds else (),
        stickers=_stickers(payload.get("sticker_items")),
        poll=_poll(payload.get("poll")),
        voice_seconds=_voice_seconds(files) if flags & _VOICE_MESSAGE else None,
        forward=_forward(payload, message_id),
        reference=_reference(payload, guild_id, kind, depth),
        edited_at=text(payload.get("edited_timestamp")) or None,
        may_unfurl=not embeds and not flags & _SUPPRESS_EMBEDS,
    )


def author(user: Json, member: Json, *, is_webhook: bool = False) -> Author | None:
    """Whoever acts, from a user and, in a guild, a member; None without an id."""
    author_id = snowflake(user.get("id"))
    if author_id is None:
        return None
    return Author(
        id=author_id,
        name=_name(member.get("nick"), user.get("global_name"), user.get("username")),
        is_bot=user.get("bot") is True,
        is_webhook=is_webhook,
        role_ids=snowflakes(member.get("roles")),
    )


def _name(*candidates: object) -> str:
    for each in candidates:
        if isinstance(each, str) and (name := inert_name(each, bounds.NAME_CHARS)):
            return name
    return _NOBODY


def _mentions(value: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for user in objects(value):
        user_id = snowflake(user.get("id"))
        if user_id is not None:
            nick = json_object(user.get("member")).get("nick")
            found[user_id] = _name(nick, user.get("global_name"), user.get("username"))
    return found


def _files(value: object) -> tuple[File, ...]:
    found: list[File] = []
    for each in objects(value):
        file_id = snowflake(each.get("id"))
        if file_id is None:
            continue
        claim = text(each.get("content_type")).partition(";")[0].strip().lower()
        size = number(each.get("size"))
        found.append(
            File(
                id=file_id,
                url=text(each.get("url")),
                media_type=claim or None,
                filename=text(each.get("filename")) or None,
                byte_size=size if size is not None and size >= 0 else None,
            )
        )
    return tuple(found)


def _gifvs(value: object, message_id: str) -> tuple[Gifv, ...]:
    found: list[Gifv] = []
    for index, embed in enumerate(objects(value)):
        still = json_object(embed.get("thumbnail"))
        url = text(still.get("proxy_url"))
        # The provider's name says nothing: pickers come and go, the type stays.
        if embed.get("type") == "gifv" and url:
            claim = text(still.get("content_type")).partition(";")[0].strip().lower()
            motion = text(json_object(embed.get("video")).get("proxy_url"))
            found.append(Gifv(f"{message_id}.embed{index}", url, claim or None, motion or None))
    return tuple(found)


def _stickers(value: object) -> tuple[str, ...]:
    return tuple(_name(each.get("name")) for each in objects(value)) if value else ()


def _poll(value: object) -> Poll | None:
    poll = json_object(value)
    if not poll:
        return None
    answers = (json_object(each.get("poll_media")).get("text") for each in objects(poll.get("answers")))
    return Poll(text(json_object(poll.get("question")).get("text")), tuple(text(each) for each in answers))


def _voice_seconds(files: object) -> int:
    for each in objects(files):
        seconds = each.get("duration_secs")
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e6:
            return round(seconds)
    return 0


def _forward(payload: Json, message_id: str) -> Forward | None:
    snapshots = objects(payload.get("message_snapshots"))
    if not snapshots:
        return None
    inner = json_object(snapshots[0].get("message"))
    return Forward(
        content=text(inner.get("content")),
        files=_files(inner.get("attachments")),
        gifvs=_gifvs(inner.get("embeds"), f"{message_id}.forward"),
    )


def _reference(payload: Json, guild_id: str | None, kind: int | None, depth: int) -> Reference | None:
    pointer = json_object(payload.get("message_reference"))
    message_id = snowflake(pointer.get("message_id"))
    if message_id is None or kind not in (REPLY, THREAD_STARTER) or pointer.get("type") == _FORWARD:
        return None
    if "referenced_message" not in payload:
        return Reference(message_id)
    if payload["referenced_message"] is None:
        return Reference(message_id, gone=True)
    if depth:
        return Reference(message_id)
    guild = snowflake(payload.get("guild_id")) or guild_id
    return Reference(message_id, _message(json_object(payload["referenced_message"]), guild, depth + 1))
