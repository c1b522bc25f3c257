"""Which messages mean nothing before their preview is there."""

import pytest

from clankie_bridge.core.message import Message
from clankie_bridge.core.unfurling import waits
from tests.bridge.core.builders import BOT, IDENTITY, message, picture

LINK = "https://klipy.com/gifs/a-cat"


@pytest.mark.requirement("IMG-9")
@pytest.mark.parametrize(
    ("said", "waiting"),
    [
        (message(LINK, may_unfurl=True), True),
        (message(f"  {LINK}\n", may_unfurl=True), True),
        (message(f"<@{BOT}> {LINK}", may_unfurl=True), True),
        (message(f"Clankie, {LINK}", may_unfurl=True), True),
        (message(LINK), False),
        (message(f"look: {LINK}", may_unfurl=True), False),
        (message(f"{LINK} {LINK}", may_unfurl=True), False),
        (message(f"<{LINK}>", may_unfurl=True), False),
        (message(LINK, may_unfurl=True, files=(picture(),)), False),
        (message("words", may_unfurl=True), False),
        (message("", may_unfurl=True), False),
    ],
)
def test_an_address_alone_waits(said: Message, waiting: bool) -> None:
    assert waits(said, IDENTITY) is waiting
