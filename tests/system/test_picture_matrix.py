"""What people post, under every claim and served as every type: the provider takes it, or it is counted. IMG-3."""

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from clankie_bridge.core.addressing import Address
from clankie_bridge.core.handover import Heard, Place, trigger
from clankie_bridge.discord import normalize
from clankie_captain.core.exhibits import note
from clankie_captain.core.pictures import Cause, Pictures, Shown, Unseen, shares
from clankie_captain.media.film_program import film_program
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from clankie_settings.wire.attachment import AttachmentsOmitted
from clankie_settings.wire.trigger import Trigger
from clankie_stage.provider.records import Record
from tests.bridge.core.builders import ANN, GUILD, IDENTITY
from tests.captain.media.filming import Studio
from tests.captain.media.listening import Listener, listening, response
from tests.system.house import PATIENT, House, bare_house
from tests.system.pictures import seen
from tests.system.posted_files import Posted, all_posted, in_messages
from tests.system.scene import prompt

AT_ONCE = 6
"""Messages whose answers are waited for together: more than the decoders can keep up with."""

FIRST_MESSAGE = 1_400_000_000_000_000_000


def handed(number: int, files: Sequence[Posted]) -> Trigger:
    """What the bridge makes of a message with these files, in a room of its own."""
    payload = {
        "id": str(FIRST_MESSAGE + number),
        "channel_id": str(5_000 + number),
        "guild_id": GUILD,
        "author": {"id": ANN, "username": "Ann"},
        "content": f"Clankie, look (message-{number}.)",
        "attachments": [each.payload for each in files],
    }
    message = normalize.message(payload)
    assert message is not None
    made = trigger(Heard(message, Address("mention", addressed=True)), IDENTITY, Place(), PresenceId("discord"))
    assert [each.id for each in made.attachments] == [str(each.number) for each in files if each.comes]
    assert made.attachments_omitted == AttachmentsOmitted(unsupported=sum(not each.comes for each in files))
    return made


async def answered(house: House, made: Trigger) -> None:
    """Hand a message over, and wait until it has its reply."""
    headers = {"Authorization": f"Bearer {house.token()}", "Prefer": "wait=60"}
    document = made.model_dump_json(exclude_none=True)
    said = (await house.captain.post("/v1/turns", content=document, headers=headers)).json()
    while said["state"] in ("queued", "running"):
        said = await house.result(made.delivery_id, wait_s=60)
    assert said["state"] == "replied", said


def check(made: Trigger, files: Sequence[Posted], records: Sequence[Record]) -> None:
    """One request, which the provider took, with the parts and the counts that these files should have."""
    mark = made.body or ""
    (record,) = [each for each in records if mark.encode() in each.raw]
    assert record.refused == ""
    fates: list[int | Cause] = [each.fate for each in files if each.comes]
    parts = [fate for fate in fates if isinstance(fate, int)]
    unseen = tuple(Unseen("message", fate) for fate in fates if not isinstance(fate, int))
    told = note(made, Pictures(tuple(Shown("message", ()) for _ in parts), unseen), ())
    assert told in prompt(record), (told, [(each.name, each.claim, each.served, each.fate) for each in files])
    sizes = seen(record)
    assert len(sizes) == sum(shares(parts))
    assert all(max(size) <= bounds.PICTURE_SIDE for size in sizes)


def memory(pid: int, line: str) -> int:
    """What Linux says of a process's memory, in bytes: ``VmRSS`` now, ``VmHWM`` the most that it ever had."""
    status = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    (found,) = [each for each in status if each.startswith(f"{line}:")]
    return int(found.split()[1]) * 1024


@pytest.mark.system
@pytest.mark.requirement("IMG-1", "IMG-2", "IMG-3", "IMG-4", "IMG-5")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's highest use of memory")
async def test_whatever_is_posted_the_provider_takes_it_or_it_is_counted_and_the_captain_stays_small(
    tmp_path: Path,
) -> None:
    """C03, C13, C23, C29, C32, C55, C59: the bytes decide, whatever is claimed and however it is served."""
    program = film_program()
    assert program is not None, "install the machine's ffmpeg, or the captain's extra that carries one"
    posted = all_posted(Studio(program, tmp_path).colours("red", "lime"))
    at = {each.path: each for each in posted}
    messages = [(handed(number, files), files) for number, files in enumerate(in_messages(posted))]
    fetched = Counter[str]()

    async def serve(_: StreamReader, writer: StreamWriter) -> None:
        # Its head is the newest: nothing else runs between its arrival and this.
        path = cdn.heads[-1].split()[1].partition("?")[0]
        fetched[path] += 1
        writer.write(response(at[path].data, content_type=at[path].served))
        await writer.drain()

    cdn: Listener
    async with (
        listening(serve) as cdn,
        bare_house(tmp_path, PATIENT, CLANKIE_CDN_LOOPBACK=cdn.address) as house,
    ):
        await house.start_captain()
        await house.provider.habits(pace=0)
        captain = house.programs["captain"].pid
        before, done = memory(captain, "VmRSS"), 0
        for first in range(0, len(messages), AT_ONCE):
            together = messages[first : first + AT_ONCE]
            await asyncio.gather(*(answered(house, made) for made, _ in together))
            records = await house.provider.records(done)
            done += len(records)
            for made, files in together:
                check(made, files, records)
        assert memory(captain, "VmHWM") - before < bounds.CAPTAIN_GROWTH
        await house.until(lambda: not psutil.Process(captain).children() or None, "every worker has ended")
    assert fetched == Counter(each.path for each in posted if each.comes)
