"""What an actor may do in a room, by the owner's settings alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie_captain.core.grants import (
    ALWAYS,
    MACHINE,
    Grant,
    Powers,
    grant,
    offered,
    refused_by,
    unknown_tool,
    written_out,
)
from clankie_captain.core.lane import OPERATOR, Trust
from clankie_settings.wire.trigger import Actor, Room
from tests.captain.core.speech import ANN, BOB, DM_ROOM, GUILD_ROOM, OWNER, trigger

pytestmark = pytest.mark.requirement("GRANT-1")

TRUSTED_OWNER = Trust(actors=frozenset({OWNER.actor_id}))
THREAD = Room(platform="discord", guild_id="200", channel_id="999", parent_id="300")
CONSOLE = Room(platform="console", channel_id="desk")
ROLE = Actor(actor_id="11", display_name="Ann", role_ids=("77",))


def _set(*names: str) -> frozenset[str]:
    return frozenset(names)


POWERS = Powers(
    trust=TRUSTED_OWNER,
    everyone=_set("draw_diagram"),
    rooms={"200:300": _set("read_page"), "200:999x": _set("generate_image")},
    roles={"77": _set("github_*")},
    actors={BOB.actor_id: _set("screenshot_page")},
)


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        (trigger(), ("read_page",)),
        (trigger(room=Room(platform="discord", guild_id="200", channel_id="301")), ("draw_diagram",)),
        (trigger(room=THREAD), ("read_page",)),
        (trigger(actor=ROLE), ("github_*", "read_page")),
        (trigger(actor=ROLE, room=DM_ROOM, kind="dm"), ("draw_diagram",)),
        (trigger(actor=BOB), ("read_page", "screenshot_page")),
        (trigger(actor=Actor(actor_id="13", display_name=OWNER.display_name)), ("read_page",)),
    ],
    ids=[
        "a room's own word stands for everybody's",
        "a room without one",
        "a thread goes by its channel",
        "a role adds",
        "a role claimed in a DM adds nothing",
        "a person's own table adds",
        "a name proves nothing",
    ],
)
def test_a_grant_is_what_the_owner_set_for_place_role_and_person(said: object, tools: tuple[str, ...]) -> None:
    assert grant(said, POWERS).tools == tools  # type: ignore[arg-type]


@pytest.mark.requirement("GRANT-3")
def test_an_empty_list_grants_nothing() -> None:
    nobody = grant(trigger(), Powers(rooms={"200:300": frozenset()}, everyone=_set("draw_diagram")))
    assert nobody.tools == ()
    assert not nobody.allows("draw_diagram")
    assert grant(trigger(), Powers()) == Grant("social", "room", ())


@pytest.mark.requirement("GRANT-2")
def test_only_a_system_actors_words_in_text_carry_machine_tools() -> None:
    assert grant(trigger(actor=OWNER), POWERS).authority == "system"
    assert set(MACHINE) <= set(grant(trigger(actor=OWNER), POWERS).tools)
    for said in (
        trigger(),
        trigger(actor=OWNER, kind="voice"),
        trigger(actor=OWNER, room=CONSOLE),
        trigger(actor=Actor(actor_id="11", display_name="Ann", role_ids=(OWNER.actor_id,))),
    ):
        found = grant(said, POWERS)
        assert found.authority == "social"
        assert not any(found.allows(tool) for tool in MACHINE)


@pytest.mark.requirement("GRANT-2")
def test_a_setting_cannot_give_machine_tools_to_somebody_who_is_no_system_actor() -> None:
    careless = Powers(everyone=_set(*MACHINE, "*"), actors={ANN.actor_id: _set(*MACHINE)})
    found = grant(trigger(), careless)
    assert not set(MACHINE) & set(found.tools)
    assert not any(found.allows(tool) for tool in MACHINE)
    assert found.allows("anything_else")


def test_the_operator_may_use_every_tool() -> None:
    found = grant(trigger(actor=OWNER, room=CONSOLE, presence_id=OPERATOR), Powers())
    assert all(found.allows(tool) for tool in (*MACHINE, *ALWAYS, "whatever"))


def test_who_reads_along_is_part_of_a_grant() -> None:
    trusting = Powers(trust=Trust(frozenset({OWNER.actor_id}), frozenset({"200:300"})))
    assert grant(trigger(), trusting).audience == "trusted"
    assert grant(trigger(), Powers()).audience == "room"
    assert grant(trigger(room=DM_ROOM, kind="dm"), Powers()).audience == "trusted"


def test_speaking_needs_no_grant() -> None:
    assert all(Grant("social", "room", ()).allows(tool) for tool in ALWAYS)


def test_names_of_sets_are_written_out_and_all_others_kept() -> None:
    assert written_out(["web", "x"], {"web": ("search_web", "read_page")}) == {"search_web", "read_page", "x"}


NAMES = st.sampled_from(["draw_diagram", "read_page", "github_*", "github_search", "git", *MACHINE])
GRANTS = st.builds(
    Grant,
    st.sampled_from(["social", "system"]),
    st.sampled_from(["room", "trusted"]),
    st.frozensets(NAMES).map(lambda names: tuple(sorted(names))),
)


@pytest.mark.requirement("LOOP-3")
@given(GRANTS, GRANTS)
def test_two_grants_have_one_fingerprint_exactly_where_they_are_the_same(one: Grant, other: Grant) -> None:
    assert (one.fingerprint == other.fingerprint) == (one == other)


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert Grant("social", "room", ("draw_diagram",)).fingerprint == "9c61e2d3dbef3be5"


@pytest.mark.requirement("GRANT-5")
@given(st.lists(GRANTS, max_size=4), st.sampled_from(["draw_diagram", "github_search", "github_", "run_command"]))
def test_a_run_may_use_what_every_one_of_its_speakers_may(grants: list[Grant], tool: str) -> None:
    refused = refused_by(tool, grants)
    if refused is None:
        assert grants
        assert all(each.allows(tool) for each in grants)
    else:
        assert not grants or not grants[refused].allows(tool)


TOOLS = ("send_text_update", "draw_diagram", "read_page", "github_search", "run_command")


@given(st.sampled_from([ANN, BOB, OWNER, ROLE]), st.sampled_from([GUILD_ROOM, THREAD, DM_ROOM]))
def test_a_lane_offers_every_tool_that_any_speaker_there_may_use_in_one_order(actor: Actor, room: Room) -> None:
    found = grant(trigger(actor=actor, room=room), POWERS)
    shown = offered(TOOLS, room, found.authority, POWERS)
    assert [each for each in TOOLS if each in shown] == list(shown)
    assert {each for each in TOOLS if found.allows(each)} <= set(shown)


def test_a_social_lane_shows_no_machine_tool_whoever_speaks_there() -> None:
    assert "run_command" not in offered(TOOLS, GUILD_ROOM, "social", POWERS)
    assert "run_command" in offered(TOOLS, GUILD_ROOM, "system", POWERS)
    assert "github_search" not in offered(TOOLS, DM_ROOM, "social", POWERS)


@pytest.mark.parametrize(
    ("names", "sets", "setting", "says"),
    [
        (["draw_diagramm"], {}, "tools", "no tool draw_diagramm; did you mean draw_diagram?"),
        (["Draw_Diagram"], {}, "tools", "did you mean draw_diagram?"),
        (["piktures"], {"pictures": ["fork"]}, "tools", "did you mean pictures?"),
        (["zzz"], {}, "tools", "there are draw_diagram, fork"),
        ([], {"pictures": ["forks"]}, "tool_sets.pictures", "did you mean fork?"),
        ([], {"all": ["pictures"], "pictures": ["fork"]}, "tool_sets.all", "sets hold no sets"),
        ([], {"fork": ["draw_diagram"]}, "tool_sets.fork", "no name of a tool"),
        ([], {"for*": ["draw_diagram"]}, "tool_sets.for*", "ends in *"),
    ],
    ids=["misspelt", "another case", "a set misspelt", "nothing near", "in a set", "a set in a set", "a tool's name",
         "a pattern's name"],
)  # fmt: skip
def test_a_name_that_stands_for_no_tool_is_named_with_its_setting_and_a_hint(
    names: list[str], sets: dict[str, list[str]], setting: str, says: str
) -> None:
    found = unknown_tool({"tools": names}, sets, ("draw_diagram", "fork"))
    assert found is not None
    assert found[0] == setting
    assert says in found[1]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gihub_x", "did you mean github_*?"),
        ("github", "did you mean github_*?"),
        ("time", "there are draw_diagram, fork, github_*"),
        ("hub_x", "there is no tool hub_x"),
    ],
)
def test_a_name_of_no_configured_server_is_refused_and_one_of_a_servers_is_not(name: str, says: str) -> None:
    tools = ("draw_diagram", "fork")
    assert unknown_tool({"tools": ["github_anything"]}, {"web": ["github_x"]}, tools, ("github_",)) is None
    found = unknown_tool({"tools": [name]}, {}, tools, ("github_",))
    assert found is not None
    assert says in found[1]
    within = unknown_tool({}, {"web": [name]}, tools, ("github_",))
    assert within is not None
    assert within[0] == "tool_sets.web"
    named = unknown_tool({}, {"github_web": []}, tools, ("github_",))
    assert named is not None


def test_tools_and_sets_and_patterns_are_names_that_settings_may_hold() -> None:
    sets = {"pictures": ["draw_diagram", "github_*"]}
    named = {"tools": ["fork", "pictures", "server_*"], "rooms.1:2.tools": []}
    assert unknown_tool(named, sets, ("draw_diagram", "fork")) is None
