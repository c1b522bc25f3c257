"""Which model is asked, with which key, and what is said where something is missing."""

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pydantic_ai
import pytest
from pydantic import SecretStr

from clankie_captain.agent.model import DEFAULT_MODELS, build_loop, build_models, chosen_model
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.quietness import TALKATIVE, quiet_libraries
from clankie_captain.errors import ConfigurationError
from clankie_settings.schema import CaptainSettings
from tests.captain.agent.lane import Lane, StillClock
from tests.captain.agent.provider import Provider, Say

KEY = SecretStr("secret-key")


def settings(**given: Any) -> CaptainSettings:
    return CaptainSettings(state=Path("s"), discord_attachment_root=Path("a"), **given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"anthropic_api_key": KEY}, ("anthropic", DEFAULT_MODELS["anthropic"])),
        ({"openai_api_key": KEY}, ("openai", DEFAULT_MODELS["openai"])),
        ({"anthropic_api_key": KEY, "openai_api_key": KEY}, ("anthropic", DEFAULT_MODELS["anthropic"])),
        ({"anthropic_api_key": KEY, "model": "openai:gpt-x"}, ("openai", "gpt-x")),
        ({"model": "openai:vendor/model:7b"}, ("openai", "vendor/model:7b")),
        ({"anthropic_api_key": KEY, "model": "rehearsal"}, ("rehearsal", "rehearsal")),
    ],
)
def test_the_model_is_the_named_one_or_that_of_the_key(given: dict[str, Any], expected: tuple[str, str]) -> None:
    assert chosen_model(settings(**given)) == expected


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLANKIE_MODEL=rehearsal"]),
        ({"model": "anthropic:x", "openai_api_key": KEY}, ["ANTHROPIC_API_KEY"]),
        ({"model": "openai:x"}, ["OPENAI_API_KEY"]),
    ],
)
def test_what_is_missing_is_named_in_one_line(given: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build_models(settings(**given), Pulse())
    line = str(caught.value)
    assert "\n" not in line
    assert all(name in line for name in named)


@pytest.mark.parametrize("provider", DEFAULT_MODELS)
def test_the_default_models_are_known(provider: str) -> None:
    from typing import get_args

    from pydantic_ai.models import KnownModelName

    assert f"{provider}:{DEFAULT_MODELS[provider]}" in get_args(KnownModelName.__value__)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({"model": "rehearsal"}, "http://127.0.0.1:4320/provider/v1/"),
        ({"model": "rehearsal", "model_base_url": "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1/"),
        ({"model": "openai:x", "model_base_url": "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1/"),
        ({"openai_api_key": KEY}, "https://api.openai.com/v1/"),
        ({"anthropic_api_key": KEY}, "https://api.anthropic.com"),
    ],
)
async def test_the_provider_is_asked_at_its_own_address_or_the_configured_one(
    given: dict[str, Any], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://elsewhere.test")
    (model,), close = build_models(settings(**given), Pulse())
    assert model.base_url == address
    await close()


async def test_a_server_of_ones_own_needs_no_key(provider: Provider) -> None:
    provider.plays(Say(["Hi"]))
    loop = build_loop(settings(model="openai:local", model_base_url=provider.address), StillClock())
    await Lane().run(loop, "hello")
    await loop.aclose()
    assert len(provider.bodies) == 1


@pytest.mark.requirement("SEC-2")
def test_libraries_write_no_line_about_requests(caplog: pytest.LogCaptureFixture) -> None:
    quiet_libraries()
    for name in TALKATIVE:
        logging.getLogger(name).critical("a secret")
        logging.getLogger(f"{name}.part").critical("a secret")
    assert not caplog.records
    assert not pydantic_ai.BANNER_ENABLED


def test_providers_are_imported_only_when_they_are_used() -> None:
    program = "import sys, clankie_captain.agent.model; sys.exit('openai' in sys.modules or 'anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
