"""Which of a response's words are recorded as his own."""

import pytest
from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ThinkingPart, ToolCallPart

from clankie_captain.agent.stretch import without_echoes
from clankie_captain.core.quoting import fenced

CARD = fenced("heard", {"from": "Ann"}, "hello", lambda: "0123456789ab")
THOUGHT = ThinkingPart(f"so: {CARD}", signature="c2ln", provider_name="anthropic")
CALL = ToolCallPart("send_text_update", {"text": "soon"}, "c")


def text(words: str) -> TextPart:
    return TextPart(words, id="t", provider_name="anthropic", provider_details={"a": 1})


@pytest.mark.requirement("ROOM-7", "LANE-14")
@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ([THOUGHT, text(f"{CARD}\nIt is four.")], [THOUGHT, text("It is four.")]),
        ([text(CARD[:30]), THOUGHT, text(f"{CARD[30:]}\nIt is four.")], [THOUGHT, text("It is four.")]),
        ([THOUGHT, text(CARD)], None),
        ([THOUGHT, text("send_text_update(text='soon')")], None),
        ([THOUGHT, text(CARD), CALL], [THOUGHT, text(CARD), CALL]),
        ([text(" It "), text("is four.\n")], [text(" It "), text("is four.\n")]),
        ([THOUGHT], [THOUGHT]),
    ],
    ids=["beside words", "over a border", "alone", "a written call", "beside a call", "none", "no words"],
)
def test_an_answer_is_recorded_without_what_the_room_never_sees(
    parts: list[ModelResponsePart], left: list[ModelResponsePart] | None
) -> None:
    """C27"""
    found = without_echoes(ModelResponse(parts=parts), ("send_text_update",))
    assert (None if found is None else found.parts) == left
