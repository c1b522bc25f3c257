"""Pictures in the messages of the model: their stand-ins in the transcript, and their bytes in what is sent.

A transcript holds what stands for a picture, as an address that nobody could fetch. Only for the moment of a request
the bytes take its place, alike for every provider's shape. Source: IMG-6, IMG-7, LANE-13, LANE-14.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    UserContent,
    UserPromptPart,
)

from clankie_captain.agent.failures import blames_pictures, too_much
from clankie_captain.core.exhibits import Exhibit
from clankie_captain.core.run import Words
from clankie_captain.core.stand_ins import GONE, digest_of, stand_in, surplus

Fetched = Callable[[str], Awaitable[bytes | None]]
"""The bytes of a stored picture by its hash; None where they are gone."""


def prompt(words: Words) -> str | list[UserContent]:
    """A delivery's words as the content of a prompt: plain text, or a list where pictures come along. Source: IMG-6."""
    if not words.exhibits:
        return words.text
    return [words.text, *(_content(each, words) for each in words.exhibits)]


def shown_in(message: ModelMessage) -> list[str]:
    """The stand-ins of a message, in their order."""
    if not isinstance(message, ModelRequest):
        return []
    prompts = (part for part in message.parts if isinstance(part, UserPromptPart) and not isinstance(part.content, str))
    return [item.url for part in prompts for item in part.content if isinstance(item, ImageUrl)]


def all_shown(messages: Sequence[ModelMessage]) -> list[str]:
    """The stand-ins of a request, in their order."""
    return [each for message in messages for each in shown_in(message)]


def too_many(messages: Sequence[ModelMessage]) -> tuple[str, ...]:
    """Those that a request with these messages has no room for, the oldest."""
    return surplus(all_shown(messages), len(shown_in(messages[-1])))


def refused(messages: Sequence[ModelMessage], error: Exception) -> tuple[str, ...]:
    """The pictures that a provider may have meant which refused these messages; none where it meant something else.

    Those that it has not answered to yet; where there are none, all of them. Where everything together was too much,
    the older ones go first. Source: C04.
    """
    if too_much(error):
        return tuple(all_shown(messages[:-1]) or all_shown(messages))
    if not blames_pictures(error):
        return ()
    answered = max((at for at, message in enumerate(messages) if not isinstance(message, ModelRequest)), default=-1)
    return tuple(all_shown(messages[answered + 1 :]) or all_shown(messages))


def without(message: ModelMessage, gone: Collection[str]) -> ModelMessage:
    """A message with words in the place of these pictures."""
    if not isinstance(message, ModelRequest) or not any(each in gone for each in shown_in(message)):
        return message
    return replace(message, parts=[_without(part, gone) for part in message.parts])


async def filled(messages: Sequence[ModelMessage], fetched: Fetched) -> list[ModelMessage]:
    """The messages as they are sent: with bytes in the place of stand-ins, or with words where they are gone."""
    return [await _filled(message, fetched) if shown_in(message) else message for message in messages]


def _content(exhibit: Exhibit, words: Words) -> UserContent:
    if isinstance(exhibit, str):
        return exhibit
    return ImageUrl(stand_in(exhibit, words.delivery), media_type=exhibit.media_type)


def _without(part: ModelRequestPart, gone: Collection[str]) -> ModelRequestPart:
    if not isinstance(part, UserPromptPart) or isinstance(part.content, str):
        return part
    items = [GONE if isinstance(item, ImageUrl) and item.url in gone else item for item in part.content]
    return replace(part, content=items)


async def _filled(message: ModelMessage, fetched: Fetched) -> ModelMessage:
    assert isinstance(message, ModelRequest)
    parts: list[ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
            part = replace(part, content=[await _item(item, fetched) for item in part.content])
        parts.append(part)
    return replace(message, parts=parts)


async def _item(item: UserContent, fetched: Fetched) -> UserContent:
    if not isinstance(item, ImageUrl):
        return item
    digest = digest_of(item.url)
    data = None if digest is None else await fetched(digest)
    return GONE if data is None else BinaryContent(data, media_type=item.media_type)
