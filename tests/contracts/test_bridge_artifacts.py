"""What the captain's tools keep is what the bridge reads, under the name that the model was told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_bridge.artifacts import AttachmentRoot
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.core.artifacts import NAME_CHARS, Picture, picture, place
from clankie_captain.core.artifacts import MADE, Made, artifact
from clankie_captain.core.run import Answered, Draft, Finish, Order
from clankie_captain.media.artifacts import ArtifactFolder
from clankie_captain.ports import RunLine
from clankie_settings.wire.result import Replied
from tests.captain.api.running import PATIENCE_S, RunningCaptain
from tests.captain.core.speech import trigger
from tests.contracts.test_bridge_client import connected

DATA = b"\x89PNG\r\n\x1a\n a drawing"
TYPES = st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"])


@pytest.mark.requirement("ART-1", "ART-3", "WIRE-8")
async def test_a_picture_of_a_reply_is_read_by_the_bridge_from_where_the_captain_keeps_it(
    captain: RunningCaptain, tmp_path: Path
) -> None:
    root = tmp_path / "attachments"
    kept = await ArtifactFolder(root, "diagrams").keep(DATA, "image/png", "Who calls whom?")

    async def script(_order: Order, line: RunLine) -> Finish:
        await line.record([Draft("response", "{}")])
        return Answered("Here it is.", (kept,))

    captain.loop.script = script
    async with connected(captain) as connection:
        result = await CaptainTurns(connection).hand_over(trigger(), wait_s=int(PATIENCE_S))
    assert isinstance(result, Replied)
    assert result.artifacts == (kept,)
    assert await AttachmentRoot(root).read(result.artifacts[0]) == Picture(kept.filename, "image/png", DATA)


@pytest.mark.requirement("ART-3", "ART-4")
@given(title=st.text(max_size=200), media_type=TYPES, folder=st.sampled_from(MADE))
def test_whatever_the_captain_names_passes_the_bridge_unchanged(title: str, media_type: str, folder: Made) -> None:
    """C68."""
    made = artifact(folder, DATA, media_type, title)
    assert place(made.ref) is not None
    assert picture(made, DATA) == Picture(made.filename, media_type, DATA)
    assert len(made.filename) <= NAME_CHARS
