"""One bridge on a token: it waits, takes over or ends, and never acts on a lease that may have run out."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clankie_bridge.captain.patience import Patience
from clankie_bridge.desk.standing import ANOTHER, TAKEN_OVER, Standing
from clankie_bridge.errors import CannotStart, CaptainAway, PresenceTaken, StartAgain
from clankie_bridge.instance import Instance
from clankie_settings.wire.lease import Lease, LeaseRequest
from clankie_settings.wire.receipt import KnownRooms
from tests.bridge.conftest import PATIENCE_S, KeptLog

TAKEN = PresenceTaken("presence_leased")
AWAY = CaptainAway("no_connection")


class QuickClock:
    """A clock on which waiting takes no time but counts; it stands still where it is held."""

    def __init__(self) -> None:
        self.at = timedelta(hours=1)
        self.slept: list[timedelta] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.at

    def elapsed(self) -> timedelta:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)
        self.at += duration
        await asyncio.sleep(0)


class EndlessClock(QuickClock):
    """A clock on which no wait ever ends."""

    async def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)
        await asyncio.Event().wait()


class Keeper:
    """A captain's lease that answers from a list, and never again once that is used up."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = [*answers]
        self.asked: list[LeaseRequest] = []
        self.used_up = asyncio.Event()

    async def lease(self, request: LeaseRequest) -> Lease:
        self.asked.append(request)
        if not self.answers:
            self.used_up.set()
            await asyncio.Event().wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Lease(fence=answer, last_action=3)

    async def rooms(self) -> KnownRooms:
        return KnownRooms(rooms=())


class Bridge:
    """A standing over a told captain."""

    def __init__(
        self, folder: Path, *answers: int | Exception, name: str = "me", clock: QuickClock | None = None
    ) -> None:
        self.log, self.clock, self.keeper = KeptLog(), clock or QuickClock(), Keeper(*answers)
        self.instance = Instance(folder / "instance", name, self.log)
        self.instance.claim()
        self.standing = Standing(
            presence=self.keeper,
            instance=self.instance,
            patience=Patience(self.clock, lambda: 0.0, self.log),
            clock=self.clock,
            log=self.log,
        )

    async def until_told_nothing_more(self) -> asyncio.Task[None]:
        life = asyncio.create_task(self.standing.run(lambda: True))
        await self.keeper.used_up.wait()
        return life


async def ended(*lives: asyncio.Task[None]) -> None:
    for each in lives:
        each.cancel()
    await asyncio.gather(*lives, return_exceptions=True)


async def test_a_second_bridge_waits_a_while_and_then_ends_with_a_plain_message(tmp_path: Path) -> None:
    """C74."""
    bridge = Bridge(tmp_path, *[TAKEN] * 99)
    with pytest.raises(CannotStart, match=ANOTHER):
        await bridge.standing.run(lambda: True)
    assert len(bridge.keeper.asked) == 31
    assert len(bridge.log.of("presence_leased")) == 1


async def test_a_bridge_that_waited_begins_when_the_lease_is_free(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, TAKEN, TAKEN, 2)
    life = await bridge.until_told_nothing_more()
    assert (await bridge.standing.held()).fence == 2
    await ended(life)


async def test_a_bridge_that_was_taken_over_from_ends(tmp_path: Path) -> None:
    """C74."""
    bridge = Bridge(tmp_path, 1, TAKEN)
    with pytest.raises(CannotStart, match=TAKEN_OVER):
        await bridge.standing.run(lambda: True)


async def test_a_bridge_whose_lease_was_anothers_meanwhile_starts_again(tmp_path: Path) -> None:
    """Nobody else runs any more, but what this one holds in memory may be done by now."""
    bridge = Bridge(tmp_path, 1, 3)
    with pytest.raises(StartAgain):
        await bridge.standing.run(lambda: True)


async def test_what_changes_during_a_renewal_is_told_in_the_next(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, 1, clock=EndlessClock())
    heard = [False, True]

    def listens() -> bool:
        now = heard.pop(0)
        bridge.standing.renew()
        return now

    life = asyncio.create_task(bridge.standing.run(listens))
    async with asyncio.timeout(PATIENCE_S):
        await bridge.keeper.used_up.wait()
    assert [each.listening for each in bridge.keeper.asked] == [False, True]
    await ended(life)


async def test_a_captain_that_is_away_lets_the_bridge_connect_but_not_act(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, AWAY, AWAY)
    life = await bridge.until_told_nothing_more()
    await bridge.standing.judged()
    proof = asyncio.create_task(bridge.standing.proven())
    await asyncio.sleep(0)
    assert not proof.done()
    await ended(life, proof)


async def test_nothing_is_done_on_a_lease_that_has_run_out_until_it_is_renewed(tmp_path: Path) -> None:
    """A process that was stopped and wakes asks before it acts."""
    bridge = Bridge(tmp_path, 1, *[AWAY] * 3)
    life = await bridge.until_told_nothing_more()
    bridge.clock.at += timedelta(seconds=15)
    proof = asyncio.create_task(bridge.standing.proven())
    await asyncio.sleep(0)
    assert not proof.done()
    await ended(life)
    bridge.keeper.answers.append(1)
    life = asyncio.create_task(bridge.standing.run(lambda: True))
    async with asyncio.timeout(PATIENCE_S):
        await proof
    await ended(life)


async def test_a_restart_on_the_same_folder_names_the_process_that_it_replaces(tmp_path: Path) -> None:
    first = Bridge(tmp_path, name="first")
    beside = Bridge(tmp_path, 1, name="beside")
    assert (first.instance.replaces, beside.instance.replaces) == (None, None)
    first.instance.release()
    second = Bridge(tmp_path, 1, name="second")
    life = await second.until_told_nothing_more()
    assert [each.replaces for each in second.keeper.asked] == ["first", None]
    assert second.keeper.asked[1].listening
    await ended(life)
    second.instance.release()


async def test_a_folder_that_cannot_be_written_costs_a_quick_restart_alone(tmp_path: Path) -> None:
    (tmp_path / "instance").mkdir()
    bridge = Bridge(tmp_path, 1)
    life = await bridge.until_told_nothing_more()
    assert bridge.log.of("instance_unwritable")
    assert (await bridge.standing.held()).last_action == 3
    await ended(life)


async def test_the_lease_is_given_back_only_by_whoever_has_it(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, 1)
    await bridge.standing.give_back()
    assert bridge.keeper.asked == []
    life = await bridge.until_told_nothing_more()
    await ended(life)
    bridge.keeper.answers.append(AWAY)
    await bridge.standing.give_back()
    assert bridge.keeper.asked[-1].ttl_s == 0
    assert bridge.log.of("lease_kept")
