"""A room with all that may happen to it, as a machine that hypothesis drives; ``chronicle.py`` says what must hold.

The real desk, registry, runner and store run on a real database; only the loop does what the machine says.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from clankie_captain.core.children import Forked
from clankie_captain.core.grants import Powers
from clankie_captain.core.lane import OPERATOR, Trust
from clankie_captain.core.placement import Loops
from clankie_captain.core.voice import Holding, RoomAsking
from clankie_captain.errors import StartedError, SupersededActionError
from clankie_captain.ports.voice import RoomHeld
from clankie_captain.store.rooms import RoomLeaseStore
from clankie_settings import bounds
from clankie_settings.ids import ActionId, ChildId, DeliveryId, PresenceId
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.receipt import ActionReceipt
from clankie_settings.wire.trigger import Delivery
from tests.captain.lanes.chronicle import Chronicle
from tests.captain.lanes.fakes import Ask, Boundary, CountedIds, Explode, Fail, Fork, Say, StillClock, Thought
from tests.captain.lanes.house import House, house

T = TypeVar("T")
ANN, BOB, OWNER = SPEAKERS = ("100001", "100002", "100003")
EAR, OTHER = EARS = (PresenceId("ear"), PresenceId("other-ear"))
HERE, TTL = "1:2", timedelta(seconds=15)
TOOLS = ("read_page", "read_file", "fork")
SAYS = (Say("words"), Say("[[stay-silent]]"), Say(None))
BREAKS = (Fail(FailureCode.CAPTAIN_MODEL_FAILED), Explode())
GIVEN = st.sampled_from([frozenset[str](), frozenset({"fork"}), frozenset({"fork", "read_page"})])
EVEN = Powers(everyone=frozenset({"fork", "read_page"}))
UNEVEN = st.builds(
    Powers,
    st.builds(Trust, st.frozensets(st.sampled_from(SPEAKERS[1:])), st.sampled_from([frozenset[str](), {HERE}])),
    GIVEN,
    actors=st.dictionaries(st.sampled_from(SPEAKERS), GIVEN),
)
MORE = Powers(everyone=frozenset({"fork"}), actors={ANN: frozenset({"read_page"})})
# Often alike for all, for only then one waits for another in a loop; or one of them may more than the others.
POWERS = st.sampled_from((EVEN, Powers(), MORE, None)).flatmap(lambda each: UNEVEN if each is None else st.just(each))

PICK, ACTOR, VOICE, YES = st.integers(0, 9), st.sampled_from(SPEAKERS), st.sampled_from(EARS), st.booleans()
STEPS: dict[str, tuple[int, dict[str, st.SearchStrategy[Any]]]] = {
    "write": (6, {"actor": ACTOR, "delivery": st.sampled_from(("auto", "auto", "auto", "steer", "queue"))}),
    "insist": (2, {"pick": PICK}),
    "stop": (1, {"actor": ACTOR}),
    "utter": (1, {"actor": ACTOR, "voice": VOICE}),
    "ask": (1, {"delivery": st.sampled_from((None, "steer", "queue"))}),
    "reach_a_boundary": (5, {"pick": PICK}),
    "call_tools": (4, {"pick": PICK}),
    "fork": (3, {"pick": PICK}),
    "end": (6, {"pick": PICK, "end": st.sampled_from((SAYS[0], *SAYS, *BREAKS)), "late": YES}),
    "hold": (3, {"voice": VOICE, "ttl": st.sampled_from((TTL, TTL, timedelta()))}),
    "acknowledge": (2, {"pick": PICK, "ok": YES}),
    "turn_the_clock": (1, {"change": st.sampled_from((5, 10, 20, -3, -3600)), "look": YES}),
    "change_powers": (3, {"powers": POWERS}),
    "change": (2, {"pick": PICK, "how": st.sampled_from(("again", "edit", "withdraw", "cancel"))}),
    "cancel_a_child": (1, {"pick": PICK}),
    "die": (1, {}),
}
"""What may come, how often beside the rest, and how."""

STEP = st.sampled_from([name for name, (weight, _) in STEPS.items() for _ in range(weight)]).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(STEPS[name][1]))
)


class Place(RuleBasedStateMachine):
    """A room, three speakers of whom the owner may trust two, two voices, the operator, and a captain that may die."""

    empty: ClassVar[Path]
    """A database that is new and migrated already."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "captain.db"
        shutil.copy(self.empty, self._path)
        self._runner = asyncio.Runner()
        self._ids, self._clock, self._loops = CountedIds(), StillClock(), Loops()
        self._powers = Powers()
        self._lease: Holding | None = None
        self._known = Chronicle(lambda: self._powers)
        self._parked: dict[str, Thought] = {}
        self._numbers, self._sound = 0, True
        self._open: AbstractAsyncContextManager[House]
        self._captain: House

    def _do(self, work: Awaitable[T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(60):
                done = await work
                await self._settle_down()
                return done

        self._sound = False
        done = self._runner.run(bounded())
        self._sound = True
        return done

    async def _start(self) -> None:
        self._open = house(
            self._path, ids=self._ids, clock=self._clock, powers=lambda: self._powers, loops=self._loops, tools=TOOLS
        )
        self._captain = await self._open.__aenter__()

    async def _settle_down(self) -> None:
        """Wait until each live run waits for the machine's word."""
        live: dict[str, str] | None = None
        while live is None or live != {lane: thought.order.run for lane, thought in self._parked.items()}:
            fresh: list[Thought] = []
            while not self._captain.loop.thoughts.empty():
                fresh.append(self._captain.loop.thoughts.get_nowait())
            live = await self._captain.database.transact(self._known.look)
            for thought in fresh:
                self._parked[thought.order.lane] = thought
                self._known.hear(thought)
            self._parked = {lane: thought for lane, thought in self._parked.items() if not thought.ended}
        self._known.rest()

    def _fresh(self) -> str:
        self._numbers += 1
        return f"m{self._numbers}"

    def _pick(self, pick: int) -> Thought:
        """One of the live runs; somebody writes where there is none."""
        if not self._parked:
            self.write(ANN)
        return self._parked[sorted(self._parked)[pick % len(self._parked)]]

    @initialize(loop=YES, powers=POWERS, held=YES, writers=st.lists(ACTOR, max_size=3))
    def begin(self, loop: bool, powers: Powers, held: bool = False, writers: Sequence[str] = ()) -> None:
        self._loops, self._powers = Loops(everywhere=loop), powers
        self._do(self._start())
        for actor in writers:
            self.write(actor)
        if held:
            self.hold()

    @rule(step=STEP)
    def go_on(self, step: tuple[str, dict[str, Any]]) -> None:
        name, how = step
        getattr(self, name)(**how)

    def write(self, actor: str, delivery: Delivery = "auto", words: str = "words") -> None:
        self._do(self._say(actor, delivery, words))

    def insist(self, pick: int = 0) -> None:
        """Somebody else writes, and the sender whom a run answers adds more than may pass whoever waits."""
        sender = self._known.said.get(self._known.heard_by(self._pick(pick).order.run)[0], "nobody")

        async def work() -> None:
            await self._say(BOB if sender == ANN else ANN, "auto", "words")
            for _ in range(bounds.STEERS_PAST_OTHERS + 1):
                await self._say(sender, "auto", "more")

        if sender in SPEAKERS:
            self._do(work())

    def stop(self, actor: str) -> None:
        self._do(self._say(actor, "auto", "stop"))

    async def _say(self, actor: str, delivery: Delivery, words: str) -> None:
        message = self._fresh()
        self._known.said[message], self._known.words[message] = actor, words
        turn = await self._captain.say(message, words, actor=actor, delivery=delivery)
        if turn.state == "steer":
            self._known.steered.add(message)
        aloud = self._lease is not None and self._lease.lives(self._clock.now())
        assert aloud or not turn.lane.startswith("voice/"), "written to a voice that is not there"

    def utter(self, actor: str, voice: PresenceId = EAR) -> None:
        message = self._fresh()
        self._known.said[message], self._known.words[message] = actor, "aloud"
        self._do(self._captain.say(message, "aloud", actor=actor, kind="voice", presence_id=voice))

    def ask(self, delivery: Any) -> None:
        async def work() -> None:
            self._known.said[await self._captain.ask(self._fresh(), "words", delivery)] = "operator"

        self._do(work())

    def hold(self, voice: PresenceId = EAR, ttl: timedelta = TTL) -> None:
        now, held = self._clock.now(), self._lease
        free = held is None or not held.lives(now) or held.presence == voice
        asked = RoomLeaseStore(self._captain.database).ask(HERE, RoomAsking(voice, ttl), now)
        assert isinstance(self._do(asked), RoomHeld) == free, "a room held by two, or by none"
        self._lease = Holding(voice, now, ttl) if free else held

    def turn_the_clock(self, change: int, look: bool = True) -> None:
        self._clock.turn_to(timedelta(seconds=change))
        if look:
            self._do(RoomLeaseStore(self._captain.database).lapse(self._clock.now()))
            self._lease = self._lease if self._lease and self._lease.lives(self._clock.now()) else None

    def change_powers(self, powers: Powers) -> None:
        self._powers = powers

    def change(self, pick: int, how: str) -> None:
        if not self._known.said:
            return
        message = sorted(self._known.said)[pick % len(self._known.said)]

        async def work() -> None:
            with suppress(StartedError):
                await self._change(PresenceId(self._known.rows[message].presence), message, how)

        self._do(work())

    async def _change(self, presence: PresenceId, message: str, how: str) -> None:
        delivery, desk = DeliveryId(message), self._captain.desk
        if how == "cancel" or presence == OPERATOR:
            await desk.cancel(presence, delivery)
        elif how == "again":
            await desk.accept(self._known.rows[message].trigger)
        elif how == "withdraw":
            await desk.withdraw(presence, delivery)
        else:
            words = f"other {self._fresh()}"
            await desk.edit(presence, delivery, words)
            self._known.words[message] = words

    def reach_a_boundary(self, pick: int = 0) -> None:
        thought = self._pick(pick)

        async def work() -> None:
            await thought.do(Boundary())
            await self._captain.database.transact(self._known.look)
            self._known.hear(thought)

        self._do(work())

    def call_tools(self, pick: int = 0) -> None:
        thought = self._pick(pick)
        for tool in TOOLS:
            done = self._do(thought.do(Ask(tool))) is None
            assert done == self._known.may_call(thought.order.run, tool), "a call beyond what all of them may"

    def fork(self, pick: int = 0) -> None:
        thought = self._pick(pick)

        async def work() -> None:
            if await thought.do(Ask("fork")) is not None:
                return
            lane = thought.order.lane
            done = await thought.do(Fork("work", f"call_{self._fresh()}"))
            assert isinstance(done, Forked) == (not lane.startswith("voice/") and "~child/" not in lane)
            if isinstance(done, Forked):
                await self._captain.database.transact(self._known.look)
                self._known.forked(thought.order.run)

        self._do(work())

    def cancel_a_child(self, pick: int) -> None:
        if not self._known.errands:
            return
        child = sorted(self._known.errands)[pick % len(self._known.errands)]
        self._do(self._captain.children.cancel(ChildId(child)))

    def end(self, pick: int = 0, end: Say | Fail | Explode = SAYS[0], late: bool = False) -> None:
        thought = self._pick(pick)

        async def work() -> None:
            ending = thought.begin(self._answer(thought, end))
            if late:
                # Lands somewhere between the end of the answer and its settlement.
                await self._say(BOB, "auto", "words")
            await ending

        self._do(work())

    def _answer(self, thought: Thought, end: Say | Fail | Explode) -> Say | Fail | Explode:
        if end != SAYS[0]:
            return end
        words = self._known.answers[thought.order.run] = f"answer {self._fresh()}"
        return Say(words)

    def acknowledge(self, pick: int = 0, ok: bool = True) -> None:
        if not self._known.speaks:
            self.end(pick)
        if self._known.speaks:
            self._do(self._acknowledge(*self._known.speaks[pick % len(self._known.speaks)], ok))

    async def _acknowledge(self, action: str, voice: str, ok: bool) -> None:
        receipt = ActionReceipt(ok=ok, code=None if ok else "no_sound")
        try:
            await self._captain.actions.acknowledge(PresenceId(voice), ActionId(action), receipt)
        except SupersededActionError:
            self._known.superseded.add(action)
        else:
            if ok:
                self._known.acknowledged.add(action)

    def die(self) -> None:
        async def work() -> None:
            await self._open.__aexit__(None, None, None)
            self._parked.clear()
            await self._start()

        self._do(work())

    def finish(self) -> None:
        """End all that runs, and let every lease run out."""
        while self._parked:
            self.end()
        self._do(self._conclude())

    async def _conclude(self) -> None:
        self._clock.turn_to(timedelta(hours=2))
        await RoomLeaseStore(self._captain.database).lapse(self._clock.now())
        await self._captain.database.transact(self._known.look)
        await self._captain.database.transact(self._known.conclude)

    def close(self) -> None:
        """Leave nothing behind."""
        try:
            self._runner.run(self._captain.database.close())
        finally:
            self._runner.close()
            self._folder.cleanup()

    def teardown(self) -> None:
        try:
            if self._sound:
                self.finish()
        finally:
            self.close()
