"""Files that tools made, as a reply refers to them."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.artifacts import artifact, newest, place
from clankie_settings import bounds

pytestmark = pytest.mark.requirement("ART-2")

DIGEST = hashlib.sha256(b"a").hexdigest()


def test_a_reference_is_bound_to_the_bytes_and_to_the_tools_own_folder() -> None:
    made = artifact("diagrams", b"a", "image/png", "How it works")
    assert made.ref == f"sha256:{DIGEST}:diagrams/{DIGEST[:32]}.png"
    assert place(made.ref) == (DIGEST, "diagrams", f"{DIGEST[:32]}.png")
    assert (made.filename, made.media_type, made.byte_size) == (f"how-it-works-{DIGEST[:8]}.png", "image/png", 1)


@pytest.mark.requirement("ART-4")
@given(st.text(max_size=300), st.binary(min_size=1, max_size=8))
def test_a_shown_name_is_safe_short_and_unlike_that_of_other_bytes(title: str, data: bytes) -> None:
    made = artifact("diagrams", data, "image/png", title)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*-[0-9a-f]{8}\.png", made.filename)
    assert len(made.filename) <= bounds.ARTIFACT_NAME_CHARS
    assert made.filename != artifact("diagrams", data + b"x", "image/png", title).filename


@pytest.mark.parametrize(
    "title", ["", "../../etc/passwd", "日本語", "CON", ".hidden", "a/b\\c:d", "x" * 500, "\u202egnp.exe"]
)
@pytest.mark.requirement("ART-4")
def test_no_title_makes_a_path_a_hidden_file_or_a_second_suffix(title: str) -> None:
    name = artifact("diagrams", b"a", "image/jpeg", title).filename
    assert not set(name) & set('/\\: \x00"')
    assert not name.startswith((".", "-"))
    assert name.count(".") == 1
    assert name.endswith(".jpg")


@pytest.mark.requirement("LANE-10")
def test_a_reply_carries_the_newest_files_each_once_in_their_order() -> None:
    made = [artifact("diagrams", bytes([number]), "image/png", "x") for number in range(6)]
    assert newest([]) == ()
    assert newest(made[:2]) == (made[0], made[1])
    assert newest([*made, made[2]]) == (made[3], made[4], made[5], made[2])
