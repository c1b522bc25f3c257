"""The websocket at ``/gateway``: HELLO, heartbeats, IDENTIFY, RESUME, and Discord's close codes."""

import asyncio
import contextlib
import json
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from aiohttp import WSMsgType, web

from clankie_settings.clock import Ids
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.compression import compressor
from clankie_stage.discord.intents import GUILDS, KNOWN_INTENTS, disallowed
from clankie_stage.discord.payloads import guild_create_payload, self_payload
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.sessions import OUTGOING_FRAMES, Close, Session, Sessions, Socket, encode
from clankie_stage.discord.snowflakes import bot_token
from clankie_stage.discord.world import Json, World

HEARTBEAT, IDENTIFY, PRESENCE, VOICE_STATE, RESUME = 1, 2, 3, 4, 6
REQUEST_MEMBERS, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 8, 9, 10, 11

IGNORED_OPS = frozenset({PRESENCE, VOICE_STATE, REQUEST_MEMBERS})
"""Operations that are accepted and change nothing here."""

LONGEST_FRAME = 15_360
"""Bytes that a client may send in one frame; a longer one closes with 4002."""

ENDS_SESSION = frozenset({1000, 1001})
"""Codes with which a client says that it will not come back."""

CLOSE_REASONS = {
    4000: "Unknown error.",
    4001: "Unknown opcode.",
    4002: "Error while decoding payload.",
    4003: "Not authenticated.",
    4004: "Authentication failed.",
    4005: "Already authenticated.",
    4007: "Invalid seq.",
    4010: "Invalid shard.",
    4012: "Invalid API version.",
    4013: "Invalid intent(s).",
    4014: "Disallowed intent(s).",
}


@dataclass(slots=True)
class _Connection:
    """One accepted websocket and the session that it carries, once there is one."""

    socket: Socket
    host: str
    session: Session | None = None

    def close(self, code: int) -> None:
        self.socket.close(code, CLOSE_REASONS[code])


