"""A captain that speaks the wire strictly and thinks what a test tells it to."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ValidationError

from clankie_captain.core.lease import Asking, Held, granted
from clankie_settings.wire.action import Action
from clankie_settings.wire.command import Command, CommandAnswer, Edit
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.lease import INSTANCE_HEADER, PRESENCE_LEASED, Lease, LeaseRequest
from clankie_settings.wire.problem import PROBLEM_TYPE, Problem, refused_field
from clankie_settings.wire.receipt import ActionReceipt, KnownRoom, KnownRooms, Owed, OwedList, Receipt, ReceiptAnswer
from clankie_settings.wire.result import Absorbed, Failed, Pending, Replied, Result, Silent
from clankie_settings.wire.trigger import Trigger, content_hash
from clankie_settings.wire.version import WIRE_HEADER, WIRE_VERSION
from clankie_stage.discord.changes import Changes

TOKEN = "a-token-of-the-presence"
PATIENCE_S = 60.0

Settled = Replied | Absorbed | Silent | Failed
Think = Callable[[Trigger], Settled | None]


@dataclass
class Turn:
    """One accepted delivery."""

    trigger: Trigger
    accepted_at: datetime
    result: Settled | None = None
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    edits: list[Edit] = field(default_factory=list[Edit])

    @property
    def owed(self) -> bool:
        if isinstance(self.result, Replied) or (isinstance(self.result, Failed) and self.result.notice):
            return not self.receipts or len({each.part for each in self.receipts}) < self.receipts[0].of
        return self.result is None

    def answer(self) -> Result | Pending:
        if self.result is None:
            return Pending(state="running", delivery_id=self.trigger.delivery_id)
        return self.result.model_copy(update={"owed": self.owed})


def nothing_yet(_: Trigger) -> None:
    """Keeps every turn running until a test settles it."""


class LoopbackCaptain:
    """State and door of the captain; `down` and `up` keep the state, as a restart does.

    `queued` says that no run has heard what is unsettled, so that it can still be edited and withdrawn; of what is
    `unheard` nobody gets an answer, as if each got lost; while `listless` it cannot say what is owed,
    and the next list waits for `listing`.
    """

    def __init__(self) -> None:
        self.turns: dict[str, Turn] = {}
        self.asked: list[str] = []
        self.action_receipts: dict[str, ActionReceipt] = {}
        self.commands: dict[str, Command] = {}
        self.think: Think = nothing_yet
        self.token = TOKEN
        self.wire_version = str(WIRE_VERSION)
        self.draining = False
        self.queued = False
        self.unheard: set[str] = set()
        self.listless = False
        self.listing: asyncio.Event | None = None
        self.refuse: Problem | None = None
        self.changes = Changes()
        self.lease: Held | None = None
        self._actions: list[tuple[int | None, Action]] = []
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["LoopbackCaptain", None]:
        await self.up()
        try:
            yield self
        finally:
            await self.down()

    async def up(self) -> None:
        app = web.Application(middlewares=[self._door])
        app.router.add_post("/v1/turns", self._post_turn)
        app.router.add_get("/v1/turns", self._owed)
        app.router.add_get("/v1/turns/{id}", self._get_turn)
        app.router.add_patch("/v1/turns/{id}", self._edit_turn)
        app.router.add_delete("/v1/turns/{id}", self._withdraw_turn)
        app.router.add_post("/v1/turns/{id}/receipts", self._post_receipt)
        app.router.add_post("/v1/actions/{id}/receipt", self._post_action_receipt)
        app.router.add_post("/v1/presences/discord/commands", self._post_command)
        app.router.add_get("/v1/presences/discord/actions", self._get_actions)
        app.router.add_put("/v1/presences/discord/lease", self._put_lease)
        app.router.add_get("/v1/presences/discord/rooms", self._get_rooms)
        app.router.add_get("/readyz", self._get_readiness)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def down(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    # --- what tests do and wait for -----------------------------------------------------------

    def settle(self, delivery_id: str, result: Settled) -> None:
        self.turns[delivery_id].result = result
        self.changes.announce()

    def reply(self, delivery_id: str, text: str, after_action: int | None = None) -> None:
        self.settle(delivery_id, replied(delivery_id, text, after_action))

    def act(self, action: Action, sequence: int | None = None) -> None:
        self._actions.append((sequence, action))
        self.changes.announce()

    async def until_turns(self, count: int) -> list[Trigger]:
        return await self.changes.until(
            lambda: [each.trigger for each in self.turns.values()] if len(self.turns) >= count else None, PATIENCE_S
        )

    async def until_asked(self, call: str, count: int = 1) -> None:
        await self.changes.until(lambda: self.asked.count(call) >= count, PATIENCE_S)

    async def until_receipts(self, delivery_id: str, count: int = 1) -> list[Receipt]:
        def enough() -> list[Receipt] | None:
            turn = self.turns.get(delivery_id)
            return turn.receipts if turn is not None and len(turn.receipts) >= count else None

        return await self.changes.until(enough, PATIENCE_S)

    async def until_acknowledged(self, action_id: str) -> ActionReceipt:
        return await self.changes.until(lambda: self.action_receipts.get(action_id), PATIENCE_S)

    # --- the door -------------------------------------------------------------------------------

    @web.middleware
    async def _door(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        self.changes.announce()
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            response: web.StreamResponse = self._problem(401, "unauthorized")
        elif request.headers.get(WIRE_HEADER) != str(WIRE_VERSION):
            response = self._problem(400, "wire_version")
        elif self._is_stranger(request):
            response = self._problem(409, PRESENCE_LEASED)
        else:
            response = await handler(request)
        if not response.prepared:
            response.headers[WIRE_HEADER] = self.wire_version
        return response

    def _is_stranger(self, request: web.Request) -> bool:
        holder = self.lease.holder if self.lease is not None else None
        asking = request.headers.get(INSTANCE_HEADER, holder)
        return holder is not None and asking != holder and not request.path.endswith("/lease")

    async def _post_turn(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        if self.refuse is not None:
            return self._refused(self.refuse)
        try:
            trigger = Trigger.model_validate_json(await request.read())
        except ValidationError as error:
            return self._problem(422, "invalid_trigger", refused_field(error)[0])
        turn = self.turns.get(trigger.delivery_id)
        if turn is None:
            if self.draining:
                return self._problem(503, "draining")
            turn = self.turns[trigger.delivery_id] = Turn(trigger, datetime.now(UTC))
            turn.result = self.think(trigger)
            self.changes.announce()
        elif content_hash(turn.trigger) != content_hash(trigger):
            return self._problem(409, "delivery_conflict")
        return await self._waited(turn, request)

    async def _get_turn(self, request: web.Request) -> web.Response:
        turn = self.turns.get(request.match_info["id"])
        return self._problem(404, "unknown_delivery") if turn is None else await self._waited(turn, request)

    async def _edit_turn(self, request: web.Request) -> web.Response:
        turn = self.turns.get(request.match_info["id"])
        if turn is None:
            return self._problem(404, "unknown_delivery")
        if not self.queued or turn.result is not None:
            return self._problem(409, "started")
        edit = Edit.model_validate_json(await request.read())
        turn.edits.append(edit)
        turn.trigger = turn.trigger.model_copy(update={"body": edit.body})
        self.changes.announce()
        return self._shape(turn.answer())

    async def _withdraw_turn(self, request: web.Request) -> web.Response:
        turn = self.turns.get(request.match_info["id"])
        if turn is None:
            return self._problem(404, "unknown_delivery")
        if not self.queued or turn.result is not None:
            return self._problem(409, "started")
        turn.result = failed(turn.trigger.delivery_id, FailureCode.WITHDRAWN)
        self.changes.announce()
        return self._shape(turn.answer())

    async def _waited(self, turn: Turn, request: web.Request) -> web.Response:
        wait_s = int(request.headers["Prefer"].removeprefix("wait="))
        assert 0 <= wait_s <= 60
        if wait_s and not self.draining:
            with suppress(TimeoutError):
                await self.changes.until(lambda: turn.result is not None or self._runner is None, float(wait_s))
        if turn.trigger.delivery_id in self.unheard:
            return self._problem(503, "unheard")
        answer = turn.answer()
        if isinstance(answer, Pending):
            return self._shape(answer, 202, {"Location": f"/v1/turns/{turn.trigger.delivery_id}"})
        return self._shape(answer)

    async def _owed(self, request: web.Request) -> web.Response:
        assert request.query["owed"] == "true"
        listing, self.listing = self.listing, None
        if listing is not None:
            await listing.wait()
        if self.listless:
            return self._problem(503, "listless")
        owed = tuple(
            Owed(
                delivery_id=each.trigger.delivery_id,
                room=each.trigger.room,
                message_id=each.trigger.message_id,
                addressed=each.trigger.addressed,
                accepted_at=each.accepted_at,
                settled_at=each.accepted_at if each.result else None,
                result=each.result,
                parts_posted=len(each.receipts),
            )
            for each in self.turns.values()
            if each.owed
        )
        return self._shape(OwedList(turns=owed))

    async def _post_receipt(self, request: web.Request) -> web.Response:
        turn = self.turns.get(request.match_info["id"])
        if turn is None:
            return self._problem(404, "unknown_delivery")
        turn.receipts.append(Receipt.model_validate_json(await request.read()))
        self.changes.announce()
        return self._shape(ReceiptAnswer(delivery_id=turn.trigger.delivery_id, owed=turn.owed))

    async def _post_action_receipt(self, request: web.Request) -> web.Response:
        self.action_receipts[request.match_info["id"]] = ActionReceipt.model_validate_json(await request.read())
        self.changes.announce()
        return web.Response(status=204)

    async def _post_command(self, request: web.Request) -> web.Response:
        command = Command.model_validate_json(await request.read())
        if self.refuse is not None:
            return self._refused(self.refuse)
        self.commands[command.command_id] = command
        self.changes.announce()
        return self._shape(CommandAnswer(text=f"{command.name}: done, @everyone"))

    async def _put_lease(self, request: web.Request) -> web.Response:
        asked = LeaseRequest.model_validate_json(await request.read())
        asking = Asking(asked.instance_id, timedelta(seconds=asked.ttl_s), asked.listening, asked.replaces)
        last_action = max((sequence or 0 for sequence, _ in self._actions), default=0)
        held = granted(self.lease, asking, datetime.now(UTC), last_action)
        if held is None:
            return self._problem(409, PRESENCE_LEASED)
        self.lease = held
        self.changes.announce()
        return self._shape(Lease(fence=held.fence, missed_since=held.missed_since, last_action=held.last_action))

    async def _get_rooms(self, request: web.Request) -> web.Response:
        del request
        newest = {each.trigger.room.channel_id: each for each in self.turns.values()}
        known = [
            KnownRoom(
                room=each.trigger.room,
                last_message_id=each.trigger.message_id,
                last_at=each.accepted_at,
                last_state="running",
            )
            for each in newest.values()
        ]
        return self._shape(KnownRooms(rooms=tuple(known)))

    async def _get_readiness(self, request: web.Request) -> web.Response:
        del request
        return self._problem(503, "draining") if self.draining else web.json_response({"ready": True})

    async def _get_actions(self, request: web.Request) -> web.StreamResponse:
        last = request.headers.get("Last-Event-ID")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", WIRE_HEADER: self.wire_version})
        await response.prepare(request)
        await response.write(b": here\n\n")
        given = 0
        while self._runner is not None:
            for sequence, action in self._actions[given:]:
                given += 1
                if last is not None and sequence is not None and sequence <= int(last):
                    continue
                number = f"id: {sequence}\n" if sequence is not None else ""
                data = action.model_dump_json(exclude_none=True)
                await response.write(f"event: {action.name}\n{number}data: {data}\n\n".encode())
            try:
                known = given
                await self.changes.until(lambda known=known: len(self._actions) > known or self._runner is None, 5.0)
            except TimeoutError:
                await response.write(b": still here\n\n")
        return response

    def _shape(self, shape: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
        text = shape.model_dump_json(exclude_none=True)
        return web.Response(text=text, status=status, headers=headers, content_type="application/json")

    def _problem(self, status: int, code: str, at: str | None = None) -> web.Response:
        return self._refused(Problem(title=code, status=status, detail=code, code=code, field=at))

    def _refused(self, problem: Problem) -> web.Response:
        text = problem.model_dump_json(exclude_none=True)
        return web.Response(text=text, status=problem.status, content_type=PROBLEM_TYPE)


def replied(delivery_id: str, text: str, after_action: int | None = None) -> Replied:
    return Replied(delivery_id=delivery_id, turn_id="t", run_id="r", owed=True, text=text, after_action=after_action)


def silent(delivery_id: str) -> Silent:
    return Silent(delivery_id=delivery_id, turn_id="t", run_id="r", owed=False)


def absorbed(delivery_id: str, answered_by: str) -> Absorbed:
    return Absorbed(delivery_id=delivery_id, turn_id="t", run_id="r", owed=False, answered_by=answered_by)


def failed(delivery_id: str, code: FailureCode, *, notice: bool = False) -> Failed:
    return Failed(delivery_id=delivery_id, turn_id="t", owed=notice, code=code, notice=notice)


def echo(trigger: Trigger) -> Replied:
    """Settles every turn at once."""
    return replied(trigger.delivery_id, f"heard: {trigger.body}")
