"""The composition root: the only place that constructs what the bridge is made of."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import hikari
from pydantic import SecretStr

from clankie_bridge.captain.actions import CaptainActions
from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.patience import Patience
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.core.addressing import Names
from clankie_bridge.core.admission import Policy
from clankie_bridge.core.exchange import ReplyPolicies, ReplyPolicy
from clankie_bridge.core.manners import Switch
from clankie_bridge.core.pace import Backoff
from clankie_bridge.desk.cards import Cards
from clankie_bridge.desk.catching_up import CatchingUp
from clankie_bridge.desk.changes import Changes
from clankie_bridge.desk.commands import Commands
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.handing import Handing
from clankie_bridge.desk.ingress import Ingress
from clankie_bridge.desk.myself import Myself
from clankie_bridge.desk.posting import Posting
from clankie_bridge.desk.reading import Reading
from clankie_bridge.desk.resumption import Resumption
from clankie_bridge.desk.room import Room, Rooms
from clankie_bridge.desk.signals import Progress, Signals
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.desk.waiting import Waiting
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.gateway import Gateway, Tap, check_application
from clankie_bridge.discord.history import DiscordHistory
from clankie_bridge.discord.interactions import DiscordResponses
from clankie_bridge.discord.rest import DISCORD, Rest
from clankie_bridge.discord.send import DiscordSender, Gate
from clankie_bridge.discord.surface import DiscordSurface
from clankie_bridge.discord.typing import DiscordIndicator
from clankie_bridge.errors import CannotStart, DiscordAway
from clankie_bridge.evidence import EvidenceFile
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock, Ids, RandomIds, SystemClock
from clankie_settings.ids import PresenceId
from clankie_settings.schema import BridgeSettings
from clankie_settings.secrets import token as stored_token

PRESENCE: Final = PresenceId("discord")
"""The presence that this bridge is."""

UNSET: Final = (
    "DISCORD_BOT_TOKEN is not set: copy it from https://discord.com/developers/applications, your application, Bot, "
    "into .env; to try Clankie without Discord run: clankie up"
)
NO_GUILDS: Final = "add your server's id to CLANKIE_DISCORD_GUILDS, or * for every server that invited him"

_DISCORD_AWAY: Final = Backoff(timedelta(milliseconds=250), timedelta(seconds=15))
_ALIVE_EVERY: Final = timedelta(seconds=10)
_LIFE_SOUGHT_EVERY: Final = timedelta(seconds=1)
_DRAIN: Final = timedelta(seconds=5)
_DRAIN_TICK: Final = timedelta(milliseconds=50)


class _Stopped(Exception):  # noqa: N818 -- ends the task group, is no error
    """The bridge was asked to stop."""


async def run(
    settings: BridgeSettings, log: Log, stop: asyncio.Event, clock: Clock | None = None, ids: Ids | None = None
) -> None:
    """Be the bridge until ``stop`` is set.

    Raises:
        CannotStart: Somebody has to change something; the text says what.
        clankie_settings.secrets.TokenFileError: The state folder cannot hold or give the captain's token.
    """
    token = settings.discord_bot_token
    if token is None or not token.get_secret_value().strip():
        raise CannotStart(UNSET)
    if not settings.discord_guilds:
        log.warning("no_guilds", remedy=NO_GUILDS)
    bridge = Bridge(settings, token, log, clock or SystemClock(), ids or RandomIds())
    await bridge.run(stop)


@dataclass(frozen=True, slots=True)
class _Common:
    """What several parts share."""

    captain: CaptainTurns
    patience: Patience
    history: DiscordHistory
    tasks: Tasks
    gate: Gate
    surface: DiscordSurface
    cards: Cards
    directory: Directory
    bot: Myself
    rooms: Rooms = field(default_factory=Rooms)
    deliveries: Deliveries = field(default_factory=Deliveries)
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What runs for as long as the bridge lives."""

    ingress: Ingress
    catching_up: CatchingUp
    commands: Commands
    signals: Signals
    resumption: Resumption
    rooms: Rooms
    deliveries: Deliveries
    cards: Cards

    @property
    def are_quiet(self) -> bool:
        """Whether nothing waits to be handed over, no reply is on its way, and no card stays behind."""
        return self.rooms.are_quiet and self.deliveries.are_quiet and self.cards.are_quiet


