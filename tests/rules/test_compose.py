"""What docker-compose.yml tells each service is taken by whoever starts it."""

import re
from typing import Any

import pytest
import yaml

from clankie_settings.environment import bridge_settings, captain_settings, launch_settings
from tests.rules.sources import ROOT

REAL = {"DISCORD_BOT_TOKEN": "a-token", "OPENAI_API_KEY": "a-key", "ANTHROPIC_API_KEY": "a-key"}


def told(service: str, shell: dict[str, str]) -> dict[str, str]:
    """The environment of a service, with Compose's substitutions made."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))

    def substituted(match: re.Match[str]) -> str:
        value, otherwise = shell.get(match["name"], ""), match["text"]
        return (otherwise if value else "") if match["when"] == "+" else value or otherwise

    pattern = re.compile(r"\$\{(?P<name>\w+):(?P<when>[-+])(?P<text>[^}]*)\}")
    environment: dict[str, str] = document["services"][service]["environment"]
    return {name: pattern.sub(substituted, value) for name, value in environment.items()}


@pytest.mark.parametrize("shell", [{}, REAL], ids=["nothing set", "a token and keys"])
@pytest.mark.parametrize("service", ["captain", "bridge"])
def test_each_service_takes_what_compose_tells_it(service: str, shell: dict[str, str]) -> None:
    env = told(service, shell)
    launched = launch_settings(env)
    assert (launched.discord_bot_token is not None) == bool(shell)
    reader = captain_settings if service == "captain" else bridge_settings
    assert str(reader(env).state) == "/var/lib/clankie"
    assert (REAL["DISCORD_BOT_TOKEN"] in env.values()) == (service == "bridge" and bool(shell))
