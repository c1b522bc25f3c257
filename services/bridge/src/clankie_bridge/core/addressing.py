"""Who was called: by mention, reply, name or direct message. Source: ING-2."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from clankie_bridge.core.message import REPLY, Message

_CODE: Final = re.compile(r"```.*?```|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_CALL: Final = re.compile(r"<@[!&]?(\d+)>")
_MARKUP: Final = re.compile(r"<a?:\w+:\d+>|<[@#][!&]?\d+>|https?://\S+")

Kind = Literal["mention", "dm", "reply", "message", "catch_up"]
"""How a Discord message came about, in the wire's words."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who he is in one guild: his id, the managed roles that stand for him, and what people call him."""

    bot_id: str
    role_ids: frozenset[str]
    names: "Names"


class Names:
    """The names that he answers to, at word boundaries and in any case."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.spoken: Final = names
        alternatives = "|".join(re.escape(name) for name in names)
        self._pattern: Final = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE) if names else None

    @property
    def first(self) -> str:
        """What a mention of him is written as."""
        return self.spoken[0] if self.spoken else "you"

    def called_in(self, text: str) -> bool:
        """Whether the text names him outside code, addresses and emoji."""
        if self._pattern is None or self._pattern.search(text) is None:
            return False
        return self._pattern.search(_MARKUP.sub(" ", outside_code(text))) is not None

    def without(self, text: str) -> str:
        """The text less every place where it names him."""
        return self._pattern.sub("", text) if self._pattern is not None else text


@dataclass(frozen=True, slots=True)
class Address:
    """How a message came about, and whether it asks for him."""

    kind: Kind
    addressed: bool


def judge(message: Message, identity: Identity) -> Address:
    """How the message reached him.

    A mention is what Discord parsed as one (the user, or the managed role that auto-complete offers), so
    ``@everyone``, other roles, code and forwarded words are none.

    Source: ING-2.
    """
    if message.guild_id is None:
        return Address("dm", addressed=True)
    if _answers_him(message, identity.bot_id):
        return Address("reply", addressed=True)
    mentioned = identity.bot_id in message.mentions or not identity.role_ids.isdisjoint(message.mention_role_ids)
    if mentioned or identity.names.called_in(message.content):
        return Address("mention", addressed=True)
    return Address("reply" if message.type == REPLY else "message", addressed=False)


def is_bare_call(message: Message, identity: Identity) -> bool:
    """Whether the message only calls him: a mention or his name, and nothing else but punctuation.

    Source: CTX-6, C24.
    """
    if message.carries_more or not message.content:
        return False
    his = {identity.bot_id, *identity.role_ids}
    left = _CALL.sub(lambda found: "" if found[1] in his else found[0], message.content)
    return all(unicodedata.category(char)[0] in "PZC" for char in identity.names.without(left))


def outside_code(text: str) -> str:
    """The text with code blocks and code spans blanked."""
    return _CODE.sub(" ", text) if "`" in text else text


def _answers_him(message: Message, bot_id: str) -> bool:
    reference = message.reference
    if message.type != REPLY or reference is None or reference.message is None:
        return False
    return reference.message.author.id == bot_id
