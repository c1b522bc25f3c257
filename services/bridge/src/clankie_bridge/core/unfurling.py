"""Which messages mean nothing before Discord has added their preview. Source: IMG-9, C22."""

import re
from datetime import timedelta
from typing import Final

from clankie_bridge.core.addressing import Identity
from clankie_bridge.core.message import Message

LONGEST: Final = timedelta(milliseconds=2_500)
"""How long such a message waits for its preview, from its arrival. Source: IMG-9."""

_CALLS: Final = re.compile(r"<@[!&]?\d+>")
_ADDRESS: Final = re.compile(r"https?://[^\s<>]+")


def waits(message: Message, identity: Identity) -> bool:
    """Whether the message is an address alone, called him with it or not, whose preview may still come.

    Source: IMG-9.
    """
    if not message.may_unfurl or message.carries_more or "://" not in message.content:
        return False
    left = _CALLS.sub(" ", message.content).strip(" ,:\n")
    if _ADDRESS.fullmatch(left) is not None:
        return True
    return _ADDRESS.fullmatch(identity.names.without(left).strip(" ,:\n")) is not None
