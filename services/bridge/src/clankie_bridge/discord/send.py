"""Posting into rooms: paced, repeated until it is there, and never twice. Source: OUT-2, OUT-3, OUT-4."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from clankie_bridge.core.artifacts import Cause
from clankie_bridge.core.crash_points import STORED
from clankie_bridge.core.lateness import EXPIRED
from clankie_bridge.core.message import written_at
from clankie_bridge.core.pace import Backoff, Bucket, Rate
from clankie_bridge.discord.form import lighter, message_payload, uploads, with_fewer
from clankie_bridge.discord.payloads import json_object, snowflake
from clankie_bridge.discord.rest import Answer, Rest
from clankie_bridge.errors import DiscordAway
from clankie_bridge.ports import Log, Outgoing, Posted, Refused, Search, Traces
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash

EVERYWHERE: Final = Rate(burst=40, every=timedelta(milliseconds=25))
"""Sends of the whole bridge: 40 a second, below Discord's 50. Source: OUT-2."""

ONE_ROOM: Final = Rate(burst=5, every=timedelta(seconds=1))
"""Sends into one room: 5 in 5 s, Discord's own limit. Source: OUT-2."""

NONCE_TRUSTED: Final = timedelta(minutes=1)
"""How long after a lost answer a repetition is left to the nonce alone; then the room is read first. Source: OUT-1."""

PICTURES_TRIED: Final = timedelta(minutes=2)
"""How long words wait for pictures that do not get through, though nobody refuses them. Source: ART-3."""

_BETWEEN_ATTEMPTS: Final = Backoff(timedelta(milliseconds=500), timedelta(seconds=30))
_AFTER_UNAUTHORIZED: Final = timedelta(seconds=60)
_ROOMS: Final = 1_000
_UNKNOWN_MESSAGE: Final = 10_008
_NO_REPLY_TO_SYSTEM_MESSAGE: Final = 50_035
_RETRIED: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class Gate:
    """When the next send may leave: one rate for all rooms and one for each, and only while ``proven`` lets it."""

    def __init__(self, clock: Clock, proven: Callable[[], Awaitable[None]] | None = None) -> None:
        self._clock = clock
        self._proven = proven
        self._everywhere = Bucket(EVERYWHERE)
        self._rooms: OrderedDict[str, Bucket] = OrderedDict()

    async def passed(self, channel_id: str) -> None:
        """Wait for this send's turn."""
        now = self._clock.elapsed()
        room, in_room = self._rooms.pop(channel_id, Bucket(ONE_ROOM)).take(now)
        self._keep(channel_id, room)
        # The global place is taken when the room lets the send leave, or a busy room would use up everybody's.
        if in_room:
            await self._clock.sleep(in_room)
        self._everywhere, globally = self._everywhere.take(self._clock.elapsed())
        if globally:
            await self._clock.sleep(globally)
        if self._proven is not None:
            # Last of all: however long this took, nobody else may act in this bridge's name by now.
            await self._proven()

    async def read(self) -> None:
        """Wait for the turn of a request that only reads."""
        self._everywhere, globally = self._everywhere.take(self._clock.elapsed())
        if globally:
            await self._clock.sleep(globally)

    def hold_reads(self, answer: Answer) -> None:
        """Discord said to wait with reading: one room is no matter of the others."""
        if answer.everywhere:
            self.hold("", answer)

    def hold(self, channel_id: str, answer: Answer) -> None:
        """Discord said to wait: in this room, or everywhere."""
        now, wait = self._clock.elapsed(), timedelta(seconds=answer.wait_s)
        if answer.everywhere:
            self._everywhere = self._everywhere.held(now, wait)
        else:
            self._keep(channel_id, self._rooms.pop(channel_id, Bucket(ONE_ROOM)).held(now, wait))

    def _keep(self, channel_id: str, bucket: Bucket) -> None:
        self._rooms[channel_id] = bucket
        # The room that was idle for longest has a full allowance again.
        if len(self._rooms) > _ROOMS:
            self._rooms.popitem(last=False)


class Doubt:
    """Whether an attempt may have posted something, and when: Discord knows a nonce for a few minutes only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: timedelta | None = None

    def judge(self, answer: Answer | None) -> None:
        """An attempt has ended; without an answer, or with a fault of Discord's, it may have been done."""
        if (answer is None or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR) and self._since is None:
            self._since = self._clock.elapsed()

    def has_lasted(self, span: timedelta) -> bool:
        """Whether it is so long ago that something may have been posted first."""
        return self._since is not None and self._clock.elapsed() - self._since >= span


