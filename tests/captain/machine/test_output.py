"""Of a command's output beginning and end are kept, however it comes."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.machine.output import Output


async def heard(pieces: list[bytes], most: int, flood: int) -> tuple[Output, bool]:
    output, source = Output(most), asyncio.StreamReader()
    for piece in pieces:
        source.feed_data(piece)
    source.feed_eof()
    return output, await output.listen(source, flood)


@pytest.mark.requirement("GRANT-4")
@given(st.lists(st.text("abc", max_size=30).map(str.encode), max_size=12), st.integers(1, 10))
def test_beginning_and_end_are_kept_and_the_rest_is_counted(pieces: list[bytes], half: int) -> None:
    whole = b"".join(pieces)
    output, ended = asyncio.run(heard(pieces, half * 2, 10_000))
    missing = max(0, len(whole) - half * 2)
    assert (ended, output.size, output.cut) == (True, len(whole), missing)
    if missing:
        assert output.text().startswith(f"{whole[:half].decode()}\n[… {missing} bytes")
        assert output.text().endswith(f"…]\n{whole[len(whole) - half :].decode()}")
    else:
        assert output.text() == whole.decode()


async def test_a_flood_is_not_heard_to_its_end() -> None:
    output, ended = await heard([b"x" * 100] * 5, 20, 200)
    assert not ended
    assert output.size > 200
