"""Backup, restore and forget as somebody types them, with and without a captain that runs."""

import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clankie_cli import archive, backup, forget
from clankie_cli.errors import CannotRun, NotReachable, RefusedError
from tests.captain.api.remembering import RECEIPT, remembers, spoken
from tests.captain.api.running import OPERATOR_TOKEN, RunningCaptain
from tests.captain.store.test_retention import Time
from tests.ports import free_ports

ANN = "110000000000000011"


def environment(state: Path, url: str | None = None) -> dict[str, str]:
    """A shell's, with a bot; without an address nothing answers."""
    here = url or f"http://127.0.0.1:{free_ports(1)[0]}"
    return {
        "CLANKIE_STATE": str(state), "CLANKIE_CAPTAIN_URL": here, "CLANKIE_OPERATOR_TOKEN": OPERATOR_TOKEN,
        "DISCORD_BOT_TOKEN": "a-bots",
    }  # fmt: skip


@pytest.fixture
async def captain(tmp_path: Path) -> AsyncIterator[RunningCaptain]:
    running = await RunningCaptain.start(tmp_path / "state")
    running.loop.script = remembers
    await said(running, "400")
    yield running
    running.loop.free.set()
    await running.stop()


async def said(captain: RunningCaptain, delivery: str) -> None:
    assert (await captain.post(spoken(delivery, ANN, "Annabel", "a canary"))).json()["state"] == "replied"
    receipt = {**RECEIPT, "message_id": f"9{delivery}"}
    assert (await captain.client.post(f"/v1/turns/{delivery}/receipts", json=receipt)).is_success


