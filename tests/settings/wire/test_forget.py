"""What is forgotten is named as one thing."""

from typing import Any

import pytest
from pydantic import ValidationError

from clankie_settings.wire.operator import Forget


@pytest.mark.parametrize("named", [{}, {"room": "200:300", "person": "11"}])
def test_either_a_room_or_a_person_is_forgotten(named: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="either a room or a person"):
        Forget.model_validate(named)


@pytest.mark.parametrize("room", ["300", "200:", "all:300", "rooms/discord:200:300", "200:300~system"])
def test_a_room_is_named_as_guild_and_channel(room: str) -> None:
    with pytest.raises(ValidationError):
        Forget.model_validate({"room": room})


def test_a_direct_message_is_a_room() -> None:
    assert Forget(room="dm:301").room == "dm:301"
