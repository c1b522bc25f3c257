"""What a person reads of turns, events and entries, with nothing in it that could move the cursor."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_cli import entry, exits, happening, outcome
from clankie_cli.plain import plain, plain_lines

ESCAPE = "\x1b[2J\x07evil\x9b1m\u202e"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("result", "shown", "code"),
    [
        ({"state": "replied", "text": "a\nb"}, ("a\nb", None), exits.DONE),
        (
            {"state": "absorbed", "answered_by": "x"},
            (None, "heard by the run of x, whose reply answers it"),
            exits.DONE,
        ),
        ({"state": "silent"}, (None, "he read it, and chose not to speak"), exits.DONE),
        ({"state": "failed", "code": "captain_turn_stalled"}, (None, "failed: captain_turn_stalled"), exits.FAILED),
    ],
)
def test_each_result_has_its_words_and_its_exit_code(
    result: dict[str, Any], shown: tuple[str | None, str | None], code: int
) -> None:
    assert outcome.words(result) == shown
    assert outcome.code_of(result) == code


def test_a_result_of_a_later_version_says_what_to_upgrade() -> None:
    assert "upgrade" in str(outcome.words({"state": "postponed"})[1])


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("accepted", {"run_receipt": "c-1", "text": "hi\nthere", "delivery": "queue"}, "you (queue)  hi    [c-1]"),
        ("accepted", {"run_receipt": "c-1", "text": "hi", "delivery": "auto"}, "you          hi    [c-1]"),
        ("said", {"text": "hello"}, "clankie      hello"),
        ("settled", {"run_receipt": "c-1", "state": "failed", "code": "x"}, "           · failed: x    [c-1]"),
        ("settled", {"run_receipt": "c-1", "state": "replied"}, "           · replied    [c-1]"),
        ("tool", {"run_receipt": "c-1", "tool": "web", "state": "started"}, "           · tool web: started    [c-1]"),
    ],
)
def test_each_event_has_its_line(name: str, data: dict[str, Any], line: str) -> None:
    assert str(happening.shown(name, data)).split("\n")[0] == line


def test_single_tokens_are_for_programs_alone() -> None:
    assert happening.shown("token", {"text": "a"}) is None


@pytest.mark.parametrize(
    ("kind", "payload", "part"),
    [
        (
            "heard",
            {"actor": {"display_name": "Ann"}, "body": "hello", "attachments": [{"id": "1"}]},
            "Ann: hello (1 picture)",
        ),
        ("said", {"text": "hi"}, "hi"),
        ("broken", {"code": "captain_model_failed", "cause": "X", "words": "y"}, "captain_model_failed (X) y"),
        ("response", {"parts": [{"part_kind": "tool-call", "tool_name": "web"}]}, "calls web"),
        ("request", {"parts": [{"part_kind": "tool-return", "tool_name": "web"}]}, "result of web"),
        (
            "response",
            {"parts": [{"part_kind": "tool-call", "tool_name": "run_command", "args": {"command": "ls /ä"}}]},
            'calls run_command: {"command": "ls /ä"}',
        ),
        (
            "request",
            {"parts": [{"part_kind": "tool-return", "tool_name": "run_command", "content": "Exit code 0."}]},
            "result of run_command: Exit code 0.",
        ),
        (
            "request",
            {"parts": [{"part_kind": "user-prompt", "content": ["a", {"kind": "binary"}]}]},
            "words and pictures",
        ),
    ],
)
def test_each_entry_says_what_it_is(kind: str, payload: dict[str, Any], part: str) -> None:
    shown = entry.shown({"seq": 12, "kind": kind, "payload": payload})
    assert shown.startswith(f"   12 {kind}")
    assert part in shown


PART = st.fixed_dictionaries(
    {"part_kind": st.sampled_from(["text", "tool-call", "user-prompt", "new"]), "content": JSON}
)
PAYLOAD = st.fixed_dictionaries(
    {}, optional={"parts": JSON | st.lists(PART), "attachments": JSON, "actor": JSON, "text": JSON, "body": JSON}
)


@given(PAYLOAD | JSON)
def test_whatever_an_entry_holds_is_shown_without_a_fault(payload: object) -> None:
    for known in ("heard", "said", "broken", "settled", "request", "other"):
        shown = entry.shown({"seq": 1, "kind": known, "payload": payload})
        assert all(char.isprintable() for line in shown.split("\n") for char in line)


def test_nothing_that_anybody_wrote_moves_the_cursor() -> None:
    lines = [
        plain(ESCAPE),
        plain_lines(ESCAPE),
        str(outcome.words({"state": "replied", "text": ESCAPE})[0]),
        str(happening.shown("said", {"text": ESCAPE})),
        str(happening.shown("tool", {"tool": ESCAPE})),
        entry.shown({"seq": 1, "kind": "said", "payload": {"text": ESCAPE}}),
    ]
    assert all(char.isprintable() for line in lines for char in line)


def test_an_entry_says_when_it_was_written() -> None:
    written = {"seq": 7, "at": "2026-01-02T03:04:05.678901+00:00", "kind": "said", "payload": {"text": "Hello."}}
    assert entry.shown(written) == "    7 2026-01-02 03:04:05 said       Hello."
