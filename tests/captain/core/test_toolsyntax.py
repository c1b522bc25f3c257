"""Tool calls that a model wrote into its answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.toolsyntax import without_written_calls

UPDATE = "send_text_update"
INPUT = '{"name": "send_text_update", "arguments": {"text": "soon"}}'

CALLS: dict[str, str] = {
    "a tag around JSON": f"<tool_call>\n{INPUT}\n</tool_call>",
    "several tags": f"<tool_call>{INPUT}</tool_call>\n<tool_call>{INPUT}</tool_call>",
    "a tag that is never closed": f"<tool_call>\n{INPUT}",
    "an opening tag alone": "<tool_call>",
    "a closing tag alone": "</tool_call>",
    "function calls of invocations": (
        '<function_calls>\n<invoke name="send_text_update">\n'
        '<parameter name="text">soon</parameter>\n</invoke>\n</function_calls>'
    ),
    "the same, cut off": '<function_calls>\n<invoke name="send_text_update">\n<parameter name="text">so',
    "tags with a prefix": '<x:function_calls><x:invoke name="a"></x:invoke></x:function_calls>',
    "an invocation alone": '<invoke name="a"><parameter name="b">c</parameter></invoke>',
    "an invented result": "<tool_response>\nfine\n</tool_response>",
    "a tag around a name and keys": "<tool_call>send_text_update\n<arg_key>text</arg_key></tool_call>",
    "a function tag": '<function=send_text_update>{"text": "soon"}</function>',
    "a function tag that is never closed": '<function=send_text_update>{"text"',
    "tags with spaces inside": "<tool_use >{}</tool_use>",
    "control tokens with wide bars": (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>a\n"
        "{}<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
    ),
    "control tokens of a section": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "control tokens around a list": f"<|tool_call|>[{INPUT}]<|/tool_call|>",
    "a channel to a function": '<|channel|>commentary to=functions.a <|constrain|>json<|message|>{"b":1}<|call|>',
    "a channel from its start": "<|start|>assistant<|channel|>commentary to=functions.a<|message|>{}",
    "a python tag": "<|python_tag|>a.call(x=1)<|eom_id|>",
    "a list behind a marker": f"[TOOL_CALLS] [{INPUT}]",
    "JSON alone": INPUT,
    "JSON over several lines": '{\n  "name": "a",\n  "parameters": {\n    "b": "c"\n  }\n}',
    "JSON with an id": '{"id": "1", "type": "tool_use", "name": "a", "input": {}}',
    "JSON as OpenAI nests it": '{"type": "function", "function": {"name": "a", "arguments": {}}}',
    "JSON of a list of calls": f"[{INPUT}, {INPUT}]",
    "JSON of calls under a key": f'{{"tool_calls": [{INPUT}]}}',
    "JSON one a line": f"{INPUT}\n{INPUT},",
    "JSON of an action": '{"action": "a", "action_input": {"b": 1}}',
    "JSON with back-ticks in it": '{"name": "a", "arguments": {"text": "say `hi`"}}',
    "a block that is labelled as a call": f"```tool_call\n{INPUT}\n```",
    "a block of tool code": "```tool_code\nprint(a())\n```",
    "a labelled block that is never closed": "~~~ tool_call \n{",
}


@pytest.mark.requirement("ROOM-7")
@pytest.mark.parametrize("written", CALLS.values(), ids=CALLS.keys())
def test_a_written_call_is_taken_away_and_the_words_around_it_stay(written: str) -> None:
    assert without_written_calls(written) == ""
    assert without_written_calls(f"Let me look.\n\n{written}") == "Let me look."
    assert without_written_calls(written) != written


@pytest.mark.requirement("ROOM-7")
def test_words_on_both_sides_of_a_call_stay_apart() -> None:
    assert without_written_calls(f"One.\n\n<tool_call>{INPUT}</tool_call>\n\nTwo.") == "One.\n\nTwo."
    assert without_written_calls(f"One.\n{INPUT}\nTwo.") == "One.\n\nTwo."
    assert without_written_calls(f"Wait <tool_call>{INPUT}</tool_call> here") == "Wait  here"


QUOTED: dict[str, str] = {
    "nothing": "",
    "plain words": "Hello there.",
    "a code block": f"Write it so:\n```xml\n<tool_call>\n{INPUT}\n</tool_call>\n```\nThen wait.",
    "a code block of JSON": f"```json\n{INPUT}\n```",
    "a code block that is never closed": f"```\n{INPUT}",
    "a code block of tildes": f"~~~\n{INPUT}\n~~~",
    "a code block in a longer fence": f"````\n```\n{INPUT}\n```\n````",
    "back-ticks": "The tag is `<tool_call>` and `</tool_call>` ends it.",
    "a sentence that names the tag": "The tag <tool_call> begins a call.",
    "a sentence that ends in the tag": "The tag is <tool_call>",
    "a sentence between the tags": "It is <tool_call>your words</tool_call>, they say.",
    "a line that begins with the tag": "<tool_call> is the tag that begins it.",
    "another tag": "<tool_caller>x</tool_caller>",
    "HTML": "<invoker>\n<b>hi</b>",
    "JSON of a person": '{"name": "Ann", "age": 7}',
    "JSON with a name alone": '{"name": "send_text_update"}',
    "JSON of a name and words": '{"name": "Bob", "input": "hello"}',
    "JSON of a name that is no tool's": '{"name": "Ann and Bob", "arguments": {}}',
    "JSON of a numbered name": '{"name": 7, "arguments": {}}',
    "JSON with more in it": '{"name": "a", "arguments": {}, "note": "x"}',
    "JSON within a line": f"It sends {INPUT} to the server.",
    "JSON with words behind it": f"{INPUT} is what it sends.",
    "JSON that is none": '{"name": "a", "arguments": {}',
    "an empty list": "[]",
    "a list of numbers": "[1, 2]",
    "a call within other data": f'{{"log": [\n{INPUT}\n], "ok": true}}',
    "deep nesting": "[" * 5_000,
    "a line of Python": "send_text_update(text='x')",
    "many blank lines": "a\n\n\n\nb",
    "a NUL": "a\0b",
}


@pytest.mark.requirement("ROOM-7")
@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED.keys())
def test_what_is_quoted_or_only_looks_alike_stays_as_it_is(text: str) -> None:
    assert without_written_calls(text) == text
    assert without_written_calls(text) == text


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "send_text_update"}',
        '{"name": "send_text_update", "arguments": "{}"}',
        '{"tool": "send_text_update"}',
        "send_text_update(text='soon')",
        "[send_text_update(text='soon')]",
        'functions.send_text_update({"text": "soon"})',
    ],
)
def test_with_the_names_of_the_tools_more_is_known_as_a_call(written: str) -> None:
    assert without_written_calls(written, [UPDATE]) == ""
    assert without_written_calls(f"Ok.\n{written}", [UPDATE]) == "Ok."
    assert without_written_calls(written) == without_written_calls(written, ["other"]) == written
    assert without_written_calls(f"Call {UPDATE}(text) so.", [UPDATE]) == f"Call {UPDATE}(text) so."


def test_quoted_text_beside_a_call_comes_back_in_its_place() -> None:
    text = 'Use `a`:\n```py\nx\n```\n<tool_call>{"text": "`lost`"}</tool_call>\nand `b`'
    assert without_written_calls(text) == "Use `a`:\n```py\nx\n```\n\nand `b`"


@given(st.lists(st.sampled_from([*CALLS.values(), *QUOTED.values(), "\n", " ", "`", "```\n", "\0", "0"]), max_size=8))
def test_nothing_is_ever_added(parts: list[str]) -> None:
    text = "".join(parts)
    left = without_written_calls(text, [UPDATE])
    if left != text:
        letters = iter(text)
        assert all(letter in letters for letter in left)


@pytest.mark.parametrize("part", ["<tool_call>", "x <tool_call> x", "{\n", "[\n", "```\n", "`", "<|python_tag|>", "<a"])
def test_a_flood_of_one_thing_takes_no_time_that_grows_with_its_square(part: str) -> None:
    def spent(times: int) -> float:
        started = time.process_time()
        without_written_calls(part * times, [UPDATE])
        return time.process_time() - started

    spent(100)
    assert spent(10_000) < 60 * spent(1_000) + 0.5
