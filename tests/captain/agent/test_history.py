"""Entries become messages that every provider takes, and never change on the way."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    FinishReason,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from clankie_captain.agent import history
from clankie_captain.agent.scrubbing import is_blank, scrub, scrub_json
from clankie_captain.agent.validity import INTERRUPTED, NO_OUTPUT, answered_call, begins_turn, clean
from clankie_captain.core.run import Entry
from clankie_settings.ids import RunId

AT = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


def entries(messages: Sequence[ModelMessage]) -> list[Entry]:
    drafts = [history.draft(message) for message in messages]
    return [Entry(seq, RunId("r"), draft.kind, draft.payload) for seq, draft in enumerate(drafts)]


def shown(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    return [each.message for each in history.kept(entries(messages))]


def asked(*parts: ModelRequestPart) -> ModelRequest:
    return ModelRequest(parts=parts or [UserPromptPart("hi", timestamp=AT)], timestamp=AT)


def said(*parts: ModelResponsePart, finish: FinishReason | None = "stop") -> ModelResponse:
    return ModelResponse(parts=parts, timestamp=AT, finish_reason=finish)


def call(name: str = "c", args: str = "{}") -> ToolCallPart:
    return ToolCallPart("t", args, name)


def result(name: str = "c", content: object = "r") -> ToolReturnPart:
    return ToolReturnPart("t", content, name, timestamp=AT)


WHOLE: list[ModelMessage] = [
    asked(UserPromptPart("Grüße 👋 \u2028", timestamp=AT), UserPromptPart("two", timestamp=AT)),
    asked(UserPromptPart(["see", BinaryContent(b"\x89PNG", media_type="image/png"), ImageUrl("https://x.test/a")])),
    asked(SystemPromptPart("be kind", timestamp=AT)),
    asked(RetryFeedbackPart("again", retry=RetryInfo(cause="no_output"))),
    asked(result(content={"rows": [1, None, "x"], "nothing": None}), UserPromptPart("steered", timestamp=AT)),
    asked(CompactionPart("what was said before")),
    said(TextPart("hello"), ThinkingPart("hm", signature="sig", provider_name="anthropic"), call(args='{"a": 1}')),
    ModelResponse(
        parts=[TextPart("x")],
        usage=RequestUsage(input_tokens=3, output_tokens=2, cache_read_tokens=1),
        timestamp=AT,
        model_name="m",
        provider_name="openai",
        provider_details={"finish_reason": "stop", "timestamp": "2026-01-01T00:00:00Z"},
        provider_response_id="r",
        finish_reason="stop",
    ),
]


@pytest.mark.requirement("LANE-13")
@pytest.mark.parametrize("message", WHOLE, ids=range(len(WHOLE)))
def test_a_message_reads_back_as_it_was_and_is_written_as_it_was(message: ModelMessage) -> None:
    stored = history.draft(message)
    read = history.message(stored.payload)
    assert read is not None
    assert history.draft(read) == stored
    assert read.kind == stored.kind == message.kind
    assert [part.part_kind for part in read.parts] == [part.part_kind for part in message.parts]


@pytest.mark.requirement("LANE-14")
def test_calls_without_results_are_answered_right_behind_them_and_once() -> None:
    cut = shown([asked(), said(call("a"), call("b")), asked(result("b"), UserPromptPart("steered", timestamp=AT))])
    parts = cut[2].parts
    assert [getattr(part, "tool_call_id", None) for part in parts] == ["a", "b", None]
    assert parts[0].content == INTERRUPTED  # type: ignore[union-attr]


@pytest.mark.requirement("LANE-14")
def test_open_calls_at_the_end_are_answered_by_the_next_request() -> None:
    kept = shown([asked(), said(call("a"), call("b"))])
    opening = history.opening(kept, [UserPromptPart("next")])
    assert opening is not None
    assert [getattr(part, "tool_call_id", "words") for part in opening.parts] == ["a", "b", "words"]


def test_a_history_that_lacks_nothing_is_taken_up_without_a_request() -> None:
    assert history.opening(shown([asked()]), []) is None
    assert history.opening([], []) is None


@pytest.mark.requirement("LANE-14")
def test_a_response_behind_open_calls_still_finds_them_answered() -> None:
    kept = shown([asked(), said(call("a")), said(TextPart("x"))])
    assert [message.kind for message in kept] == ["request", "response", "request", "response"]
    assert [answered_call(part) for part in kept[2].parts if isinstance(part, ToolReturnPart)] == ["a"]


@pytest.mark.requirement("LANE-14")
@pytest.mark.parametrize(
    "message",
    [
        said(),
        said(TextPart("")),
        said(TextPart(" \n")),
        said(TextPart("\u200b")),
        said(ThinkingPart("hm", signature="s")),
        asked(UserPromptPart(" ")),
        asked(UserPromptPart(["", "\u2060"])),
        asked(result("orphan")),
        ModelResponse(parts=[call(args='{"a')], state="interrupted"),
    ],
)
def test_what_holds_nothing_is_skipped(message: ModelMessage) -> None:
    assert len(shown([asked(), message, asked()])) == 2


@pytest.mark.requirement("LANE-14")
@pytest.mark.parametrize("content", ["", " \n", None, [], {}, "\u200b"])
def test_an_empty_result_of_a_tool_says_so(content: object) -> None:
    last = shown([asked(), said(call()), asked(result(content=content))])[-1]
    assert last.parts[0].content == NO_OUTPUT  # type: ignore[union-attr]


def test_results_that_are_merely_false_stay() -> None:
    last = shown([asked(), said(call("a"), call("b")), asked(result("a", 0), result("b", False))])[-1]
    assert [part.content for part in last.parts] == [0, False]  # type: ignore[union-attr]


def test_a_history_begins_with_somebodys_words() -> None:
    assert shown([said(TextPart("x")), asked(result()), asked()]) == shown([asked()])


@pytest.mark.requirement("LANE-14")
@pytest.mark.parametrize("payload", ["", "{", "null", '{"kind": "request"}', "\0" * 300, '{"kind":"other","parts":[]}'])
def test_an_entry_that_cannot_be_read_costs_itself_alone(payload: str) -> None:
    good = entries([asked(), said(TextPart("x"))])
    broken = Entry(9, RunId("r"), "request", payload)
    assert [each.place for each in history.kept([good[0], broken, good[1]])] == [0, 2]


@pytest.mark.requirement("LANE-14")
def test_rows_that_were_stored_with_broken_characters_are_mended_when_read() -> None:
    payload = history.draft(asked(UserPromptPart("MARK", timestamp=AT))).payload.replace("MARK", "a\\u0000\\ud83d b")
    assert history.message(payload).parts[0].content == "a\ufffd b"  # type: ignore[union-attr]


@given(st.text(st.characters(codec=None) | st.sampled_from("\ud83d\ude00\0")))
def test_scrubbed_text_can_be_sent_and_loses_nothing_else(text: str) -> None:
    scrubbed = scrub(text)
    scrubbed.encode()
    assert "\0" not in scrubbed
    assert scrub(scrubbed) == scrubbed
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert scrubbed == text.replace("\0", "")


def test_halves_that_come_together_are_joined() -> None:
    assert scrub("\ud83d" + "\ude00") == "😀"


@pytest.mark.parametrize(
    ("text", "clean_text"),
    [
        ('{"a": "\\ud83d"}', '{"a":"\ufffd"}'),
        ('{"a": "\\ud83d\\ude00"}', '{"a":"😀"}'),
        ('{"a\\u0000": 1}', '{"a":1}'),
        ('{"a": "\\\\ud83d"}', '{"a":"\\\\ud83d"}'),
        ('{"a": 1}', '{"a": 1}'),
        ('{"a": "\\ud8', '{"a": "\\ud8'),
    ],
)
def test_escapes_in_arguments_are_mended_too(text: str, clean_text: str) -> None:
    assert scrub_json(text) == clean_text


def ended(parts: list[ModelResponsePart], whole: bool) -> ModelResponse:
    return ModelResponse(parts=parts, timestamp=AT, state="complete" if whole else "interrupted")


words = st.sampled_from(["hi", " ", "", "\u200b", "x\0", "\ud83d"])
ids = st.sampled_from(["a", "b"])
request_parts = st.one_of(
    words.map(lambda text: UserPromptPart(text, timestamp=AT)),
    st.builds(result, ids, st.one_of(words, st.none(), st.just({"k": "v"}))),
)
response_parts = st.one_of(
    words.map(TextPart), words.map(ThinkingPart), st.builds(call, ids, st.sampled_from(["{}", "{", '{"a":"\\ud83d"}']))
)
messages = st.lists(
    st.one_of(
        st.lists(request_parts, max_size=3).map(lambda parts: ModelRequest(parts=parts, timestamp=AT)),
        st.builds(ended, st.lists(response_parts, max_size=3), st.booleans()),
    ),
    max_size=8,
)


@pytest.mark.requirement("LANE-14")
@given(messages)
def test_whatever_was_stored_what_is_shown_is_valid(made: list[ModelMessage]) -> None:
    stored = [message for message in map(_storable, made) if message is not None]
    kept = shown(stored)
    assert not kept or begins_turn(kept[0])
    opening = history.opening(kept, [UserPromptPart("next", timestamp=AT)])
    assert opening is not None
    sent = [*kept, opening]
    for before, message in zip([None, *sent], sent, strict=False):
        _assert_valid(before, message)
    assert shown(sent) == sent


def _storable(message: ModelMessage) -> ModelMessage | None:
    """Half of what is generated cannot even be written as JSON; the writer cleans before it stores."""
    try:
        history.draft(message)
    except ValueError:
        return clean(message)
    return message


def _assert_valid(before: ModelMessage | None, message: ModelMessage) -> None:
    assert message.parts
    if isinstance(message, ModelResponse):
        assert any(isinstance(part, TextPart | ToolCallPart) for part in message.parts)
        assert all(not is_blank(part.content) for part in message.parts if isinstance(part, TextPart))
        return
    calls = before.tool_calls if isinstance(before, ModelResponse) else []
    given = [answered for part in message.parts if (answered := answered_call(part)) is not None]
    assert sorted(given) == sorted(part.tool_call_id for part in calls)
    for part in message.parts:
        if isinstance(part, UserPromptPart | ToolReturnPart) and isinstance(part.content, str):
            assert not is_blank(part.content)
