"""A delivery's pictures: what is shown, what is counted, and that one which fails costs itself alone."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clankie_captain.core.pictures import Cause, Decoded, Part, Pictures, Stored, Undecodable, Unseen
from clankie_captain.media.fetch import Unfetched
from clankie_captain.media.resolver import BlindResolver, StoringResolver
from clankie_settings.wire.attachment import Attachment
from clankie_settings.wire.trigger import ContextMessage, ContextVisual, Trigger
from tests.captain.core.speech import NOON, trigger

BEFORE = ContextMessage(message_id="399", author_id="12", author_name="Bob", body="see", sent_at=NOON)


class Cdn:
    """Addresses and what they give; an address that is not there gives its own name as bytes."""

    def __init__(self, answers: Mapping[str, bytes | Cause | Exception] | None = None) -> None:
        self._answers = answers or {}
        self.asked: list[str] = []
        self.open = 0
        self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrivals = asyncio.Queue[str]()

    async def fetch(self, address: str) -> bytes | Unfetched:
        self.asked.append(address)
        self.arrivals.put_nowait(address)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
        finally:
            self.open -= 1
        match self._answers.get(address, address.encode()):
            case bytes(data):
                return data
            case Exception() as error:
                raise error
            case cause:
                return Unfetched(cause)


class Decoding:
    """Bytes of the form ``name*N`` are N frames; ``!cause`` cannot be decoded."""

    async def decode(self, data: bytes, most: int) -> Decoded | Undecodable:
        text = data.decode()
        if text.startswith("!"):
            return Undecodable(text[1:])  # pyright: ignore[reportArgumentType] -- one of the causes
        name, _, frames = text.partition("*")
        count = min(int(frames or 1), most)
        return Decoded(tuple(Part(f"{name}/{at}".encode(), "image/png", 2, 1) for at in range(count)))


class Memory:
    """A shelf in memory, which may be full."""

    def __init__(self, full: Callable[[], bool] = lambda: False) -> None:
        self.kept: dict[str, bytes] = {}
        self._full = full

    async def put(self, part: Part) -> Stored:
        if self._full():
            raise OSError(28, "No space left on device")
        digest = hashlib.sha256(part.data).hexdigest()
        self.kept[digest] = part.data
        return Stored(digest, part.media_type, part.width, part.height, len(part.data))


def picture(name: str, motion: str | None = None) -> Attachment:
    return Attachment(
        id=name,
        url=f"https://cdn/{name}",
        motion_url=f"https://cdn/{motion}" if motion else None,
        media_type="image/png",
    )


def posted(*pictures: Attachment, context: Attachment | None = None, **more: Any) -> Trigger:
    given: dict[str, Any] = {"attachments": pictures, **more}
    if context is not None:
        given |= {"context": (BEFORE,), "context_visual": ContextVisual(message_id="399", attachment=context)}
    return trigger("400", "look", **given)


async def seen(message: Trigger, cdn: Cdn | None = None) -> tuple[list[tuple[str, list[str], bool]], list[Unseen]]:
    """What is shown, by the names of its parts, and what is not."""
    shelf = Memory()
    pictures = await StoringResolver(cdn or Cdn(), Decoding(), shelf).resolve(message)
    shown = [
        (
            each.origin,
            [shelf.kept[part.digest].decode().removeprefix("https://cdn/") for part in each.parts],
            each.still,
        )
        for each in pictures.shown
    ]
    return shown, [*pictures.unseen]


async def test_words_alone_fetch_nothing() -> None:
    cdn = Cdn()
    assert await StoringResolver(cdn, Decoding(), Memory()).resolve(trigger()) == Pictures()
    assert cdn.asked == []


@pytest.mark.requirement("CTX-5")
async def test_a_messages_pictures_come_in_their_order_and_the_talks_one_after_them() -> None:
    cdn = Cdn()
    shown, unseen = await seen(posted(picture("a"), picture("b"), context=picture("c")), cdn)
    assert shown == [("message", ["a/0"], False), ("message", ["b/0"], False), ("context", ["c/0"], False)]
    assert unseen == []
    assert sorted(cdn.asked) == ["https://cdn/a", "https://cdn/b", "https://cdn/c"]


@pytest.mark.requirement("IMG-4")
@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("expired", "expired"),
        ("timed_out", "timed_out"),
        (b"!broken", "broken"),
        (b"!too_large", "too_large"),
        (b"nothing*0", "broken"),
        (RuntimeError("a fault of our own"), "unavailable"),
    ],
)
async def test_a_picture_that_fails_costs_itself_alone(answer: bytes | Cause | Exception, cause: Cause) -> None:
    shown, unseen = await seen(posted(picture("a"), picture("b"), picture("c")), Cdn({"https://cdn/b": answer}))
    assert [names for _, names, _ in shown] == [["a/0"], ["c/0"]]
    assert unseen == [Unseen("message", cause)]


@pytest.mark.requirement("IMG-4", "IMG-7")
async def test_a_disk_that_takes_nothing_costs_the_pictures_and_not_the_turn() -> None:
    pictures = await StoringResolver(Cdn(), Decoding(), Memory(lambda: True)).resolve(posted(picture("a")))
    assert pictures == Pictures(unseen=(Unseen("message", "unavailable"),))


@pytest.mark.requirement("IMG-5")
async def test_something_that_moves_is_shown_by_its_frames_without_asking_for_its_preview() -> None:
    cdn = Cdn({"https://cdn/film": b"film*4"})
    assert await seen(posted(picture("preview", "film")), cdn) == (
        [("message", ["film/0", "film/1", "film/2", "film/3"], False)],
        [],
    )
    assert cdn.asked == ["https://cdn/film"]


@pytest.mark.requirement("IMG-5")
@pytest.mark.parametrize("film", ["unreachable", b"!broken", b"!unavailable"])
async def test_the_preview_stands_in_for_a_film_that_cannot_be_shown(film: bytes | Cause) -> None:
    shown, unseen = await seen(posted(picture("preview", "film")), Cdn({"https://cdn/film": film}))
    assert shown == [("message", ["preview/0"], True)]
    assert unseen == []


@pytest.mark.requirement("IMG-4")
async def test_a_film_whose_preview_fails_as_well_is_counted_once() -> None:
    cdn = Cdn({"https://cdn/film": "unreachable", "https://cdn/preview": "expired"})
    assert await seen(posted(picture("preview", "film")), cdn) == ([], [Unseen("message", "expired")])


@pytest.mark.requirement("IMG-5")
async def test_each_source_has_one_part_before_frames_share_what_is_left() -> None:
    """C59."""
    cdn = Cdn({"https://cdn/a": b"a*4", "https://cdn/c": b"c*4", "https://cdn/d": b"d*4"})
    shown, _ = await seen(posted(picture("a"), picture("b"), picture("c"), picture("d")), cdn)
    assert [names for _, names, _ in shown] == [["a/0", "a/1", "a/3"], ["b/0"], ["c/0", "c/3"], ["d/0", "d/3"]]


@pytest.mark.requirement("IMG-5")
async def test_a_fifth_picture_is_not_even_fetched_and_counted() -> None:
    cdn = Cdn()
    shown, unseen = await seen(posted(*(picture(name) for name in "abcd"), context=picture("e")), cdn)
    assert [origin for origin, *_ in shown] == ["message"] * 4
    assert unseen == [Unseen("context", "over_limit")]
    assert "https://cdn/e" not in cdn.asked


@pytest.mark.requirement("IMG-2")
async def test_no_more_than_so_many_are_worked_on_at_a_time_over_all_rooms() -> None:
    cdn = Cdn()
    resolver = StoringResolver(cdn, Decoding(), Memory(), most=3)
    messages = [posted(*(picture(f"{room}-{at}") for at in range(4))) for room in range(5)]
    found = await asyncio.gather(*(resolver.resolve(each) for each in messages))
    assert [len(each.shown) for each in found] == [4] * 5
    assert cdn.most == 3


async def test_pictures_that_are_given_up_are_let_go() -> None:
    cdn = Cdn()
    cdn.gate.clear()
    task = asyncio.create_task(StoringResolver(cdn, Decoding(), Memory()).resolve(posted(picture("a"), picture("b"))))
    for _ in range(2):
        await asyncio.wait_for(cdn.arrivals.get(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cdn.open == 0


@pytest.mark.requirement("IMG-8")
async def test_with_pictures_off_all_are_counted_and_nothing_is_fetched() -> None:
    pictures = await BlindResolver().resolve(posted(picture("a"), picture("b"), context=picture("c")))
    assert pictures.shown == ()
    assert pictures.unseen == (Unseen("message", "off"), Unseen("message", "off"), Unseen("context", "off"))
