"""The form of a message request, judged as Discord judges it."""

from dataclasses import dataclass
from typing import Any

from clankie_stage.discord import errors
from clankie_stage.discord.calls import Call, list_of, object_of
from clankie_stage.discord.mentions import AllowedMentions, allowed_mentions
from clankie_stage.discord.nonces import checked_nonce
from clankie_stage.discord.world import Json

LONGEST_CONTENT = 2_000
MOST_EMBEDS = 10
MOST_FILES = 10
LARGEST_FILE = 10 * 1024 * 1024
"""Bytes of one upload; a larger one is 413."""

IS_COMPONENTS_V2 = 1 << 15
SUPPRESS_EMBEDS = 1 << 2
SUPPRESS_NOTIFICATIONS = 1 << 12
SETTABLE_FLAGS = SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | IS_COMPONENTS_V2 | 1 << 13

_EMBED_LIMITS = {"title": 256, "description": 4_096}


@dataclass(frozen=True, slots=True)
class MessageForm:
    """A well-formed request to create or edit a message; a None means that it says nothing about that."""

    content: str | None
    embeds: list[Json] | None
    components: list[Json]
    attachments: list[Json] | None
    flags: int
    nonce: str | int | None
    enforce_nonce: bool
    allowed: AllowedMentions
    allowed_as_sent: Json | None
    reference: Json | None
    others: Json


def message_form(call: Call) -> MessageForm:
    """Read and judge the form of a message.

    Raises:
        RefusalError: a field is wrong or too long, or a file is too large.
    """
    body = call.body
    allowed_as_sent = object_of(body, "allowed_mentions")
    flags = body.get("flags") or 0
    if not isinstance(flags, int):
        raise errors.invalid_value("flags", flags, "int")
    _judge_files(call)
    return MessageForm(
        content=_content(body),
        embeds=_embeds(body),
        components=list_of(body, "components"),
        attachments=list_of(body, "attachments") if body.get("attachments") is not None else None,
        flags=flags & SETTABLE_FLAGS,
        nonce=checked_nonce(body.get("nonce")),
        enforce_nonce=bool(body.get("enforce_nonce", False)),
        allowed=allowed_mentions(allowed_as_sent),
        allowed_as_sent=allowed_as_sent,
        reference=object_of(body, "message_reference"),
        others={key: body[key] for key in ("poll", "sticker_ids") if body.get(key)},
    )


def _content(body: Json) -> str | None:
    content: Any = body.get("content")
    if content is None:
        return None
    if isinstance(content, int | float) and not isinstance(content, bool):
        content = str(content)
    if not isinstance(content, str):
        raise errors.invalid_value("content", content, "string")
    if len(content) > LONGEST_CONTENT:
        raise errors.invalid_form("content", "BASE_TYPE_MAX_LENGTH", f"Must be {LONGEST_CONTENT} or fewer in length.")
    return content


def _embeds(body: Json) -> list[Json] | None:
    if body.get("embeds") is None:
        return None
    embeds = list_of(body, "embeds")
    if len(embeds) > MOST_EMBEDS:
        raise errors.invalid_form("embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_EMBEDS} or fewer in length.")
    for index, embed in enumerate(embeds):
        for key, longest in _EMBED_LIMITS.items():
            if len(str(embed.get(key) or "")) > longest:
                raise errors.invalid_form(
                    f"embeds.{index}.{key}", "BASE_TYPE_MAX_LENGTH", f"Must be {longest} or fewer in length."
                )
    return [{"type": "rich", "content_scan_version": 0, **embed} for embed in embeds]


def _judge_files(call: Call) -> None:
    if len(call.files) > MOST_FILES:
        raise errors.invalid_form("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.")
    if any(len(file.content) > LARGEST_FILE for file in call.files):
        raise errors.too_large()
    named = {str(file.index) for file in call.files}
    if len(named) < len(call.files):
        raise errors.invalid_form("attachments", "BASE_TYPE_BAD", "Two files have one number.")
    if call.method != "POST" or call.body.get("attachments") is None:
        return
    # What is said about files belongs to the files of this very request, each once.
    for index, entry in enumerate(list_of(call.body, "attachments")):
        if str(entry.get("id")) not in named:
            raise errors.invalid_form(f"attachments.{index}", "ATTACHMENT_NOT_FOUND", "Uploaded attachment not found.")
        named.discard(str(entry.get("id")))
