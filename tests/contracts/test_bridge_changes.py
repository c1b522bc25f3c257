"""Edits, withdrawals and commands: the bridge's own client against the captain's own application, over real HTTP."""

from collections.abc import AsyncIterator
from typing import get_args

import pytest
from pydantic import SecretStr

from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.ports import Changed
from clankie_captain.core.commands import NOTHING, STOPPED
from clankie_settings import bounds
from clankie_settings.ids import PresenceId
from clankie_settings.wire.command import Command, CommandName, Edit
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.result import Absorbed, Failed
from tests.captain.api.running import CAPTAIN_TOKEN, PATIENCE_S, SECOND_TOKEN, RunningCaptain
from tests.captain.core.speech import ANN, BOB, DM_ROOM, GUILD_ROOM, NOON, trigger

pytestmark = pytest.mark.requirement("WIRE-8")


@pytest.fixture
async def connection(captain: RunningCaptain) -> AsyncIterator[Connection]:
    async with Connection(captain.address, SecretStr(CAPTAIN_TOKEN)) as opened:
        yield opened


@pytest.fixture
def turns(connection: Connection) -> CaptainTurns:
    return CaptainTurns(connection)


async def waiting(captain: RunningCaptain, turns: CaptainTurns) -> None:
    """A run at work, and a message that waits for its next boundary."""
    captain.loop.free.clear()
    await turns.hand_over(trigger("400"))
    await captain.loop.until_asked()
    await turns.hand_over(trigger("401", actor=BOB))


def edited(body: str) -> Edit:
    return Edit(body=body, edited_at=NOON)


def given(name: CommandName, number: str = "c1", **how: object) -> Command:
    fields: dict[str, object] = {"command_id": number, "name": name, "room": GUILD_ROOM, "actor": ANN, **how}
    return Command.model_validate(fields)


@pytest.mark.requirement("ING-7")
async def test_what_waits_can_be_edited_again_and_again_and_what_was_heard_cannot(
    captain: RunningCaptain, turns: CaptainTurns
) -> None:
    await waiting(captain, turns)
    for body in (
        "other words",
        '\u2603 \U0001f469\u200d\U0001f52c\n"quoted"',
        "z" * bounds.BODY_CHARS,
        "the last words",
    ):
        assert await turns.edit("401", edited(body)) is Changed.DONE
    assert await turns.edit("400", edited("too late")) is Changed.STARTED
    captain.loop.free.set()
    await turns.result("400", int(PATIENCE_S))
    assert await turns.edit("400", edited("far too late")) is Changed.STARTED


@pytest.mark.requirement("ING-7")
async def test_what_waits_can_be_withdrawn_once_and_what_was_heard_cannot(
    captain: RunningCaptain, turns: CaptainTurns
) -> None:
    await waiting(captain, turns)
    assert await turns.withdraw("401") is Changed.DONE
    gone = await turns.result("401", 0)
    assert isinstance(gone, Failed)
    assert (gone.code, gone.owed) == (FailureCode.WITHDRAWN, False)
    assert await turns.withdraw("401") is Changed.STARTED
    assert await turns.withdraw("400") is Changed.STARTED


@pytest.mark.requirement("ING-7", "SEC-1")
async def test_nobody_changes_what_the_captain_does_not_have_of_them(
    captain: RunningCaptain, turns: CaptainTurns
) -> None:
    await waiting(captain, turns)
    async with Connection(captain.address, SecretStr(SECOND_TOKEN)) as other:
        for mine, delivery in ((turns, "999"), (CaptainTurns(other, PresenceId("second")), "401")):
            assert await mine.edit(delivery, edited("x")) is Changed.UNKNOWN
            assert await mine.withdraw(delivery) is Changed.UNKNOWN
    captain.loop.free.set()
    assert isinstance(await turns.result("401", int(PATIENCE_S)), Absorbed)


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("name", get_args(CommandName))
async def test_every_command_is_answered_with_words_and_the_same_one_again_alike(
    captain: RunningCaptain, turns: CaptainTurns, name: CommandName
) -> None:
    for number, room in enumerate((GUILD_ROOM, DM_ROOM)):
        command = given(name, f"c{number}", room=room)
        said = await turns.command(command)
        assert said
        assert await turns.command(command) == said


@pytest.mark.requirement("OPS-5")
async def test_a_stop_ends_the_run_whose_words_are_its_givers(captain: RunningCaptain, turns: CaptainTurns) -> None:
    await waiting(captain, turns)
    assert await turns.command(given("stop", "c1", actor=ANN)) == STOPPED
    ended = await turns.result("400", int(PATIENCE_S))
    assert isinstance(ended, Failed)
    assert ended.code is FailureCode.CAPTAIN_CANCELLED
    # What nobody had heard runs by itself; in another room nothing does.
    await captain.loop.until_asked(2)
    assert await turns.command(given("stop", "c2", room=DM_ROOM)) == NOTHING