class Bridge:
    """The bridge with its settings; runs once."""

    def __init__(self, settings: BridgeSettings, token: SecretStr, log: Log, clock: Clock, ids: Ids) -> None:
        self._settings = settings
        self._token = token
        self._log = log
        self._clock = clock
        self._ids = ids
        self._tap = Tap(log)
        self._gateway = Gateway(token, settings.discord_rest_url, self._tap, log)
        self._evidence = EvidenceFile(settings.state / "bridge" / "evidence.jsonl", clock, log)

    async def run(self, stop: asyncio.Event) -> None:
        """Connect both sides and work until ``stop`` is set.

        Raises:
            CannotStart: Discord will not have the token or the intents.
        """
        captain_token = stored_token(self._settings.captain_token, self._settings.state, "captain-token")
        async with AsyncExitStack() as stack:
            rest = await stack.enter_async_context(
                Rest(self._token.get_secret_value(), self._settings.discord_rest_url or DISCORD)
            )
            connection = await stack.enter_async_context(Connection(self._settings.captain_url, captain_token))
            try:
                await self._work(rest, connection, stop)
            except* _Stopped:
                self._log.info("stopped")
            except* CannotStart as group:
                raise group.exceptions[0] from None
            finally:
                await self._evidence.flush()

    async def _work(self, rest: Rest, connection: Connection, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._evidence.run())
            parts = self._joined(rest, connection, Tasks(group, self._log))
            group.create_task(self._stay_connected(rest))
            group.create_task(parts.resumption.run())
            group.create_task(parts.ingress.run())
            group.create_task(parts.catching_up.run())
            group.create_task(parts.commands.run())
            group.create_task(parts.signals.run())
            group.create_task(self._show_life(connection, self._settings.state / "bridge" / "alive"))
            await stop.wait()
            self._tap.close()
            await self._drain(parts)
            raise _Stopped

    def _joined(self, rest: Rest, connection: Connection, tasks: Tasks) -> _Parts:
        common = self._common(rest, connection, tasks)
        posting = self._posting(common, rest)
        waiting = Waiting(
            captain=common.captain,
            patience=common.patience,
            posting=posting,
            notices=_switched(common.directory, {key: room.notices for key, room in self._settings.rooms.items()}),
            cards=common.cards,
            deliveries=common.deliveries,
            evidence=self._evidence,
            tasks=tasks,
            clock=self._clock,
            jitter=self._jitter,
            log=self._log,
        )
        resumption = Resumption(
            captain=common.captain,
            patience=common.patience,
            waiting=waiting,
            deliveries=common.deliveries,
            rooms=common.rooms,
            log=self._log,
        )
        ingress, catching_up = self._ingress(common, waiting, resumption)
        signals = self._signals(common, posting, CaptainActions(connection, PRESENCE, self._log), rest)
        return _Parts(
            ingress,
            catching_up,
            self._commands(common, rest),
            signals,
            resumption,
            common.rooms,
            common.deliveries,
            common.cards,
        )

    def _common(self, rest: Rest, connection: Connection, tasks: Tasks) -> _Common:
        gate, directory = Gate(self._clock), Directory()
        surface = DiscordSurface(rest, gate, self._clock, self._jitter, self._log)
        card = _switched(directory, {key: room.card for key, room in self._settings.rooms.items()})
        return _Common(
            captain=CaptainTurns(connection, PRESENCE),
            patience=Patience(self._clock, self._jitter, self._log),
            history=DiscordHistory(rest, self._log),
            tasks=tasks,
            gate=gate,
            surface=surface,
            cards=Cards(surface=surface, switch=card, tasks=tasks, clock=self._clock),
            directory=directory,
            bot=Myself(directory, Names(self._settings.names)),
        )

    def _posting(self, common: _Common, rest: Rest) -> Posting:
        return Posting(
            sender=DiscordSender(rest, common.gate, self._clock, self._jitter, self._log),
            captain=common.captain,
            patience=common.patience,
            clock=self._clock,
            log=self._log,
            updates_before=common.progress.before_reply,
        )

    def _ingress(self, common: _Common, waiting: Waiting, resumption: Resumption) -> tuple[Ingress, CatchingUp]:
        catching_up = CatchingUp(
            every=self._settings.catch_up_after,
            rooms=common.rooms,
            clock=self._clock,
            work=lambda room: handing.work(room),  # noqa: PLW0108 -- it is made below, of this
        )
        changes = self._changes(common)
        handing = Handing(
            presence_id=PRESENCE,
            identity=common.bot.identity,
            policies=_reply_policies(self._settings),
            directory=common.directory,
            reading=Reading(common.directory, common.history),
            changes=changes,
            catching_up=catching_up,
            captain=common.captain,
            patience=common.patience,
            rooms=common.rooms,
            deliveries=common.deliveries,
            evidence=self._evidence,
            tasks=common.tasks,
            clock=self._clock,
            log=self._log,
            finish=waiting.finish,
            resumed=resumption.taken_up,
        )
        return self._intake(common, handing, changes), catching_up

    def _changes(self, common: _Common) -> Changes:
        return Changes(
            captain=common.captain,
            patience=common.patience,
            rooms=common.rooms,
            deliveries=common.deliveries,
            evidence=self._evidence,
            log=self._log,
            identity=common.bot.identity,
        )

    def _intake(self, common: _Common, handing: Handing, changes: Changes) -> Ingress:
        return Ingress(
            tap=self._tap,
            directory=common.directory,
            policy=_policy(self._settings),
            rooms=common.rooms,
            history=common.history,
            evidence=self._evidence,
            clock=self._clock,
            log=self._log,
            work=handing.work,
            changed=changes.taken,
            bot=common.bot,
        )

    def _commands(self, common: _Common, rest: Rest) -> Commands:
        return Commands(
            tap=self._tap,
            directory=common.directory,
            policy=_policy(self._settings),
            captain=common.captain,
            responses=DiscordResponses(rest, self._clock, self._log),
            tasks=common.tasks,
            log=self._log,
        )

    def _signals(self, common: _Common, posting: Posting, actions: CaptainActions, rest: Rest) -> Signals:
        return Signals(
            actions=actions,
            progress=common.progress,
            captain=common.captain,
            patience=common.patience,
            posting=posting,
            indicator=DiscordIndicator(rest, self._log),
            cards=common.cards,
            surface=common.surface,
            deliveries=common.deliveries,
            rooms=common.rooms,
            tasks=common.tasks,
            log=self._log,
        )

    async def _stay_connected(self, rest: Rest) -> None:
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
            except hikari.HikariError as error:
                self._log.warning("gateway_lost", kind=type(error).__name__)
            await self._clock.sleep(_DISCORD_AWAY.wait(misses, self._jitter()))
            misses += 1

    async def _drain(self, parts: _Parts) -> None:
        deadline = self._clock.elapsed() + _DRAIN
        for delivery in parts.deliveries:
            parts.cards.end(delivery)
        while self._clock.elapsed() < deadline and not (self._tap.is_empty and parts.are_quiet):
            await self._clock.sleep(_DRAIN_TICK)

    def _jitter(self) -> float:
        """A chance number in 0..1, drawn from a fresh id."""
        return int(self._ids.new("wait")[-8:], 16) / 0xFFFF_FFFF

    async def _show_life(self, connection: Connection, path: Path) -> None:
        while True:
            alive = connection.reachable and self._gateway.is_connected
            if alive:
                try:
                    await asyncio.to_thread(_touch, path)
                except OSError as error:
                    self._log.warning("heartbeat_unwritable", reason=error.strerror)
            await self._clock.sleep(_ALIVE_EVERY if alive else _LIFE_SOUGHT_EVERY)


def _switched(directory: Directory, chosen: Mapping[str, bool | None]) -> Callable[[Room], bool]:
    """Whether something is on in a room: everywhere, but where the owner chose otherwise."""
    switch = Switch({key: on for key, on in chosen.items() if on is not None})
    return lambda room: switch.is_on(room.guild_id, room.channel_id, directory.parent(room.guild_id, room.channel_id))


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def _policy(settings: BridgeSettings) -> Policy:
    return Policy(
        guilds=frozenset(settings.discord_guilds),
        channels=frozenset(settings.discord_channels),
        users=frozenset(settings.discord_users),
        roles=frozenset(settings.discord_roles),
        bots=settings.discord_bots,
        dms=settings.discord_dm_policy,
        owner_id=settings.owner_id,
    )


def _reply_policies(settings: BridgeSettings) -> ReplyPolicies:
    chosen: dict[str, ReplyPolicy] = {
        key: room.reply_policy for key, room in settings.rooms.items() if room.reply_policy is not None
    }
    return ReplyPolicies(settings.reply_policy, chosen)