class DiscordSender:
    """Posts parts; the one place that decides when a send is tried again."""

    def __init__(
        self,
        rest: Rest,
        gate: Gate,
        traces: Traces,
        crash: Crash,
        clock: Clock,
        jitter: Callable[[], float],
        log: Log,
    ) -> None:
        self._rest = rest
        self._gate = gate
        self._traces = traces
        self._crash = crash
        self._clock = clock
        self._jitter = jitter
        self._log = log

    async def send(self, outgoing: Outgoing) -> Posted | Refused:
        """Post one part, or say why it never can be; other failures are tried again with the same nonce.

        Source: OUT-1, OUT-3, OUT-4, OUT-5, ART-3, C19, C31.
        """
        reply_to, attempt, doubt = outgoing.reply_to, 0, Doubt(self._clock)
        while True:
            if doubt.has_lasted(NONCE_TRUSTED) and (seen := await self._seen(outgoing)) is not None:
                return seen
            if doubt.has_lasted(PICTURES_TRIED):
                outgoing = with_fewer(outgoing, Cause.REFUSED)
            await self._gate.passed(outgoing.channel_id)
            if outgoing.until is not None and self._clock.elapsed() >= outgoing.until:
                return Refused(EXPIRED, self._clock.now())
            answer = await self._attempt(outgoing, reply_to)
            doubt.judge(answer)
            if answer is not None:
                posted = snowflake(answer.fields.get("id")) if answer.ok else None
                if posted is not None:
                    gone = outgoing.reply_to is not None and reply_to is None
                    return Posted(posted, self._clock.now(), unreferenced=gone, left_out=outgoing.left_out)
                if reply_to is not None and _target_is_gone(answer):
                    self._log.info("reply_target_gone", room=outgoing.channel_id, code=answer.code)
                    reply_to = None
                    continue
                if is_final(answer):
                    words = lighter(outgoing, answer)
                    if words is not None:
                        outgoing = words
                        continue
                    return Refused(refusal_code(answer), self._clock.now())
            await self._wait(outgoing.channel_id, answer, attempt)
            attempt += 1

    async def _seen(self, outgoing: Outgoing) -> Posted | None:
        """The part, where an attempt whose answer was lost has posted it after all."""
        if outgoing.after is None:
            return None
        search = Search(outgoing.channel_id, (outgoing.part,), outgoing.reply_to, outgoing.after)
        (found,) = await self._traces.of(search)
        return None if found is None else Posted(found, written_at(found))

    async def _attempt(self, outgoing: Outgoing, reply_to: str | None) -> Answer | None:
        try:
            answer = await self._rest.post(
                f"/channels/{outgoing.channel_id}/messages", message_payload(outgoing, reply_to), uploads(outgoing)
            )
        except DiscordAway as away:
            self._log.warning("send_failed", room=outgoing.channel_id, code=away.cause)
            return None
        if answer.ok:
            self._crash.reach(STORED)
        return answer

    async def _wait(self, channel_id: str, answer: Answer | None, attempt: int) -> None:
        if answer is None:
            await self._clock.sleep(_BETWEEN_ATTEMPTS.wait(attempt, self._jitter()))
            return
        self._log.warning("send_refused_for_now", room=channel_id, code=refusal_code(answer), wait_s=answer.wait_s)
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            self._gate.hold(channel_id, answer)
        elif answer.status == HTTPStatus.UNAUTHORIZED:
            await self._clock.sleep(_AFTER_UNAUTHORIZED)
        else:
            await self._clock.sleep(_BETWEEN_ATTEMPTS.wait(attempt, self._jitter()))


def _target_is_gone(answer: Answer) -> bool:
    if answer.code == _UNKNOWN_MESSAGE:
        return True
    return answer.code == _NO_REPLY_TO_SYSTEM_MESSAGE and "message_reference" in json_object(
        answer.fields.get("errors")
    )


def is_final(answer: Answer) -> bool:
    """Whether Discord will say the same however often it is asked."""
    refused = HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    return refused and answer.status not in _RETRIED and answer.status != HTTPStatus.UNAUTHORIZED


def refusal_code(answer: Answer) -> str:
    """The stable code of a refusal: Discord's own where it gave one."""
    return f"discord_{answer.code}" if answer.code > 0 else f"discord_status_{answer.status}"
