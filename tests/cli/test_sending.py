"""Waiting for a turn whose captain stops, breaks off or never comes back; and what cannot be sent at all."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from clankie_cli import exits, send
from clankie_cli.door import Door
from clankie_cli.errors import NotReachable, RefusedError
from clankie_cli.send import Manner, Message, Sending
from clankie_settings import bounds
from clankie_settings.clock import RandomIds

pytestmark = pytest.mark.requirement("OPS-3")

ACCEPTED = httpx.Response(200, json={"run_receipt": "c-1", "state": "running"})
PENDING = httpx.Response(202, json={"state": "running", "delivery_id": "c-1"})
REPLIED = httpx.Response(200, json={"state": "replied", "text": "hello"})
DRAINING = httpx.Response(503, json={"code": "draining", "detail": "the captain is stopping"})
GONE = httpx.ConnectError("refused")

Answer = httpx.Response | Exception


class RushingClock:
    """Waiting takes no time but counts, and so does every look."""

    def __init__(self) -> None:
        self.at = timedelta(hours=1)
        self.slept = 0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.at

    def elapsed(self) -> timedelta:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.slept += 1
        self.at += max(duration, timedelta(milliseconds=1))


async def sent(
    *answers: Answer | Callable[[], Answer], wait: bool = True, within: float | None = None, **message: Any
) -> tuple[int, list[httpx.Request], RushingClock]:
    """Send one message to a captain that answers so, the last answer again and again."""
    asked: list[httpx.Request] = []
    left = [*answers]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        given = left.pop(0) if len(left) > 1 else left[0]
        given = given() if callable(given) else given
        if isinstance(given, Exception):
            raise given
        return given

    clock = RushingClock()
    manner = Manner(wait=wait, within=None if within is None else timedelta(seconds=within))
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://captain") as client:
        sending = Sending(Door(client), clock, RandomIds())
        return await sending.send(replace(Message("mine", "hi"), **message), manner), asked, clock


async def test_a_captain_that_stops_is_asked_again_without_haste(capsys: pytest.CaptureFixture[str]) -> None:
    code, asked, clock = await sent(ACCEPTED, PENDING, PENDING, DRAINING, GONE, REPLIED)
    assert (code, capsys.readouterr().out) == (exits.DONE, "hello\n")
    assert len(asked) == 6
    assert clock.slept == 4


async def test_each_wait_asks_for_at_most_a_minute() -> None:
    _, asked, _ = await sent(ACCEPTED, PENDING, REPLIED, within=3600)
    assert {each.headers["Prefer"] for each in asked[1:]} == {f"wait={bounds.WAIT_SECONDS}"}


async def test_a_bounded_wait_ends_and_says_how_to_cancel(capsys: pytest.CaptureFixture[str]) -> None:
    code, asked, _ = await sent(ACCEPTED, PENDING, within=5)
    assert code == exits.NOT_SETTLED
    assert "clankie cancel c-1" in capsys.readouterr().err
    assert 2 <= len(asked) <= 7


async def test_a_captain_that_stays_away_is_given_up_after_a_while() -> None:
    with pytest.raises(NotReachable):
        await sent(ACCEPTED, GONE)


async def test_a_refusal_that_lasts_is_not_repeated() -> None:
    with pytest.raises(RefusedError) as refused:
        await sent(ACCEPTED, httpx.Response(404, json={"code": "unknown_delivery", "detail": "no such"}))
    assert refused.value.code == "unknown_delivery"


async def test_a_lost_hand_over_is_not_repeated_under_another_id() -> None:
    with pytest.raises(NotReachable):
        await sent(GONE)


@pytest.mark.parametrize(("delivery", "sent_as"), [(None, None), ("steer", "steer"), ("queue", "queue")])
async def test_only_what_was_said_about_delivery_is_sent(delivery: str | None, sent_as: str | None) -> None:
    _, asked, _ = await sent(ACCEPTED, wait=False, delivery=delivery, client_id="my-id")
    document = json.loads(asked[0].content)
    assert document.get("delivery") == sent_as
    assert (document["text"], document["client_id"]) == ("hi", "my-id")


async def test_two_messages_without_an_id_are_two() -> None:
    first = (await sent(ACCEPTED, wait=False))[1][0].content
    assert first != (await sent(ACCEPTED, wait=False))[1][0].content


async def test_an_answer_that_is_no_captains_is_told() -> None:
    with pytest.raises(RefusedError, match="is the port right"):
        await sent(httpx.Response(500, text="<html>"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [("", "empty"), (" \n", "empty"), ("x" * (bounds.BODY_CHARS + 1), "16384"), ("a\0b", "NUL"), ("fine", None)],
)
def test_words_that_cannot_be_sent_are_refused_before_they_are(text: str, fault: str | None) -> None:
    found = send.fault(text)
    assert found is None if fault is None else found is not None and fault in found


async def test_a_comment_that_keeps_a_stream_alive_is_no_event() -> None:
    stream = "event: said\nid: 5\ndata: {}\n\n: still here\n\n"
    answer = httpx.Response(200, text=stream, headers={"Content-Type": "text/event-stream"})
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answer), base_url="http://captain") as client:
        heard = [each async for each in Door(client).follow("/v1/conversations/c/events", "0")]
    assert [each and each.event for each in heard] == [None, "said"]
