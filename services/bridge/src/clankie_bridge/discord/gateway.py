"""The gateway: one listener that only puts raw payloads into a bounded queue, in order."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import hikari
import hikari.impl
from pydantic import SecretStr

from clankie_bridge.core.commands import DESCRIPTIONS
from clankie_bridge.discord.payloads import snowflake
from clankie_bridge.discord.rest import DISCORD, Rest
from clankie_bridge.errors import CannotStart, DiscordAway
from clankie_bridge.ports import GatewayEvent, Log

INTERACTION: Final = "INTERACTION_CREATE"
"""The event of a command's use, which has to be answered within three seconds, so it waits behind no message."""

WANTED: Final = frozenset(
    {
        "READY",
        "GUILD_CREATE",
        "GUILD_UPDATE",
        "GUILD_DELETE",
        "GUILD_ROLE_CREATE",
        "GUILD_ROLE_UPDATE",
        "GUILD_ROLE_DELETE",
        "CHANNEL_CREATE",
        "CHANNEL_UPDATE",
        "CHANNEL_DELETE",
        "THREAD_CREATE",
        "THREAD_UPDATE",
        "THREAD_DELETE",
        "THREAD_LIST_SYNC",
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "MESSAGE_DELETE",
        "MESSAGE_DELETE_BULK",
        INTERACTION,
    }
)
"""The events that the bridge reads."""

EVENTS: Final = 10_000
"""Gateway events that may wait; beyond them the rooms concerned are marked and read up by history."""

INTERACTIONS: Final = 1_000
"""Uses of commands that may wait; one more goes unanswered."""

_MARKED_ROOMS: Final = 1_000
_AUTHENTICATION_FAILED: Final = 4004
_SHARDING_REQUIRED: Final = 4011
_DISALLOWED_INTENTS: Final = 4014
_OUTDATED: Final = frozenset({4010, 4012, 4013})

REFUSED: Final = (
    "Discord refuses DISCORD_BOT_TOKEN: copy the token anew from https://discord.com/developers/applications, "
    "your application, Bot, Reset Token"
)
MISSING_INTENT: Final = (
    "The Message Content intent is off: switch it on at https://discord.com/developers/applications, "
    "your application, Bot, Privileged Gateway Intents, then start again"
)

TOO_MANY_SERVERS: Final = (
    "Discord wants this bot to connect in shards, since it is in more servers than one connection may carry: "
    "let it leave some"
)


class Tap:
    """Takes gateway events in order, without ever waiting; says which rooms lost one where it is full."""

    def __init__(self, log: Log, size: int = EVENTS) -> None:
        self._events: asyncio.Queue[GatewayEvent] = asyncio.Queue(size)
        self._interactions: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(INTERACTIONS)
        self._log = log
        self._open = True
        self._lost: set[str] = set()

    def put(self, name: str, payload: Mapping[str, Any]) -> None:
        """Take one event, or mark its room where there is no place left."""
        if not self._open or name not in WANTED:
            return
        if name == INTERACTION:
            if not self._interactions.full():
                self._interactions.put_nowait(payload)
            return
        try:
            self._events.put_nowait((name, payload))
        except asyncio.QueueFull:
            if not self._lost:
                self._log.error("gateway_overflow", waiting=self._events.qsize())
            room = snowflake(payload.get("channel_id"))
            if room is not None and len(self._lost) < _MARKED_ROOMS:
                self._lost.add(room)

    async def next(self) -> GatewayEvent:
        """The oldest event."""
        return await self._events.get()

    async def next_interaction(self) -> Mapping[str, Any]:
        """The oldest use of a command."""
        return await self._interactions.get()

    def take_marked(self) -> frozenset[str]:
        """The rooms that lost an event since the last call."""
        if not self._lost:
            return frozenset()
        marked, self._lost = frozenset(self._lost), set()
        return marked

    def close(self) -> None:
        """Take nothing more; what is in remains."""
        self._open = False

    @property
    def is_empty(self) -> bool:
        """Whether everything was taken out."""
        return self._events.empty()


