"""Pictures in what is sent: bytes for the moment of a request, their hash in the history, and refused ones gone."""

import base64
import hashlib
import itertools
from typing import Any

import pytest
from pydantic_ai.messages import ImageUrl, ModelRequest, ModelResponse, TextPart, UserPromptPart

from clankie_captain.agent import history, overflow, pictures
from clankie_captain.agent.history import Kept
from clankie_captain.core.pictures import Stored
from clankie_captain.core.run import Answered, Broken, Words
from clankie_captain.core.stand_ins import GONE, stand_in
from clankie_settings import bounds
from clankie_settings.ids import DeliveryId, RunId
from clankie_settings.wire.failure import FailureCode
from clankie_stage.provider import steps
from clankie_stage.provider.beats import Fail
from clankie_stage.provider.records import Record, extends
from tests.captain.agent.lane import Lane, Line
from tests.captain.agent.looking import CAPTION, looked, png
from tests.captain.agent.strict import Strict, refusals


def seen(record: Record) -> list[list[object]]:
    """Per message of a user what the provider was sent: texts, and bytes for pictures."""
    found: list[list[object]] = []
    for message in record.messages:
        content: Any = message["content"]
        if message["role"] == "user":
            found.append([content] if isinstance(content, str) else [_item(each) for each in content])
    return found


def _item(part: Any) -> object:
    match part["type"]:
        case "text":
            return part["text"]
        case "image":
            return base64.b64decode(part["source"]["data"])
        case "tool_result":
            return None
        case _:
            return base64.b64decode(part["image_url"]["url"].partition(",")[2])


@pytest.mark.requirement("IMG-6", "IMG-7", "LANE-13")
async def test_pictures_are_sent_as_bytes_and_kept_as_hashes(strict: Strict, lane: Lane) -> None:
    first, second = png(1), png(2)
    strict.brain.script(steps.text("Nice."), steps.text("Both."), steps.text("Yes."))
    await lane.hear(strict.loop(), looked(lane, "look", first))
    await lane.hear(strict.loop(), looked(lane, "and this", second, delivery="401"))
    assert await lane.run(strict.loop(), "remember?") == Answered("Yes.")
    records = await strict.ended(3)
    assert refusals(records) == []
    assert seen(records[2])[0] == ["look", CAPTION, first]
    assert seen(records[2])[1] == ["and this", CAPTION, second]
    assert all(extends(*pair) for pair in itertools.pairwise(records))
    stored = "".join(each.payload for each in lane.entries)
    assert hashlib.sha256(first).hexdigest() in stored
    assert base64.b64encode(first).decode() not in stored


@pytest.mark.requirement("IMG-6", "IMG-7", "LANE-3")
async def test_a_steered_picture_reaches_the_next_request_with_its_words(strict: Strict, lane: Lane) -> None:
    line = Line()

    async def somebody_shows() -> None:
        line.steered.append(looked(lane, "look", png(1)))
        line.while_updating = None

    line.while_updating = somebody_shows
    strict.brain.script(steps.calls(steps.call("send_text_update", {"text": "soon"})), steps.text("I see."))
    assert await lane.run(strict.loop(), "go", line=line) == Answered("I see.")
    records = await strict.ended(2)
    assert refusals(records) == []
    assert [each for each in seen(records[1])[-1] if isinstance(each, bytes)] == [png(1)]
    assert extends(*records)
    strict.brain.script(steps.text("Still."))
    await lane.run(strict.loop(), "again")
    assert extends(records[1], (await strict.ended(3))[2])


@pytest.mark.requirement("IMG-6")
async def test_words_without_pictures_are_plain_text(strict: Strict, lane: Lane) -> None:
    strict.brain.script(steps.text("Hi."))
    await lane.run(strict.loop(), "hello")
    assert '"content":"hello"' in lane.entries[0].payload
    plain = pictures.prompt(Words(DeliveryId("400"), "hello"))
    assert plain == "hello"