def files(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.mark.requirement("OPS-10")
async def test_a_backup_of_a_running_captain_is_one_checked_private_file(
    captain: RunningCaptain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "backups"
    target.mkdir()
    assert await backup.run(environment(captain.state, captain.address), str(target / "a.tar"), as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["path"], told["running"]) == (str(target / "a.tar"), True)
    assert files(target) == {"a.tar"}
    assert stat.S_IMODE((target / "a.tar").stat().st_mode) == 0o600


@pytest.mark.requirement("OPS-10")
async def test_a_stopped_captains_backup_comes_back_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = await RunningCaptain.start(tmp_path / "state")
    running.loop.script = remembers
    await said(running, "400")
    await running.stop()
    assert await backup.run(environment(tmp_path / "state"), str(tmp_path / "a.tar"), as_json=False) == 0
    env = environment(tmp_path / "elsewhere")
    assert await backup.restore(env, str(tmp_path / "a.tar"), backup.Manner()) == 0
    assert "turns that were open then go on" in capsys.readouterr().out
    with pytest.raises(RefusedError, match="--replace"):
        await backup.restore(env, str(tmp_path / "a.tar"), backup.Manner())
    assert await backup.restore(env, str(tmp_path / "a.tar"), backup.Manner(replace=True, unfinished="drop")) == 0
    assert "replaced-" in capsys.readouterr().out
    again = await RunningCaptain.start(tmp_path / "elsewhere")
    assert (await again.client.get("/v1/turns/400")).json()["state"] == "replied"
    await again.stop()


@pytest.mark.requirement("OPS-10")
async def test_a_captain_that_cannot_be_asked_and_still_runs_is_not_backed_up(
    captain: RunningCaptain, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="another captain holds"):
        await backup.run(environment(captain.state), str(tmp_path / "a.tar"), as_json=False)
    assert not [each for each in files(tmp_path) if each.endswith((".tar", ".part"))]


@pytest.mark.requirement("OPS-10")
async def test_without_a_bot_backup_and_restore_both_take_the_folder_of_trials_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, real = tmp_path / "state" / "stage", tmp_path / "state"
    running = await RunningCaptain.start(trial)
    running.loop.script = remembers
    await said(running, "400")
    env = {**environment(real), "DISCORD_BOT_TOKEN": ""}
    with pytest.raises(RefusedError, match="another captain holds"):
        await backup.run(env, str(tmp_path / "a.tar"), as_json=False)
    await running.stop()
    assert await backup.run(env, str(tmp_path / "a.tar"), as_json=False) == 0
    assert f"of {trial};" in capsys.readouterr().out
    running = await RunningCaptain.start(trial)
    with pytest.raises(RefusedError, match="another captain holds"):
        await backup.restore(env, str(tmp_path / "a.tar"), backup.Manner(replace=True))
    await running.stop()
    capsys.readouterr()
    assert await backup.restore(env, str(tmp_path / "a.tar"), backup.Manner(replace=True)) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{trial}: restored")
    assert "folder of trials" in out
    assert not (real / "captain.db").exists()


@pytest.mark.requirement("OPS-10")
@pytest.mark.parametrize(
    ("token", "there", "chosen"),
    [
        ("", [], "stage"),
        ("", ["captain.db"], "."),
        ("", ["captain.db", "stage/captain.db"], "stage"),
        ("a-bots", ["stage/captain.db"], "."),
    ],
    ids=["nothing yet", "no bot, and no trial", "no bot, and both", "a bot after a trial"],
)
def test_the_folder_is_the_one_that_the_captain_would_use(
    tmp_path: Path, token: str, there: list[str], chosen: str
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    place = archive.chosen({**environment(tmp_path), "DISCORD_BOT_TOKEN": token})
    assert place.state == tmp_path / chosen


@pytest.mark.requirement("OPS-10")
async def test_where_there_is_nothing_no_file_is_left(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="nothing to back up"):
        await backup.run(environment(tmp_path / "state"), str(tmp_path / "a.tar"), as_json=False)
    assert files(tmp_path) == set()


@pytest.mark.requirement("OPS-10")
@pytest.mark.parametrize(
    ("name", "says"),
    [("there.tar", "is there already"), ("no/folder/a.tar", "no such folder"), ("a" * 251, "file name too long")],
)
async def test_a_file_that_cannot_be_made_is_said_before_anything_is_done(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "there.tar").touch()
    with pytest.raises(CannotRun, match=says):
        await backup.run(environment(tmp_path / "state"), str(tmp_path / name), as_json=False)


@pytest.mark.requirement("OPS-10")
async def test_postgresql_is_backed_up_by_its_own_tools(tmp_path: Path) -> None:
    env = {**environment(tmp_path / "state"), "CLANKIE_DATABASE_URL": "postgresql+asyncpg://me@here/name"}
    with pytest.raises(CannotRun, match="pg_dump"):
        await backup.run(env, str(tmp_path / "a.tar"), as_json=False)


@pytest.mark.requirement("OPS-12")
async def test_a_person_is_forgotten_once_somebody_means_it(
    captain: RunningCaptain, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(captain.state, captain.address)
    ann = forget.What("person", ANN)
    assert await forget.run(env, ann, forget.Manner()) == 1
    assert "--yes" in capsys.readouterr().err
    assert await forget.run(env, ann, forget.Manner(sure=True)) == 0
    assert "forgotten: 1 lane, " in capsys.readouterr().out
    assert await forget.run(env, forget.What("room", "200:300"), forget.Manner(sure=True, as_json=True)) == 0
    assert json.loads(capsys.readouterr().out)["lanes"] == 1


@pytest.mark.requirement("OPS-12")
async def test_a_lane_that_is_at_work_is_waited_for(captain: RunningCaptain) -> None:
    captain.loop.free.clear()
    await captain.post(spoken("401", ANN, "Annabel", "wait"), wait=0)
    await captain.loop.until_asked(2)
    env, what = environment(captain.state, captain.address), forget.What("room", "200:300")

    class Patience(Time):
        async def sleep(self, duration: object) -> None:
            """While it waits, the run ends and its reply reaches the room."""
            captain.loop.free.set()
            assert (await captain.client.get("/v1/turns/401")).json()["state"] == "replied"
            await captain.client.post("/v1/turns/401/receipts", json={**RECEIPT, "message_id": "9401"})

    with pytest.raises(RefusedError, match="at work"):
        await forget.run(env, what, forget.Manner(sure=True, within=0))
    assert await forget.run(env, what, forget.Manner(sure=True), Patience()) == 0


@pytest.mark.requirement("OPS-12")
async def test_without_a_captain_nothing_is_forgotten(tmp_path: Path) -> None:
    with pytest.raises(NotReachable):
        await forget.run(environment(tmp_path / "state"), forget.What("person", ANN), forget.Manner(sure=True))
