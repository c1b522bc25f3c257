"""One life of the bridge: connect both sides, work, drain."""

import asyncio
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import Final

from pydantic import SecretStr

from clankie_bridge.app.assembly import Assembly, Parts
from clankie_bridge.captain.connection import Connection
from clankie_bridge.core.pace import Backoff
from clankie_bridge.desk.absence import Absence
from clankie_bridge.desk.standing import Standing
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.discord.caution import Caution
from clankie_bridge.discord.gateway import Gateway, Tap, check_application
from clankie_bridge.discord.rest import DISCORD, Rest
from clankie_bridge.discord.token import bot_id
from clankie_bridge.errors import CannotStart, DiscordAway, StartAgain
from clankie_bridge.evidence import EvidenceFile
from clankie_bridge.instance import Instance
from clankie_bridge.ports import Log
from clankie_settings import bounds
from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_settings.crashing import Crash, NoCrash
from clankie_settings.heartbeat import Heartbeat
from clankie_settings.schema import BridgeSettings
from clankie_settings.secrets import token as stored_token

UNSET: Final = (
    "DISCORD_BOT_TOKEN is not set: copy it from https://discord.com/developers/applications, your application, Bot, "
    "into .env; to try Clankie without Discord run: clankie up"
)
NO_GUILDS: Final = "add your server's id to CLANKIE_DISCORD_GUILDS, or * for every server that invited him"

_DISCORD_AWAY: Final = Backoff(timedelta(milliseconds=250), timedelta(seconds=15))
_ALIVE_EVERY: Final = timedelta(seconds=10)
_LIFE_SOUGHT_EVERY: Final = timedelta(seconds=1)
_DRAIN_TICK: Final = timedelta(milliseconds=50)
_STOPPED_TOGETHER: Final = timedelta(seconds=1)
_DRAIN_ASKED_WITHIN: Final = timedelta(seconds=5)


class _Stopped(Exception):  # noqa: N818 -- ends the task group, is no error
    """The bridge was asked to stop."""


async def run(
    settings: BridgeSettings,
    log: Log,
    stop: asyncio.Event,
    clock: Clock | None = None,
    ids: Ids | None = None,
    crash: Crash | None = None,
) -> None:
    """Be the bridge until ``stop`` is set.

    Raises:
        CannotStart: Somebody has to change something; the text says what.
        StartAgain: This process cannot go on, and a fresh one can.
        clankie_settings.secrets.TokenFileError: The state folder cannot hold or give the captain's token.
    """
    token = settings.discord_bot_token
    if token is None or not token.get_secret_value().strip():
        raise CannotStart(UNSET)
    if not settings.discord_guilds:
        log.warning("no_guilds", remedy=NO_GUILDS)
    bridge = Bridge(settings, token, log, clock or SystemClock(), ids or RandomIds(), crash or NoCrash())
    await bridge.run(stop)