@pytest.mark.requirement("IMG-7", "LANE-14")
async def test_a_picture_whose_file_is_gone_is_words(strict: Strict, lane: Lane) -> None:
    strict.brain.script(steps.text("Nice."), steps.text("Hm."))
    await lane.hear(strict.loop(), looked(lane, "look", png(1)))
    lane.pictures.clear()
    assert await lane.run(strict.loop(), "and?") == Answered("Hm.")
    records = await strict.ended(2)
    assert refusals(records) == []
    assert seen(records[1])[0] == ["look", CAPTION, GONE]


@pytest.mark.requirement("LANE-14", "FAIL-6")
async def test_a_refused_picture_becomes_words_and_the_turn_is_tried_again_once(strict: Strict, lane: Lane) -> None:
    """C04."""
    line, good, bad = Line(), png(1), b"\x89PNG\r\n\x1a\n cut off"
    strict.brain.script(steps.text("Nice."))
    await lane.hear(strict.loop(), looked(lane, "look", good))
    strict.brain.script(steps.text("I cannot see the other one."), steps.text("Hello."))
    finish = await lane.hear(strict.loop(), looked(lane, "and this", bad, delivery="401"), line=line)
    assert finish == Answered("I cannot see the other one.")
    assert await lane.run(strict.loop(), "hello") == Answered("Hello.")
    records = await strict.ended(4)
    assert [bool(record.refused) for record in records] == [False, True, False, False]
    assert seen(records[2]) == [["look", CAPTION, good], ["and this", CAPTION, GONE]]
    assert extends(records[2], records[3])
    assert line.cuts == []


@pytest.mark.requirement("LANE-14", "FAIL-6")
@pytest.mark.parametrize(
    "fail",
    [
        Fail(400, "invalid_request_error", message="unknown variant `image_url`, expected `text`"),
        Fail(404, "not_found_error", message="No endpoints found that support image input"),
        Fail(422, "invalid_request_error", message="this model is not multimodal"),
    ],
)
async def test_a_model_that_sees_nothing_is_asked_without_any_picture(strict: Strict, lane: Lane, fail: Fail) -> None:
    """C04: the model was changed, and the history is full of pictures."""
    line = Line()
    strict.brain.script(steps.text("Nice."))
    await lane.hear(strict.loop(), looked(lane, "look", png(1)))
    strict.brain.script(steps.failed(fail))
    strict.brain.script(steps.text("Hello."), steps.text("Again."))
    assert await lane.run(strict.loop(), "hello", line=line) == Answered("Hello.")
    assert await lane.run(strict.loop(), "again") == Answered("Again.")
    records = await strict.ended(4)
    assert seen(records[3])[0] == ["look", CAPTION, GONE]
    assert len(line.unseen) == 1


@pytest.mark.requirement("LANE-14")
async def test_new_pictures_go_first_and_then_all_and_then_the_turn_fails(strict: Strict, lane: Lane) -> None:
    line = Line()
    strict.brain.script(steps.text("Nice."))
    await lane.hear(strict.loop(), looked(lane, "look", png(1)))
    strict.brain.script(*[steps.failed(steps.image_error())] * 3)
    finish = await lane.hear(strict.loop(), looked(lane, "this", png(2), delivery="401"), line=line)
    assert isinstance(finish, Broken)
    assert finish.code == FailureCode.CAPTAIN_MODEL_FAILED
    assert [each.rpartition("/")[2] for each in line.unseen] == ["401", "400"]
    assert len(await strict.ended(4)) == 4


@pytest.mark.requirement("LANE-14")
@pytest.mark.parametrize(
    "fail",
    [
        Fail(400, "invalid_request_error", message="max_tokens: too many for this model"),
        Fail(404, "not_found_error", message="model: gpt-image-vision"),
        Fail(401, "authentication_error", message="bad key for the image service"),
        Fail(500, "api_error", message="image worker crashed"),
    ],
)
async def test_a_refusal_of_anything_else_costs_no_picture(strict: Strict, lane: Lane, fail: Fail) -> None:
    line = Line()
    strict.brain.script(*[steps.failed(fail)] * 8)
    assert isinstance(await lane.hear(strict.loop(), looked(lane, "look", png(1)), line=line), Broken)
    assert line.unseen == []


