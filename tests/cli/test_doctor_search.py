"""The doctor on searching the web: who would search, and what to set where nobody can."""

from pathlib import Path

import pytest

from clankie_cli.checks import programs
from clankie_settings.environment import captain_settings
from tests.cli.launching import environment

pytestmark = pytest.mark.requirement("OPS-9")

CANARY = "CANARY-secret"


@pytest.mark.parametrize(
    ("settings", "state", "said"),
    [
        ({}, "note", "set BRAVE_API_KEY"),
        ({"CLANKIE_TOOLS": "fork"}, "skipped", "granted to nobody"),
        ({"CLANKIE_SEARCH": "off"}, "skipped", "off"),
        ({"CLANKIE_SEARCH": "brave"}, "wrong", "set BRAVE_API_KEY"),
        ({"CLANKIE_SEARCH": "provider"}, "wrong", "no search of its own"),
        ({"BRAVE_API_KEY": CANARY}, "ok", "Brave is asked"),
        ({"CLANKIE_SEARCH_URL": "http://127.0.0.1:9"}, "wrong", "does not answer"),
        ({"ANTHROPIC_API_KEY": CANARY}, "ok", "claude-sonnet-5-5's provider is asked"),
    ],
)
async def test_who_searches_is_said_and_what_lacks(
    settings: dict[str, str], state: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = environment(tmp_path, **settings)
    found = (await programs.models(env, captain_settings(env), ask=False, trial=True))[-1]
    assert (found.check, found.state) == ("search", state), found.said
    assert said in found.said
    assert CANARY not in found.said
