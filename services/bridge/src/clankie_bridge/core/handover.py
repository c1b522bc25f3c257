"""A message as the captain gets it. Source: WIRE-2, CTX-1, CTX-5."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clankie_bridge.core import addressing, speech, visuals
from clankie_bridge.core.addressing import Address, Identity
from clankie_bridge.core.commands import Invocation
from clankie_bridge.core.message import THREAD_STARTER, Author, Message, written_at
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from clankie_settings.wire.trigger import Actor, ContextMessage, Room, Trigger
from clankie_settings.wire.version import WIRE_VERSION

DELETED: Final = "[a message that was deleted]"
"""The body of an answered message that is gone."""

NOBODY: Final = "unknown"
"""Who wrote a message that is gone."""


@dataclass(frozen=True, slots=True)
class Place:
    """What is known about where a message was written; names are shown, never trusted."""

    parent_id: str | None = None
    guild_name: str | None = None
    channel_name: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """A message to hand over, with what was said before it, oldest first.

    ``covers`` are the ids of messages that a catch-up turn stands for besides.
    """

    message: Message
    address: Address
    window: tuple[Message, ...] = ()
    covers: tuple[str, ...] = ()


def trigger(heard: Heard, identity: Identity, place: Place, presence_id: PresenceId) -> Trigger:
    """The wire's form of an admitted message.

    Raises:
        pydantic.ValidationError: The message is none that ``core.admission`` would admit.

    Source: WIRE-1, WIRE-2.
    """
    message = heard.message
    chosen = visuals.select(message)
    said = speech.body(message, identity)
    if said is None and not chosen.attachments:
        said = speech.body_of_unreadable(chosen.left_out)
    window = _before(heard)
    target = _target(heard, window, identity)
    return Trigger(
        wire_version=WIRE_VERSION,
        delivery_id=message.id,
        presence_id=presence_id,
        kind=heard.address.kind,
        room=_room(message, place),
        actor=actor(message.author),
        message_id=message.id,
        sent_at=message.sent_at,
        body=said,
        attachments=chosen.attachments,
        attachments_omitted=chosen.omitted,
        addressed=heard.address.addressed,
        reply_to=_context(target, identity) if target is not None else _gone(message),
        context=tuple(_context(each, identity) for each in window),
        context_visual=visuals.newest(window, target) if len(chosen.attachments) < bounds.ATTACHMENTS else None,
        covers=heard.covers,
    )


def opened(message: Message) -> Message | None:
    """A message as the backlog carries it: a thread's starter stands for the message that the thread hangs on.

    None where the starter's message is not known.

    Source: C62.
    """
    if message.type != THREAD_STARTER:
        return message
    opener = message.reference.message if message.reference is not None else None
    return replace(opener, channel_id=message.channel_id, reference=None) if opener is not None else None


def _before(heard: Heard) -> tuple[Message, ...]:
    latest: dict[str, Message] = {}
    for each in heard.window:
        spoken = opened(each)
        if spoken is not None and int(spoken.id) < int(heard.message.id):
            latest[spoken.id] = spoken
    in_order = sorted(latest.values(), key=lambda each: int(each.id))
    return tuple(in_order[-bounds.CONTEXT_MESSAGES :])


def _target(heard: Heard, window: Sequence[Message], identity: Identity) -> Message | None:
    """The message that this one answers; for one that only calls him, the last that its author wrote before.

    Source: CTX-6, C24, C57.
    """
    message = heard.message
    if message.reference is not None:
        target = message.reference.message
        return target if target is not None and target.id != message.id else None
    if not heard.address.addressed or not addressing.is_bare_call(message, identity):
        return None
    own = (each for each in reversed(window) if each.author.id == message.author.id)
    return next((each for each in own if not addressing.is_bare_call(each, identity)), None)


def _gone(message: Message) -> ContextMessage | None:
    """What stands for an answered message that was deleted: he is told that it is gone. Source: C57."""
    if message.reference is None or not message.reference.gone:
        return None
    message_id = message.reference.message_id
    return ContextMessage(
        message_id=message_id, author_id=NOBODY, author_name=NOBODY, body=DELETED, sent_at=written_at(message_id)
    )


def _context(message: Message, identity: Identity) -> ContextMessage:
    return ContextMessage(
        message_id=message.id,
        author_id=message.author.id,
        author_name=message.author.name,
        is_self=message.author.id == identity.bot_id,
        body=speech.body(message, identity),
        sent_at=message.sent_at,
    )


def _room(message: Message, place: Place) -> Room:
    return Room(
        platform="discord",
        guild_id=message.guild_id,
        channel_id=message.channel_id,
        parent_id=place.parent_id,
        guild_name=place.guild_name,
        channel_name=place.channel_name,
    )


def place_of_command(given: Invocation, place: Place, parent_id: str | None) -> Room:
    """The room in which a command was given."""
    return Room(
        platform="discord",
        guild_id=given.guild_id,
        channel_id=given.channel_id,
        parent_id=parent_id,
        guild_name=place.guild_name,
        channel_name=place.channel_name,
    )


def actor(author: Author) -> Actor:
    """Whoever wrote, as the captain knows people."""
    return Actor(
        actor_id=author.id,
        display_name=author.name,
        is_bot=author.is_bot or author.is_webhook,
        role_ids=author.role_ids[: bounds.ROLES],
    )