@pytest.mark.requirement("LANE-14")
async def test_where_everything_together_is_too_much_older_pictures_go_first(strict: Strict, lane: Lane) -> None:
    line = Line()
    strict.brain.script(steps.text("Nice."), steps.failed(steps.size_error()), steps.text("I see."))
    await lane.hear(strict.loop(), looked(lane, "look", png(1)))
    new = looked(lane, "this", png(2), delivery="401")
    assert await lane.hear(strict.loop(), new, line=line) == Answered("I see.")
    assert seen((await strict.ended(3))[2]) == [["look", CAPTION, GONE], ["this", CAPTION, png(2)]]


@pytest.mark.requirement("LANE-14")
async def test_a_lane_full_of_pictures_stays_within_what_a_provider_takes(strict: Strict, lane: Lane) -> None:
    """C32."""
    large = 1_500_000
    strict.brain.script(*[steps.text("Nice.")] * 5)
    for number in range(5):
        shown = looked(lane, f"look {number}", png(number, large), delivery=str(400 + number))
        assert await lane.hear(strict.loop(), shown) == Answered("Nice.")
    records = await strict.ended(5)
    assert refusals(records) == []
    sizes = [sum(len(each) for said in seen(record) for each in said if isinstance(each, bytes)) for record in records]
    assert max(sizes) <= bounds.PICTURE_REQUEST_BYTES
    kept = [each for said in seen(records[-1]) for each in said if isinstance(each, bytes)]
    assert kept == [png(3, large), png(4, large)]
    # Only once did anything go, so that the provider's cache was lost only once.
    assert sum(not extends(*pair) for pair in itertools.pairwise(records)) == 1


@pytest.mark.requirement("LANE-14")
def test_what_is_unseen_in_memory_is_what_is_stored_without_it() -> None:
    part, other = Stored("a" * 64, "image/png", 1, 1, 9), Stored("b" * 64, "image/png", 1, 1, 9)
    shown = Words(DeliveryId("400"), "look", (CAPTION, part, CAPTION, other))
    message = ModelRequest([UserPromptPart(pictures.prompt(shown))])
    gone = {stand_in(part, shown.delivery)}
    changed = pictures.without(message, gone)
    assert pictures.shown_in(changed) == [stand_in(other, shown.delivery)]
    line = Line()
    assert pictures.without(changed, gone) is changed
    assert line.unseen == []
    assert history.message(history.draft(changed).payload) == changed


@pytest.mark.requirement("CTX-8")
def test_a_picture_counts_for_what_it_costs_where_a_history_is_cut() -> None:
    old, own = RunId("old"), RunId("own")
    shown = Words(DeliveryId("400"), "look", (CAPTION, Stored("a" * 64, "image/png", 1, 1, 9)))
    said = [pictures.prompt(shown), "b" * 3_000, "c" * 3_000, "d"]
    kept: list[Kept] = []
    for place, content in enumerate(said):
        run = own if place == 3 else old
        kept += [Kept(ModelRequest([UserPromptPart(content)]), run, 2 * place)]
        kept += [Kept(ModelResponse([TextPart("yes")]), run, 2 * place + 1)]
    assert overflow.boundary(kept, own) == 2


@pytest.mark.requirement("IMG-2")
async def test_an_address_that_stands_for_no_picture_is_never_sent() -> None:
    asked: list[str] = []

    async def nothing(digest: str) -> bytes | None:
        asked.append(digest)
        return None

    message = ModelRequest([UserPromptPart(["look", ImageUrl("https://example.org/a.png")])])
    (sent,) = await pictures.filled([message], nothing)
    assert [part.content for part in sent.parts if isinstance(part, UserPromptPart)] == [["look", GONE]]
    assert asked == []
