"""Plays a step's beats to a client."""

from datetime import timedelta
from typing import assert_never

from clankie_settings.clock import Clock
from clankie_stage.provider.beats import (
    Beat,
    Call,
    Decline,
    End,
    Fail,
    Finish,
    Gate,
    Hold,
    Open,
    Pause,
    Ping,
    Say,
    Search,
    Step,
    Think,
)
from clankie_stage.provider.voices import Voice
from clankie_stage.provider.waiting import Barriers, Bell


class Player:
    """Turns beats into calls on a voice, and waits where they say so."""

    def __init__(self, barriers: Barriers, clock: Clock, pace: float) -> None:
        self._barriers = barriers
        self._clock = clock
        self._pace = pace

    async def play(self, step: Step, voice: Voice) -> None:
        """Play all beats; a step that ends without a terminal beat is closed without a terminal event."""
        for beat in step.beats:
            await self._one(beat, voice)
            if isinstance(beat, Fail | End | Finish):
                return
        await voice.end()

    async def _one(self, beat: Beat, voice: Voice) -> None:
        match beat:
            case Gate() | Hold() | Pause():
                await self._wait(beat)
            case Ping():
                await self._ping(beat, voice)
            case Open():
                await voice.open()
            case Say(words):
                await voice.say(words)
            case Think(words):
                await voice.think(words)
            case Decline(words):
                await voice.decline(words)
            case Call():
                await voice.call(beat)
            case Search():
                await voice.search(beat)
            case Fail():
                await voice.fail(beat)
            case Finish(reason):
                await voice.finish(reason)
            case End():
                await voice.end()
            case _:
                assert_never(beat)

    async def _wait(self, beat: Gate | Hold | Pause) -> None:
        match beat:
            case Gate(name):
                await self._barriers.reach(name)
            case Pause(seconds):
                await self._clock.sleep(timedelta(seconds=seconds * self._pace))
            case Hold():
                # Whoever plays this ends it when the client hangs up.
                await Bell().until(lambda: False)
            case _:
                assert_never(beat)

    async def _ping(self, beat: Ping, voice: Voice) -> None:
        sent = 0
        while beat.count == 0 or sent < beat.count:
            await voice.ping()
            sent += 1
            await self._clock.sleep(timedelta(seconds=beat.every_s))
