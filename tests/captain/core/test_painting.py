"""What a provider of pictures is asked, and what its refusals become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.painting import asked, encoded, refusal
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("ART-2")


def error(code: object = None, message: object = "because") -> dict[str, object]:
    return {"error": {"code": code, "message": message, "type": "x"}}


def test_the_bytes_are_asked_for_in_the_answer_in_the_words_of_each_model() -> None:
    assert asked("gpt-image-1", "a boat", "wide") == {
        "model": "gpt-image-1", "prompt": "a boat", "n": 1, "size": "1536x1024",
    }  # fmt: skip
    assert asked("dall-e-3", "a boat", "tall")["size"] == "1024x1792"
    assert asked("own", "a boat", "square")["response_format"] == "b64_json"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"data": [{"b64_json": "QUJD"}]}, "QUJD"),
        ({"data": [{"b64_json": ""}]}, None),
        ({"data": [{"url": "http://127.0.0.1/x"}]}, None),
        ({"data": []}, None),
        ({"data": "x"}, None),
        ([], None),
        (None, None),
    ],
)
def test_an_address_instead_of_a_picture_is_not_followed(body: object, found: str | None) -> None:
    assert encoded(body) == found


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, error("moderation_blocked", "Your\nwish \u202eis bad"), 'such a picture; it says: "Your wish is bad"'),
        (400, error("content_policy_violation", None), "refuses to make such a picture"),
        (400, error("invalid_value", 'size is "odd"'), "it says: \"size is 'odd'\""),
        (429, error("insufficient_quota", "see your plan"), "nothing left"),
        (400, error("billing_hard_limit_reached"), "nothing left"),
        (429, error("rate_limit_exceeded"), "in a minute"),
        (401, error("invalid_api_key", "Incorrect API key provided: sk-secret"), "does not accept the key"),
        (500, error(), "has a fault"),
        (503, "<html>", "has a fault"),
        (404, None, "does not take the request"),
        (302, None, "answer is none"),
        (200, {"error": {"code": 5}}, "answer is none"),
    ],
)  # fmt: skip
def test_a_refusal_becomes_words_that_he_can_say(status: int, body: object, said: str) -> None:
    words = refusal(status, body)
    assert said in words
    assert "sk-secret" not in words
    assert "\n" not in words


@given(st.text(max_size=2_000))
def test_a_providers_words_are_one_short_line(message: str) -> None:
    words = refusal(400, error("x", message))
    assert len(words) < bounds.PROVIDER_WORDS + 60
    assert words.isprintable()
