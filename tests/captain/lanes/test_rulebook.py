"""The owner's settings are read again where their file has changed, and a bad file changes nothing."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from clankie_captain.core.grants import Powers
from clankie_captain.errors import ConfigurationError
from clankie_captain.lanes import rulebook as rules
from clankie_captain.lanes.rulebook import Rulebook, Stamp, loops, powers, refuse_servers_like_tools
from clankie_settings.environment import SettingsFile, captain_settings
from clankie_settings.schema import CaptainSettings

pytestmark = pytest.mark.requirement("GRANT-1", "GRANT-3")

ANN = "100001"
GIVEN = f'[actors."{ANN}"]\ntools = ["read_page"]\n'
ANNS = frozenset({"read_page"})


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No look is late because the machine is busy."""
    monkeypatch.setattr(rules, "LOOK_WITHIN", timedelta(minutes=1))


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"CLANKIE_CONFIG": str(tmp_path / "clankie.toml"), "CLANKIE_STATE": str(tmp_path)}


def write(env: dict[str, str], toml: str | None) -> None:
    """Put another file in its place at once, as a careful editor does; None takes it away."""
    path = Path(env["CLANKIE_CONFIG"])
    if toml is None:
        path.unlink()
        return
    fresh = path.with_suffix(".new")
    fresh.write_text(toml, "utf-8")
    fresh.replace(path)


def opened(env: dict[str, str]) -> Rulebook:
    return Rulebook(powers(captain_settings(env)), SettingsFile(env))


async def test_what_the_file_says_now_holds_at_the_next_question(env: dict[str, str]) -> None:
    write(env, GIVEN)
    book = opened(env)
    assert (await book.powers()).actors == {ANN: ANNS}
    write(env, "")
    assert (await book.powers()).actors == {}
    write(env, GIVEN)
    assert (await book.powers()).actors == {ANN: ANNS}


@pytest.mark.parametrize(
    "broken",
    ["[actors", '[actors."100001"]\ntools = 3\n', "tool = ['draw_diagram']\n", "\x00", None],
    ids=["no TOML", "a wrong type", "an unknown key", "a NUL", "no file"],
)
async def test_a_file_that_cannot_be_used_changes_nothing_and_is_said_once(
    env: dict[str, str], broken: str | None
) -> None:
    write(env, GIVEN)
    book = opened(env)
    await book.powers()
    write(env, broken)
    with capture_logs() as log:
        for _ in range(3):
            assert (await book.powers()).actors == {ANN: ANNS}
    assert [(line["event"], line["log_level"]) for line in log] == [("settings.unusable", "warning")]
    write(env, "")
    with capture_logs() as log:
        assert (await book.powers()).actors == {}
    assert [line["event"] for line in log] == ["settings.read"]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('tools = ["raed_page"]\n', "CLANKIE_TOOLS or tools (clankie.toml): there is no tool raed_page; did you mean"),
        ('[rooms."200000:300000"]\ntools = ["raed_page"]\n', "rooms.200000:300000.tools (clankie.toml): "),
        ('[roles."400000"]\ntools = ["raed_page"]\n', "roles.400000.tools (clankie.toml): "),
        ('[actors."100001"]\ntools = ["raed_page"]\n', "actors.100001.tools (clankie.toml): "),
        ('[tool_sets]\nweb = ["raed_page"]\n', "tool_sets.web (clankie.toml): "),
    ],
    ids=["for everybody", "in a room", "of a role", "of a person", "in a set"],
)
async def test_a_file_that_names_a_tool_there_is_not_changes_nothing_and_says_where(
    env: dict[str, str], broken: str, says: str
) -> None:
    write(env, 'tools = ["read_page"]\n' + GIVEN)
    tools = ("draw_diagram", "fork", "search_web", "read_page")
    book = Rulebook(powers(captain_settings(env)), SettingsFile(env), tools)
    assert (await book.powers()).actors == {ANN: ANNS}
    write(env, broken)
    with capture_logs() as log:
        for _ in range(2):
            assert (await book.powers()).actors == {ANN: ANNS}
    (line,) = log
    assert line["event"] == "settings.unusable"
    assert line["reason"].startswith(says)


async def test_a_tool_of_a_configured_server_may_be_named_before_anybody_knows_it(env: dict[str, str]) -> None:
    write(env, 'tools = ["time_now"]\n')
    book = Rulebook(powers(captain_settings(env)), SettingsFile(env), ("draw_diagram",), ("time",))
    assert (await book.powers()).everyone == {"time_now"}
    write(env, 'tools = ["tiem_now"]\n')
    with capture_logs() as log:
        assert (await book.powers()).everyone == {"time_now"}
    assert "there is no tool tiem_now; did you mean time_*?" in log[0]["reason"]


