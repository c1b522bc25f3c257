"""What a program wrote, as the model reads it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.printing import readable, shortened

pytestmark = pytest.mark.requirement("GRANT-4")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m \x1b[2Kplain", "red plain"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        (b"10%\r20%\r\ndone\n", "10%\n20%\ndone\n"),
        (b"a\x00b\x08c\x7f\td", "abc\td"),
        ("ä\u202ex\u200b✓".encode(), "äx✓"),
        (b"\xff\xfe \xe4", "\ufffd\ufffd \ufffd"),
        (b"\x1b]0;never closed", ""),
    ],
)
def test_output_is_plain_text(data: bytes, text: str) -> None:
    assert readable(data) == text


@given(st.binary())
def test_no_output_holds_what_a_terminal_obeys(data: bytes) -> None:
    assert all(each in "\n\t" or unicodedata.category(each) != "Cc" for each in readable(data))


def test_a_middle_that_is_left_out_is_said() -> None:
    assert shortened(b"one\n", b"two\n", 0) == "one\ntwo\n"
    assert shortened(b"one", b"two", 7) == "one\n[… 7 bytes are left out here …]\ntwo"