class Bridge:
    """The bridge with its settings; runs once."""

    def __init__(
        self, settings: BridgeSettings, token: SecretStr, log: Log, clock: Clock, ids: Ids, crash: Crash
    ) -> None:
        self._settings = settings
        self._token = token
        self._log = log
        self._clock = clock
        self._ids = ids
        self._caution = Caution(clock, log)
        self._heartbeat = Heartbeat.of(settings.state)
        self._tap = Tap(log)
        self._gateway = Gateway(token, settings.discord_rest_url, self._tap, log)
        self._evidence = EvidenceFile(settings.state / "bridge" / "evidence.jsonl", clock, log)
        self._instance = Instance(settings.state / "bridge" / "instance", ids.new("bridge"), log)
        self._assembly = Assembly(
            settings=settings,
            log=log,
            clock=clock,
            jitter=self._jitter,
            tap=self._tap,
            evidence=self._evidence,
            instance=self._instance,
            crash=crash,
            bot_id=bot_id(token.get_secret_value()),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Connect both sides and work until ``stop`` is set.

        Raises:
            CannotStart: Discord will not have the token or the intents, or another bridge runs with this token.
            StartAgain: Another bridge acted in this one's name meanwhile.
        """
        captain_token = stored_token(self._settings.captain_token, self._settings.state, "captain-token")
        async with AsyncExitStack() as stack:
            rest = await stack.enter_async_context(
                Rest(
                    self._token.get_secret_value(),
                    self._settings.discord_rest_url or DISCORD,
                    caution=self._caution,
                )
            )
            connection = await stack.enter_async_context(
                Connection(self._settings.captain_url, captain_token, instance=self._instance.id)
            )
            await asyncio.to_thread(self._instance.claim)
            stack.callback(self._instance.release)
            try:
                await self._work(rest, connection, stop)
            except* _Stopped:
                self._log.info("stopped")
            except* (CannotStart, StartAgain) as group:
                raise group.exceptions[0] from None
            finally:
                await self._evidence.flush()
                with suppress(OSError):
                    await asyncio.to_thread(self._heartbeat.release)

    async def _work(self, rest: Rest, connection: Connection, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._evidence.run())
            parts = self._assembly.joined(rest, connection, Tasks(group, self._log))
            group.create_task(parts.standing.run(lambda: self._listens(parts.absence)))
            group.create_task(self._stay_connected(rest, parts.standing))
            group.create_task(parts.resumption.run())
            group.create_task(parts.ingress.run())
            group.create_task(parts.absence.run())
            group.create_task(parts.catching_up.run())
            group.create_task(parts.sweeping.run())
            group.create_task(parts.commands.run())
            group.create_task(parts.signals.run())
            group.create_task(self._show_life(connection))
            await stop.wait()
            self._log.info("stopping")
            self._tap.close()
            await self._drain(parts, connection)
            await parts.standing.give_back()
            raise _Stopped

    async def _stay_connected(self, rest: Rest, standing: Standing) -> None:
        await standing.judged()
        misses, checked = 0, False
        while True:
            try:
                if not checked:
                    await check_application(rest, self._log)
                    checked = True
                await self._gateway.run()
                misses = 0
            except DiscordAway as away:
                self._log.warning("discord_away", code=away.cause)
            await self._clock.sleep(_DISCORD_AWAY.wait(misses, self._jitter()))
            misses += 1

    def _listens(self, absence: Absence) -> bool:
        """Whether nothing that is written can escape: the gateway is whole, and what was missed before is read."""
        whole = self._gateway.is_whole and self._gateway.sessions == absence.sessions
        return whole and absence.is_over

    async def _drain(self, parts: Parts, connection: Connection) -> None:
        """Wait until all is said: as long as the captain's runs may go on, or a moment where no captain is there.

        Results are waited for only while the captain stops too. One that goes on may take minutes, and keeps what it
        owes for the next bridge; one that is gone tells nothing more.

        Source: DUR-5.
        """
        begun = self._clock.elapsed()

        def is_over() -> bool:
            runs = self._settings.drain_within if connection.reachable else timedelta()
            return self._clock.elapsed() - begun >= runs + bounds.DRAIN_TELLING

        for delivery in parts.deliveries:
            parts.cards.end(delivery)
        while not is_over():
            if not await self._may_hear(parts, connection, begun) and self._tap.is_empty and parts.are_quiet:
                return
            await self._clock.sleep(_DRAIN_TICK)

    async def _may_hear(self, parts: Parts, connection: Connection, begun: timedelta) -> bool:
        """Whether results that are waited for may come before the captain is gone."""
        if parts.deliveries.are_done:
            return False
        try:
            async with asyncio.timeout(_DRAIN_ASKED_WITHIN.total_seconds()):
                drains = await parts.presence.drains()
        except TimeoutError:
            return False
        # Whoever stops both tells one of them first.
        return drains or (connection.reachable and self._clock.elapsed() - begun < _STOPPED_TOGETHER)

    def _jitter(self) -> float:
        """A chance number in 0..1, drawn from a fresh id."""
        return int(self._ids.new("wait")[-8:], 16) / 0xFFFF_FFFF

    async def _show_life(self, connection: Connection) -> None:
        """Touch the heartbeat while it lives; it does not while nothing may be asked of Discord. Source: C49."""
        while True:
            held, beat = self._caution.held_until, self._heartbeat
            alive = held is None and connection.reachable and self._gateway.is_connected
            try:
                if held is not None:
                    await asyncio.to_thread(beat.hold, held)
                else:
                    await asyncio.to_thread(beat.beat if alive else beat.release)
            except OSError as error:
                self._log.warning("heartbeat_unwritable", reason=error.strerror)
            await self._clock.sleep(_ALIVE_EVERY if alive else _LIFE_SOUGHT_EVERY)