@pytest.mark.parametrize("name", ["read", "run", "send", "draw", "write"])
def test_a_server_whose_grant_would_give_a_tool_of_his_own_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"mcpServers\.{name} \(mcp\.json\): {name}_\* would grant"):
        refuse_servers_like_tools(["time", name], ("send_text_update", "draw_diagram", "read_page"))
    refuse_servers_like_tools(["time", f"{name}er"], ("send_text_update", "draw_diagram", "read_page"))


async def test_a_file_that_did_not_change_is_not_read_again(env: dict[str, str]) -> None:
    write(env, GIVEN)
    source = Counted(SettingsFile(env))
    book = Rulebook(Powers(), source)
    for _ in range(3):
        await book.powers()
    assert source.reads == 1


async def test_without_a_file_the_settings_stay(env: dict[str, str]) -> None:
    book = Rulebook(Powers(everyone=ANNS), SettingsFile(env | {"CLANKIE_CONFIG": ""}))
    assert (await book.powers()).everyone == ANNS
    assert (await Rulebook(Powers(everyone=ANNS), None).powers()).everyone == ANNS


async def test_the_environment_still_wins_over_the_file(env: dict[str, str]) -> None:
    write(env, 'tools = ["read_page"]\n')
    book = opened(env | {"CLANKIE_TOOLS": "draw_diagram"})
    assert (await book.powers()).everyone == {"draw_diagram"}


class Counted:
    """A file whose readings are counted."""

    def __init__(self, file: SettingsFile) -> None:
        self.reads = 0
        self._file = file

    def stamp(self) -> Stamp | None:
        return self._file.stamp()

    def captain(self) -> CaptainSettings:
        self.reads += 1
        return self._file.captain()


class Stuck:
    """A file on a disk that does not answer until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.looks = 0

    def stamp(self) -> Stamp | None:
        self.looks += 1
        self.let_go.wait(60)
        raise OSError

    def captain(self) -> CaptainSettings:
        raise NotImplementedError


async def test_a_disk_that_does_not_answer_holds_up_nobody_for_long_and_costs_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "LOOK_WITHIN", timedelta(milliseconds=20))
    source = Stuck()
    book = Rulebook(Powers(everyone=ANNS), source)
    try:
        with capture_logs() as log:
            found = await asyncio.gather(*(book.powers() for _ in range(20)))
            assert all(each.everyone == ANNS for each in found)
            assert source.looks == 1
            assert [line["event"] for line in log] == ["settings.slow"]
    finally:
        source.let_go.set()


async def test_a_question_that_comes_during_a_look_is_answered_by_a_look_of_its_own(env: dict[str, str]) -> None:
    write(env, GIVEN)
    held = Held(SettingsFile(env))
    book = Rulebook(Powers(), held)
    first = asyncio.create_task(book.powers())
    await asyncio.to_thread(held.looked.wait, 60)
    # The first look has seen the old file; whoever asks from now on must not be answered with it.
    write(env, "")
    second = asyncio.create_task(book.powers())
    await asyncio.sleep(0)
    held.go.set()
    assert (await first).actors == {ANN: ANNS}
    assert (await second).actors == {}


class Held(Counted):
    """A file that is held after it was first read."""

    def __init__(self, file: SettingsFile) -> None:
        super().__init__(file)
        self.looked, self.go = threading.Event(), threading.Event()

    def captain(self) -> CaptainSettings:
        found = super().captain()
        self.looked.set()
        self.go.wait(60)
        return found


@pytest.mark.requirement("LOOP-1")
@pytest.mark.parametrize(
    ("toml", "everywhere", "listed", "own"),
    [
        ("", False, set[str](), {}),
        ('room_loop = "all"', True, set[str](), {}),
        ('room_loop = "20001:30001, 20001:30002"', False, {"20001:30001", "20001:30002"}, {}),
        ('room_loop = "all"\n[rooms."20001:30001"]\nroom_loop = false', True, set[str](), {"20001:30001": False}),
    ],
)
async def test_the_switch_names_rooms_and_single_rooms_have_their_own_word(
    env: dict[str, str], toml: str, everywhere: bool, listed: set[str], own: dict[str, bool]
) -> None:
    write(env, toml)
    found = loops(captain_settings(env))
    assert (found.everywhere, found.listed, found.own) == (everywhere, listed, own)
