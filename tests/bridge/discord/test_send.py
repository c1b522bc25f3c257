"""One sender that decides alone when to try again."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from clankie_bridge.core.artifacts import Cause, Picture
from clankie_bridge.core.render import TextFile, Words
from clankie_bridge.discord.rest import Answer, Rest
from clankie_bridge.discord.send import DiscordSender, Gate
from clankie_bridge.ports import Outgoing, Posted, Refused, Search
from clankie_settings.crashing import NoCrash
from tests.bridge.conftest import KeptLog

ROOM = "1310000000000000100"
SENT = httpx.Response(200, json={"id": "77"})


class StillClock:
    """A clock on which waiting takes no time but counts."""

    def __init__(self) -> None:
        self.at = timedelta(hours=1)
        self.waits: list[timedelta] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.at

    def elapsed(self) -> timedelta:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.waits.append(duration)
        self.at += duration


class NoTraces:
    """A room that holds nothing."""

    async def of(self, search: Search) -> tuple[str | None, ...]:
        return (None,) * len(search.parts)


class Discord:
    """Answers from a list, and keeps what was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = [*answers]
        self.asked: list[httpx.Request] = []
        self.clock = StillClock()
        self.at: list[timedelta] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        self.at.append(self.clock.at)
        answer = self.answers.pop(0) if self.answers else SENT
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(each.content) for each in self.asked]

    def sender(self) -> DiscordSender:
        rest = Rest("token", "https://discord.test/api/v10", httpx.MockTransport(self))
        return DiscordSender(rest, Gate(self.clock), NoTraces(), NoCrash(), self.clock, lambda: 0.0, KeptLog())


def words(text: str = "hi", reply_to: str | None = "5", nonce: str = "n") -> Outgoing:
    return Outgoing(ROOM, Words(text), nonce, reply_to)


def problem(status: int, code: int, **more: Any) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "message": "x", **more})


async def test_what_is_sent_pings_nobody_and_has_a_nonce() -> None:
    discord = Discord()
    posted = await discord.sender().send(words())
    assert isinstance(posted, Posted)
    assert posted.message_id == "77"
    assert discord.bodies == [
        {
            "content": "hi",
            "allowed_mentions": {"parse": [], "replied_user": False},
            "nonce": "n",
            "enforce_nonce": True,
            "message_reference": {"message_id": "5", "fail_if_not_exists": False},
        }
    ]
    assert discord.asked[0].headers["Authorization"] == "Bot token"


@pytest.mark.parametrize(
    "first",
    [
        problem(500, 0),
        httpx.Response(502, text="<html>"),
        httpx.Response(504),
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        httpx.ConnectError("x"),
        httpx.Response(200, text="not json"),
    ],
)
async def test_whatever_may_have_been_done_is_tried_again_with_the_same_nonce(
    first: httpx.Response | Exception,
) -> None:
    """C19."""
    discord = Discord(first)
    assert isinstance(await discord.sender().send(words()), Posted)
    assert [each["nonce"] for each in discord.bodies] == ["n", "n"]
    assert discord.clock.waits == [timedelta(milliseconds=500)]


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (httpx.Response(429, json={"retry_after": 0.7, "global": False}), 0.7),
        (httpx.Response(429, json={"retry_after": 64.0, "global": True}), 64.0),
        (httpx.Response(429, json={"retry_after": 1336, "code": 20028}), 1336),
        (httpx.Response(429, text="error code: 1015"), 60),
        (httpx.Response(429, text="<html>", headers={"Retry-After": "7"}), 7),
        (httpx.Response(429, json={"retry_after": "nan"}), 60),
    ],
)
async def test_a_rate_limit_of_any_kind_is_waited_out(answer: httpx.Response, wait: float) -> None:
    """C49."""
    discord = Discord(answer)
    assert isinstance(await discord.sender().send(words()), Posted)
    assert len(discord.asked) == 2
    assert (discord.at[1] - discord.at[0]).total_seconds() == pytest.approx(wait)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.requirement("OUT-2")