@dataclass(frozen=True, slots=True)
class Gateway:
    """Accepts gateway connections."""

    world: World
    sessions: Sessions
    behaviour: Behaviour
    recording: Recording
    ids: Ids

    async def accept(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until either side ends it."""
        websocket = web.WebSocketResponse(compress=False, max_msg_size=LONGEST_FRAME * 4)
        await websocket.prepare(request)
        socket = Socket(asyncio.Queue(OUTGOING_FRAMES + 1), partial(self._cut, request))
        connection = _Connection(socket, request.host)
        self.recording.add("gateway_open", {"query": dict(request.query)})
        if request.query.get("v", "10") != "10":
            connection.close(4012)
        else:
            connection.socket.send(
                encode(
                    {
                        "op": HELLO,
                        "d": {"heartbeat_interval": self.behaviour.heartbeat_interval_ms},
                        "s": None,
                        "t": None,
                    }
                )
            )
        writer = asyncio.create_task(self._write(websocket, connection, request.query.get("compress", "")))
        try:
            await self._read(websocket, connection)
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writer
            self._detach(connection, websocket.close_code)
        return websocket

    async def _write(self, websocket: web.WebSocketResponse, connection: _Connection, compression: str) -> None:
        compress = compressor(compression)
        while True:
            frame = await connection.socket.outgoing.get()
            if isinstance(frame, Close):
                self.recording.add("gateway_close", {"by": "stage", "code": frame.code})
                await websocket.close(code=frame.code, message=frame.reason.encode())
                return
            try:
                if compress is None:
                    await websocket.send_str(frame.decode())
                else:
                    await websocket.send_bytes(compress.compress(frame))
            except ConnectionError:
                return  # the reading half sees the end as well and cleans up

    def _cut(self, request: web.Request) -> None:
        self.recording.add("gateway_close", {"by": "stage", "code": None})
        if request.transport is not None:
            request.transport.abort()

    async def _read(self, websocket: web.WebSocketResponse, connection: _Connection) -> None:
        async for message in websocket:
            if message.type not in {WSMsgType.TEXT, WSMsgType.BINARY}:
                break
            self._take(connection, cast("str | bytes", message.data))

    def _take(self, connection: _Connection, raw: str | bytes) -> None:
        try:
            frame = cast("Json", json.loads(raw))
            op, data = frame["op"], frame.get("d")
        except (ValueError, TypeError, KeyError, RecursionError):
            connection.close(4002)
            return
        self.recording.add(
            "gateway_in", {"session": connection.session and connection.session.id, "op": op, "d": _without_token(data)}
        )
        if len(raw) > LONGEST_FRAME:
            connection.close(4002)
        elif op == HEARTBEAT:
            if self.behaviour.acknowledge_heartbeats:
                connection.socket.send(encode({"op": HEARTBEAT_ACK, "d": None, "s": None, "t": None}))
        elif op in {IDENTIFY, RESUME}:
            self._authenticate(connection, op, data)
        elif op not in IGNORED_OPS:
            connection.close(4001)
        elif connection.session is None:
            connection.close(4003)

    def _authenticate(self, connection: _Connection, op: int, data: Any) -> None:
        if connection.session is not None and connection.session.id in self.sessions.by_id:
            connection.close(4005)
        elif not isinstance(data, dict):
            connection.close(4002)
        elif cast("Json", data).get("token", "").removeprefix("Bot ") != bot_token(self.world.bot_id):
            connection.close(4004)
        elif op == IDENTIFY:
            self._identify(connection, cast("Json", data))
        else:
            self._resume(connection, cast("Json", data))

    def _identify(self, connection: _Connection, data: Json) -> None:
        intents, shard = data.get("intents"), data.get("shard") or [0, 1]
        if not isinstance(intents, int) or intents < 0 or intents & ~KNOWN_INTENTS:
            connection.close(4013)
        elif disallowed(intents, self.behaviour.application_flags):
            connection.close(4014)
        elif not 0 <= shard[0] < shard[1]:
            connection.close(4010)
        else:
            session_id = self.ids.new("session").removeprefix("session_")
            session = self.sessions.open(session_id, intents, (shard[0], shard[1]), connection.socket)
            connection.session = session
            self._greet(session, connection.host)
            self.sessions.show()

    def _greet(self, session: Session, host: str) -> None:
        guilds = [guild for guild in self.world.guilds.values() if session.serves(guild.id)]
        bot = self.world.users[self.world.bot_id]
        ready: Json = {
            "v": 10,
            "user": self_payload(bot),
            "user_settings": {},
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": f"ws://{host}/gateway",
            "shard": list(session.shard),
            "application": {"id": bot.id, "flags": self.behaviour.application_flags},
            "private_channels": [],
            "relationships": [],
            "presences": [],
            "guild_join_requests": [],
            "geo_ordered_rtc_regions": [],
            "auth": {},
            "_trace": ["stage"],
        }
        self.sessions.send(session, "READY", ready)
        for guild in guilds if session.intents & GUILDS else ():
            self.sessions.send(session, "GUILD_CREATE", guild_create_payload(self.world, guild, bot.id))

    def _resume(self, connection: _Connection, data: Json) -> None:
        session, seq = self.sessions.by_id.get(str(data.get("session_id"))), data.get("seq")
        if session is None or not isinstance(seq, int):
            self._refuse_resume(connection)
        elif seq > session.seq:
            connection.close(4007)
        else:
            if session.socket is not None:
                session.socket.close(4000, "resumed elsewhere")
            session.socket = connection.socket
            if not self.sessions.replay(session, seq):
                session.socket = None
                del self.sessions.by_id[session.id]
                self._refuse_resume(connection)
                return
            connection.session = session
            self.sessions.send(session, "RESUMED", {"_trace": ["stage"]})
            self.sessions.show()

    def _refuse_resume(self, connection: _Connection) -> None:
        connection.socket.send(encode({"op": INVALID_SESSION, "d": False, "s": None, "t": None}))

    def _detach(self, connection: _Connection, close_code: int | None) -> None:
        self.recording.add("gateway_close", {"by": "client", "code": None if close_code is None else int(close_code)})
        session = connection.session
        if session is None or session.socket is not connection.socket:
            return
        session.socket = None
        # Only a client that says goodbye loses its session; whatever else ends a socket can be resumed.
        if close_code in ENDS_SESSION and not connection.socket.closing:
            self.sessions.by_id.pop(session.id, None)
        self.sessions.show()


def _without_token(data: object) -> object:
    return (
        cast("Json", data) | {"token": "(hidden)"}
        if isinstance(data, dict) and "token" in data
        else cast("object", data)
    )
