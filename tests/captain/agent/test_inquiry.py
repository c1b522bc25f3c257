"""A model is asked for one word; whatever comes back is said without a word of the provider's."""

from pathlib import Path
from typing import Any

import pytest

from clankie_captain.agent.inquiry import Inquiry, inquire
from clankie_captain.errors import ConfigurationError
from clankie_settings.schema import CaptainSettings
from clankie_stage.app import Stage
from tests.captain.agent.provider import Provider, Raw, Refuse

pytestmark = pytest.mark.requirement("OPS-9")

NAME = "openai:one"


def settings(address: str, **changed: Any) -> CaptainSettings:
    place = {"state": Path("/nowhere"), "discord_attachment_root": Path("/nowhere")}
    key = {"openai_api_key": "CANARY-key", "model": NAME, "model_base_url": address}
    return CaptainSettings.model_validate({**place, **key, **changed})


async def test_a_model_that_answers_is_fine() -> None:
    async with Stage.running(port=0) as stage:
        assert await inquire(settings(stage.provider_url), ask=True) == (Inquiry("one"),)


async def test_without_the_question_nothing_is_sent(provider: Provider) -> None:
    assert await inquire(settings(provider.address), ask=False) == (Inquiry("one"),)
    assert provider.bodies == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "the key is refused"),
        (403, "the key is refused"),
        (404, "no model of this name"),
        (402, "limit is reached"),
        (429, "limit is reached"),
        (500, "answers 500"),
    ],
)
async def test_a_refusal_is_told_by_its_status(provider: Provider, status: int, said: str) -> None:
    provider.plays(*[Refuse(status, {"error": {"message": "CANARY", "code": "CANARY"}})] * 9)
    (found,) = await inquire(settings(provider.address), ask=True)
    assert found.fault is not None
    assert said in found.fault
    assert "CANARY" not in found.fault


async def test_an_answer_that_is_none_is_told_from_one(provider: Provider) -> None:
    provider.plays(Raw([b"<html>CANARY"]))
    (found,) = await inquire(settings(provider.address), ask=True)
    assert found.fault is not None
    assert "CANARY" not in found.fault


async def test_each_fallback_is_asked_as_well(provider: Provider) -> None:
    provider.plays(*[Refuse(404, {"error": {"message": "no"}})] * 4)
    found = await inquire(settings(provider.address, model_fallbacks=("openai:two",)), ask=True)
    assert [each.model for each in found] == ["one", "two"]
    assert all(each.fault for each in found)


async def test_a_missing_key_names_its_variable() -> None:
    bare = settings("http://127.0.0.1:9", openai_api_key=None, model_base_url=None)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        await inquire(bare, ask=False)