@pytest.mark.parametrize(("everywhere", "elsewhere_s"), [(True, 30), (False, 0)])
async def test_a_global_limit_holds_every_room_and_a_rooms_own_only_itself(everywhere: bool, elsewhere_s: int) -> None:
    clock = StillClock()
    gate, began = Gate(clock), clock.at
    gate.hold(ROOM, Answer(429, wait_s=30, everywhere=everywhere))
    await gate.passed("another room")
    assert clock.at - began == timedelta(seconds=elsewhere_s)
    await gate.passed(ROOM)
    assert clock.at - began >= timedelta(seconds=30)


@pytest.mark.requirement("OUT-2")
async def test_a_room_gets_five_messages_in_five_seconds_and_the_bridge_forty_a_second() -> None:
    discord = Discord()
    sender = discord.sender()
    for _ in range(7):
        await sender.send(words())
    assert [at - discord.at[0] for at in discord.at] == [timedelta()] * 5 + [timedelta(seconds=1), timedelta(seconds=2)]
    discord = Discord()
    sender = discord.sender()
    for room in range(82):
        await sender.send(Outgoing(str(room), Words("x"), "n"))
    first_second = [at for at in discord.at if at - discord.at[0] < timedelta(seconds=1)]
    assert len(first_second) <= 80
    assert discord.at[-1] > discord.at[0]


@pytest.mark.requirement("OUT-3")
@pytest.mark.parametrize(
    "refusal",
    [
        problem(400, 10008),
        problem(404, 10008),
        problem(400, 50035, errors={"message_reference": {"_errors": [{"code": "REPLIES_UNKNOWN_MESSAGE"}]}}),
        problem(400, 50035, errors={"message_reference": {"_errors": [{"code": "REPLIES_CANNOT_REPLY"}]}}),
    ],
)
async def test_a_target_that_is_gone_costs_the_reference_alone(refusal: httpx.Response) -> None:
    discord = Discord(refusal)
    posted = await discord.sender().send(words())
    assert isinstance(posted, Posted)
    assert posted.unreferenced
    assert ["message_reference" in each for each in discord.bodies] == [True, False]
    assert [each["nonce"] for each in discord.bodies] == ["n", "n"]


@pytest.mark.requirement("OUT-4")
@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (problem(403, 50001), "discord_50001"),
        (problem(403, 50013), "discord_50013"),
        (problem(403, 50007), "discord_50007"),
        (problem(404, 10003), "discord_10003"),
        (httpx.Response(404), "discord_status_404"),
        (problem(400, 50035, errors={"content": {}}), "discord_50035"),
        (problem(400, 50006), "discord_50006"),
        (httpx.Response(413, text="too large"), "discord_status_413"),
    ],
)
async def test_a_permanent_refusal_ends_it(refusal: httpx.Response, code: str) -> None:
    discord = Discord(refusal)
    refused = await discord.sender().send(words())
    assert isinstance(refused, Refused)
    assert refused.code == code
    assert len(discord.asked) == 1


async def test_a_revoked_token_is_tried_again_slowly() -> None:
    discord = Discord(problem(401, 0), problem(401, 0))
    assert isinstance(await discord.sender().send(words()), Posted)
    assert discord.clock.waits == [timedelta(seconds=60)] * 2


async def test_a_text_file_goes_as_a_form_with_the_same_care() -> None:
    discord = Discord()
    assert isinstance(await discord.sender().send(Outgoing(ROOM, TextFile("the rest é"), "n")), Posted)
    sent = discord.asked[0].read().decode()
    assert "multipart/form-data" in discord.asked[0].headers["Content-Type"]
    assert 'name="payload_json"' in sent
    assert '"allowed_mentions":{"parse":[]' in sent.replace(" ", "")
    assert 'filename="reply.txt"' in sent
    assert "the rest é" in sent