class Gateway:
    """hikari, reduced to its connection: a narrow cache, no banner, no logging of its own.

    Attributes:
        sessions: How many sessions have begun, each without what the one before may have missed.
    """

    def __init__(self, token: SecretStr, rest_url: str | None, tap: Tap, log: Log) -> None:
        intents = hikari.Intents
        components = hikari.api.CacheComponents
        try:
            self._bot = hikari.GatewayBot(
                token.get_secret_value(),
                rest_url=rest_url or DISCORD,
                http_settings=hikari.impl.HTTPSettings(force_close_transports=False),
                intents=intents.GUILDS | intents.GUILD_MESSAGES | intents.DM_MESSAGES | intents.MESSAGE_CONTENT,
                cache_settings=hikari.impl.CacheSettings(
                    components=components.ME | components.GUILD_CHANNELS | components.GUILD_THREADS
                ),
                auto_chunk_members=False,
                max_rate_limit=30.0,
                max_retries=3,
                banner=None,
                logs=None,
                suppress_optimization_warning=True,
            )
        except ValueError:
            # hikari reads the bot's id from the token; from None, since its words hold the token.
            raise CannotStart(REFUSED) from None
        self._tap = tap
        self._log = log
        self._registered = False
        self._whole = False
        self.sessions = 0
        self._bot.event_manager.subscribe(hikari.ShardPayloadEvent, self._take)
        self._bot.event_manager.subscribe(hikari.ShardReadyEvent, self._register)
        self._bot.event_manager.subscribe(hikari.ShardDisconnectedEvent, self._lose)
        self._bot.event_manager.subscribe(hikari.ShardResumedEvent, self._resume)

    async def run(self) -> None:
        """Connect and stay connected until the gateway is closed for good.

        Raises:
            CannotStart: Discord will not have this token or these intents.
            DiscordAway: The connection is lost, and hikari has given it up.
        """
        life = asyncio.create_task(self._live(), name="gateway")
        try:
            # hikari's start swallows a cancellation that meets it between two steps; this await does not.
            await asyncio.wait({life})
            life.result()
        except hikari.UnauthorizedError:
            raise CannotStart(REFUSED) from None
        except hikari.GatewayServerClosedConnectionError as closed:
            raise _reason(closed) from None
        except hikari.HikariError as error:
            raise DiscordAway(type(error).__name__) from None
        finally:
            await self.close()
            life.cancel()
            await asyncio.gather(life, return_exceptions=True)

    async def _live(self) -> None:
        await self._bot.start(check_for_updates=False)
        await self._bot.join()

    async def close(self) -> None:
        """Leave the gateway."""
        if self._bot.is_alive:
            await self._bot.close()

    @property
    def is_connected(self) -> bool:
        """Whether every shard hears from Discord."""
        shards = self._bot.shards.values()
        return bool(shards) and all(shard.is_connected for shard in shards)

    async def _take(self, event: hikari.ShardPayloadEvent) -> None:
        # No await before the put: handlers start in the events' order.
        if event.name == "READY":
            self.sessions += 1
            self._whole = True
        self._tap.put(event.name, event.payload)

    @property
    def is_whole(self) -> bool:
        """Whether nothing that happens can be missed: connected, and either resumed or begun anew. Source: ING-9."""
        return self._whole and self.is_connected

    async def _lose(self, _: hikari.ShardDisconnectedEvent) -> None:
        self._whole = False

    async def _resume(self, _: hikari.ShardResumedEvent) -> None:
        self._whole = True

    async def _register(self, event: hikari.ShardReadyEvent) -> None:
        """Tell Discord the slash commands, once: for everywhere, since those of a guild would be missing in DMs.

        Source: OPS-5.
        """
        if self._registered:
            return
        contexts = (hikari.ApplicationContextType.GUILD, hikari.ApplicationContextType.BOT_DM)
        commands = [
            self._bot.rest.slash_command_builder(name, description).set_context_types(contexts)
            for name, description in DESCRIPTIONS.items()
        ]
        try:
            await self._bot.rest.set_application_commands(event.application_id, commands)
        except (hikari.HikariError, TimeoutError) as error:
            self._log.warning("commands_not_registered", kind=type(error).__name__)
        else:
            self._registered = True
            self._log.info("commands_registered", count=len(commands))


async def check_application(rest: Rest, log: Log) -> None:
    """Ask Discord whether the token is good and the Message Content intent is on.

    Raises:
        CannotStart: One of them is not.
        DiscordAway: There was no usable answer.

    Source: ING-8, C25.
    """
    answer = await rest.get("/applications/@me")
    if answer.status == HTTPStatus.UNAUTHORIZED:
        raise CannotStart(REFUSED)
    flags = answer.fields.get("flags")
    if not answer.ok or not isinstance(flags, int):
        log.warning("application_unreadable", status=answer.status)
        return
    granted = hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT | hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT_LIMITED
    if not flags & granted:
        raise CannotStart(MISSING_INTENT)


def _reason(closed: hikari.GatewayServerClosedConnectionError) -> Exception:
    if closed.code == _AUTHENTICATION_FAILED:
        return CannotStart(REFUSED)
    if closed.code == _DISALLOWED_INTENTS:
        return CannotStart(MISSING_INTENT)
    if closed.code == _SHARDING_REQUIRED:
        return CannotStart(TOO_MANY_SERVERS)
    if closed.code in _OUTDATED:
        # To connect again would change nothing, and Discord takes the token from whoever does it all day.
        return CannotStart(f"Discord takes no connection of this kind any more (code {closed.code}): upgrade Clankie")
    return DiscordAway(f"closed_{closed.code}")
