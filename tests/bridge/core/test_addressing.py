"""Who was called."""

from typing import Any

import pytest

from clankie_bridge.core.addressing import Address, Identity, Names, judge
from clankie_bridge.core.message import Forward, Message
from tests.bridge.core.builders import BOT, IDENTITY, ROLE, answering, author, message

OWN = message("earlier", 50, author=author(BOT))
ANNS = message("earlier", 50)


def mentioning(content: str, **more: Any) -> Message:
    return message(content, mentions={BOT: "Clankie"}, **more)


@pytest.mark.requirement("ING-2")
@pytest.mark.parametrize(
    ("said", "kind", "addressed"),
    [
        (message("hello"), "message", False),
        (mentioning(f"<@{BOT}> hi"), "mention", True),
        (message(f"<@&{ROLE}>", mention_role_ids=frozenset({ROLE})), "mention", True),
        (message("<@&77>", mention_role_ids=frozenset({"77"})), "message", False),
        (message("@everyone"), "message", False),
        (message(f"`<@{BOT}>`"), "message", False),
        (mentioning(f"> <@{BOT}>"), "mention", True),
        (message("yes", **answering(OWN)), "reply", True),
        (mentioning("yes", **answering(OWN)), "reply", True),
        (message("yes", **answering(ANNS)), "reply", False),
        (mentioning(f"<@{BOT}> see this", **answering(ANNS)), "mention", True),
        (message("yes", **answering(None)), "reply", False),
        (message("yes", **answering(None, gone=True)), "reply", False),
        (message("", forward=Forward(f"<@{BOT}> Clankie")), "message", False),
        (message("hello", guild_id=None), "dm", True),
        (message("clankie?"), "mention", True),
        (message("ask CLANKIE's friend"), "mention", True),
        (message("so Mr. C says"), "mention", True),
        (message("clankies"), "message", False),
        (message("unclankie"), "message", False),
        (message("Mr! C"), "message", False),
        (message("`clankie` is a word"), "message", False),
        (message("``clankie ` ``"), "message", False),
        (message("```\nclankie\n```"), "message", False),
        (message("```\nclankie"), "mention", True),
        (message("a ` clankie"), "mention", True),
        (message("<:clankie:123456789012345678>"), "message", False),
        (message("https://clankie.example/clankie"), "message", False),
    ],
)
def test_the_table_of_calls(said: Message, kind: Any, addressed: bool) -> None:
    """C64."""
    assert judge(said, IDENTITY) == Address(kind, addressed)


def test_without_names_only_mentions_and_replies_call() -> None:
    assert not judge(message("Clankie"), Identity(BOT, frozenset(), Names(()))).addressed
    assert Names(()).first == "you"


def test_many_ticks_cost_no_more_than_their_length() -> None:
    # Without a bound on where a span may begin this would take minutes.
    assert Names(("clankie",)).called_in("clankie " + " ".join("`" * (length % 90 + 1) for length in range(4_000)))