PICTURES = (Picture("a.png", "image/png", b"aa"), Picture("b.png", "image/png", b"bbbb"))


def pictured(part: Words | TextFile | None = None) -> Outgoing:
    return Outgoing(ROOM, part or Words("hi"), "n", "5", pictures=PICTURES)


@pytest.mark.requirement("ART-3")
@pytest.mark.parametrize(
    ("refusals", "files", "left_out"),
    [
        ([], ["ab"], ()),
        ([problem(413, 40005)], ["ab", "a"], (Cause.TOO_LARGE,)),
        ([httpx.Response(413, text="<html>")] * 2, ["ab", "a", ""], (Cause.TOO_LARGE,) * 2),
        ([problem(400, 40005)], ["ab", "a"], (Cause.TOO_LARGE,)),
        ([problem(403, 50013)], ["ab", ""], (Cause.NOT_PERMITTED,) * 2),
        ([problem(400, 50035, errors={"attachments": {}})], ["ab", ""], (Cause.REFUSED,) * 2),
        ([problem(413, 40005), problem(403, 50013)], ["ab", "a", ""], (Cause.TOO_LARGE, Cause.NOT_PERMITTED)),
        ([problem(400, 10008), problem(413, 40005)], ["ab", "ab", "a"], (Cause.TOO_LARGE,)),
    ],
)
async def test_pictures_that_discord_refuses_cost_no_words_and_keep_the_nonce(
    refusals: list[httpx.Response], files: list[str], left_out: tuple[Cause, ...]
) -> None:
    """C31."""
    discord = Discord(*refusals)
    posted = await discord.sender().send(pictured())
    assert isinstance(posted, Posted)
    assert posted.left_out == left_out
    sent = [each.read().decode() for each in discord.asked]
    assert ["".join(name for name in "ab" if f'filename="{name}.png"' in each) for each in sent] == files
    assert all('"nonce":"n"' in each.replace(" ", "") for each in sent)


@pytest.mark.requirement("ART-3", "OUT-4")
@pytest.mark.parametrize(
    ("refusal", "asked"),
    [(problem(403, 50001), 1), (problem(403, 50007), 1), (problem(404, 10003), 1), (problem(403, 50013), 2)],
)
async def test_a_refusal_that_is_not_about_pictures_stands(refusal: httpx.Response, asked: int) -> None:
    discord = Discord(refusal, refusal)
    assert isinstance(await discord.sender().send(pictured()), Refused)
    assert len(discord.asked) == asked


@pytest.mark.requirement("ART-3", "OUT-1")
@pytest.mark.parametrize("fault", [httpx.WriteTimeout("x"), problem(500, 0)])
async def test_pictures_that_do_not_get_through_hold_the_words_up_for_two_minutes_at_most(
    fault: httpx.Response | Exception,
) -> None:
    discord = Discord(*[fault] * 40)
    began = discord.clock.at
    posted = await discord.sender().send(pictured())
    assert isinstance(posted, Posted)
    assert posted.left_out == (Cause.REFUSED,) * 2
    alone = next(at for at, each in zip(discord.at, discord.asked, strict=True) if b"a.png" not in each.read())
    assert timedelta(minutes=2) <= alone - began <= timedelta(minutes=3)


async def test_files_that_go_with_a_text_file_come_behind_it() -> None:
    discord = Discord()
    await discord.sender().send(pictured(TextFile("the rest")))
    sent = discord.asked[0].read().decode()
    assert sent.index("reply.txt") < sent.index("files[1]") < sent.index("files[2]")


async def test_rooms_beyond_a_thousand_are_forgotten_without_harm() -> None:
    discord = Discord()
    sender = discord.sender()
    for room in range(1_002):
        assert isinstance(await sender.send(Outgoing(str(room), Words("x"), "n")), Posted)
