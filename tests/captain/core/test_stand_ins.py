"""What stands for a picture in a lane's history."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.pictures import Stored
from clankie_captain.core.stand_ins import GONE, digest_of, stand_in, surplus, without
from clankie_settings.ids import DeliveryId

pytestmark = pytest.mark.requirement("LANE-14")

HERE = DeliveryId("400")


def part(digit: str, size: int = 10) -> Stored:
    return Stored(digit * 64, "image/png", 2, 1, size)


@pytest.mark.requirement("IMG-7")
def test_a_stand_in_holds_the_hash_and_nothing_of_the_bytes() -> None:
    text = stand_in(part("a"), HERE)
    assert text == f"picture:{'a' * 64}/10/400"
    assert digest_of(text) == "a" * 64


@pytest.mark.parametrize(
    "text", ["", "https://cdn.discordapp.com/a.png", "picture:abc/1/2", f"picture:{'g' * 64}/1/2", "data:image/png,"]
)
def test_nothing_else_stands_for_a_picture(text: str) -> None:
    assert digest_of(text) is None


def test_the_same_picture_of_another_delivery_is_another() -> None:
    assert stand_in(part("a"), HERE) != stand_in(part("a"), DeliveryId("401"))


def request(*items: Any, **more: Any) -> str:
    content = [{"url": each, "kind": "image-url"} if each.startswith("picture:") else each for each in items]
    parts = [{"content": content, "part_kind": "user-prompt"}, {"content": "plain"}, {"tool_call_id": "1"}]
    return json.dumps({"parts": parts, "kind": "request", **more}, separators=(",", ":"))


def test_words_stand_where_a_picture_stood_and_everything_else_stays() -> None:
    first, second = stand_in(part("a"), HERE), stand_in(part("b"), HERE)
    assert without(request("Ann's ü:", first, second, state="complete"), {first}) == request(
        "Ann's ü:", GONE, second, state="complete"
    ).replace("\\u00fc", "ü")


def test_an_entry_without_these_pictures_is_left_as_it_is() -> None:
    assert without(request("hi", stand_in(part("a"), HERE)), {stand_in(part("b"), HERE)}) is None
    assert without("no JSON", set()) is None


def shown(*sizes: int) -> list[str]:
    return [stand_in(part("a", size), DeliveryId(str(at))) for at, size in enumerate(sizes)]


def test_as_long_as_everything_fits_nothing_goes() -> None:
    assert surplus(shown(40, 40, 20), 1, 100, 3) == ()
    assert surplus([], 0) == ()


def test_where_they_are_too_many_half_of_the_room_is_made_free() -> None:
    assert surplus(shown(*[1] * 9), 1, 100, 8) == tuple(shown(*[1] * 9)[:5])
    assert surplus(shown(30, 30, 30, 20), 1, 100, 8) == tuple(shown(30, 30, 30, 20)[:2])


def test_the_pictures_of_the_very_message_stay_as_long_as_they_fit_at_all() -> None:
    assert surplus(shown(50, 40, 40), 2, 100, 8) == tuple(shown(50, 40, 40)[:1])
    assert surplus(shown(50, 60, 60), 3, 100, 8) == tuple(shown(50, 60, 60)[:2])


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(0, 12))
def test_what_stays_always_fits(sizes: list[int], latest: int) -> None:
    before = shown(*sizes)
    gone = surplus(before, min(latest, len(before)), 100, 6)
    stays = sizes[len(gone) :]
    assert before[: len(gone)] == [*gone]
    assert sum(stays) <= 100
    assert len(stays) <= 6


def test_what_stands_for_nothing_takes_no_room() -> None:
    assert surplus(["https://example.org/", "x"], 0, 1, 2) == ()
