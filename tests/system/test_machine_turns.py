"""Machine turns of those whom the owner trusts, with real processes: one at a time, and apart from the room's talk."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from clankie_stage.discord.scenery import BOB_ID, GUILD_ID, OWNER_DM_ID, OWNER_ID
from clankie_stage.provider.steps import call, calls, gated, text
from tests.captain.machine.ground import alive, needs_a_sandbox
from tests.system.house import CAPTAIN, House, whole_house
from tests.system.scene import Scene, heard_in, told_by_tools

pytestmark = [pytest.mark.system, pytest.mark.asyncio(loop_scope="module")]

TOML = f'room_loop = "all"\nsystem_actors = ["{OWNER_ID}", "{BOB_ID}"]\n'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with whole_house(tmp_path_factory.mktemp("machine_turns"), CAPTAIN, TOML) as running:
        yield running


@needs_a_sandbox
@pytest.mark.requirement("LOOP-7", "GRANT-2")
async def test_what_a_machine_turn_reads_is_shown_to_nobody_elses_turn(scene: Scene) -> None:
    (scene.house.state / "workspace" / "diary.md").write_text("CANARY-file", "utf-8")
    await scene.script(calls(call("read_file", {"path": "diary.md"})), text("Read."), text("Hello."), text("Again."))
    asked = await scene.say("Clankie, read it", "owner")
    assert await scene.concluded(asked) == [["accepted", "replied"]]
    other = await scene.say("Clankie, what did you read?")
    assert await scene.concluded(other) == [["accepted", "replied"]]
    later = await scene.say("Clankie, another", "owner")
    assert await scene.concluded(later) == [["accepted", "replied"]]
    first, second, social, again = await scene.requests(4)
    assert [b'"name":"read_file"' in each.raw for each in (first, social)] == [True, False]
    assert "CANARY-file" in told_by_tools(second)[0]
    assert b"CANARY-file" not in social.raw
    assert b"CANARY-file" not in again.raw
    lanes = [line["lane"] for line in await scene.runs(3)]
    assert [each.partition("/")[0] for each in lanes] == ["turns", "rooms", "turns"]
    assert lanes[0] != lanes[2]


@pytest.mark.requirement("GRANT-2")
async def test_machine_turns_of_a_room_go_one_at_a_time_and_their_own_actor_steers(scene: Scene) -> None:
    await scene.script(gated("answer", "Half."), text("To the owner."), text("To Bob."))
    one = await scene.say("Clankie, one", "owner")
    await scene.house.provider.arrived("answer")
    two = await scene.say("Clankie, two", "Bob")
    more = await scene.say("Clankie, more", "owner")
    await scene.accepted(two, more)
    assert len(await scene.requests(1)) == 1
    await scene.open("answer")
    assert await scene.concluded(one, two, more) == [
        ["accepted", "replied"],
        ["accepted", "replied"],
        ["accepted", "absorbed"],
    ]
    _, second, third = await scene.requests(3)
    assert heard_in(second)[-1][1] == "Clankie, more"
    assert heard_in(third) == [("Bob", "Clankie, two")]
    assert "assistant" not in {message["role"] for message in third.messages}
    assert {author for author, _ in heard_in(second)} == {"The owner"}


@needs_a_sandbox
@pytest.mark.requirement("GRANT-2", "GRANT-4", "LANE-12")
async def test_the_owner_has_a_shell_in_a_direct_message_and_finds_out_afterwards_what_it_ran(scene: Scene) -> None:
    direct = Scene(scene.house, OWNER_DM_ID, "the owner's")
    await direct.script(calls(call("run_command", {"command": "echo CANARY-ran | tee kept; exit 3"})), text("Run."))
    asked = await direct.say("run it", "owner")
    assert await direct.concluded(asked) == [["accepted", "replied"]]
    _, second = await direct.requests(2)
    assert told_by_tools(second)[-1].startswith("Exit code 3.\n<<<output-")
    assert (scene.house.state / "workspace" / "kept").read_text("utf-8") == "CANARY-ran\n"
    trail, _ = await _trail(scene.house, f"dm:{OWNER_DM_ID}", "--text")
    assert 'calls run_command: {"command":"echo CANARY-ran | tee kept; exit 3"}' in trail
    assert "result of run_command: Exit code 3." in trail
    assert "\n                 CANARY-ran\n" in trail


@needs_a_sandbox
@pytest.mark.requirement("GRANT-4", "LANE-12")
async def test_what_was_run_in_a_room_of_others_is_found_afterwards_by_who_asks_for_one_shots(scene: Scene) -> None:
    command = {"command": "echo CANARY-$((40 + 2)); exit 3"}
    await scene.script(calls(call("run_command", command)), text("Run."), text("Hello."))
    assert await scene.concluded(await scene.say("Clankie, run it", "owner")) == [["accepted", "replied"]]
    assert await scene.concluded(await scene.say("Clankie, hello", "Ann")) == [["accepted", "replied"]]
    room = f"{GUILD_ID}:{scene.room}"
    (plain, hint), (whole, nothing) = await asyncio.gather(
        _trail(scene.house, room, "--text"), _trail(scene.house, room, "--one-shots", "--text")
    )
    assert "Clankie, hello" in plain
    assert "run_command" not in plain
    assert hint == "clankie: 1 one-shot besides; with --one-shots, too\n"
    assert "Clankie, hello" in whole
    assert 'calls run_command: {"command":"echo CANARY-$((40 + 2)); exit 3"}' in whole
    assert "result of run_command: Exit code 3." in whole
    assert "\n                 CANARY-42\n" in whole
    assert nothing == ""


@pytest.mark.requirement("GRANT-2", "GRANT-4")
async def test_somebody_else_in_the_same_place_gets_no_shell(scene: Scene) -> None:
    await scene.script(text("Here."), calls(call("run_command", {"command": "echo x > anns"})), text("No."))
    assert await scene.concluded(await scene.say("Clankie, hello", "owner")) == [["accepted", "replied"]]
    assert await scene.concluded(await scene.say("Clankie, run it for me", "Ann")) == [["accepted", "replied"]]
    owners, anns, refused = await scene.requests(3)
    assert [b'"name":"run_command"' in each.raw for each in (owners, anns)] == [True, False]
    assert "Exit code" not in told_by_tools(refused)[0]
    assert not (scene.house.state / "workspace" / "anns").exists()


@needs_a_sandbox
@pytest.mark.requirement("GRANT-4", "DUR-2")
async def test_an_interrupted_command_is_not_run_again_and_nothing_is_run_once_bubblewrap_is_gone(
    scene: Scene, tmp_path: Path
) -> None:
    house, path, mark = scene.house, scene.house.env["PATH"], f"86431.{uuid4().int}"
    await scene.script(calls(call("run_command", {"command": f"echo once >> log; sleep {mark}"})), text("Well."))
    asked = await scene.say("Clankie, do it", "owner")
    await house.until(lambda: alive(mark) or None, "the command runs")
    await house.kill("captain")
    house.env["PATH"] = str(tmp_path)
    try:
        await house.start_captain()
        assert await scene.concluded(asked) == [["accepted", "replied"]]
        *_, resumed = await scene.requests(2)
        assert told_by_tools(resumed)[-1].startswith("Interrupted: the outcome is unknown")
        assert (house.state / "workspace" / "log").read_text("utf-8") == "once\n"
        await house.until(lambda: not alive(mark) or None, "the command is gone")
        await _refused_without_bubblewrap(scene)
    finally:
        house.env["PATH"] = path
        await house.kill("captain")
        await house.start_captain()


async def _refused_without_bubblewrap(scene: Scene) -> None:
    given = {
        "run_command": {"command": "echo x > unsafe"},
        "write_file": {"path": "unsafe", "text": "x"},
        "read_file": {"path": "log"},
    }
    await scene.script(calls(*(call(*each) for each in given.items())), text("It cannot."))
    assert await scene.concluded(await scene.say("Clankie, try", "owner")) == [["accepted", "replied"]]
    *_, told = await scene.requests(4)
    assert ["bubblewrap is not installed" in each for each in told_by_tools(told)[-3:]] == [True, True, True]
    assert not (scene.house.state / "workspace" / "unsafe").exists()
    assert "apt install bubblewrap" in scene.house.output["captain"]


async def _trail(house: House, *arguments: str) -> tuple[str, str]:
    """What the command prints, and what it says besides."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "clankie_cli", "trail", *arguments,
        env=house.env, cwd=house.folder, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    out, besides = await process.communicate()
    return out.decode(), besides.decode()
