"""The model that is configured, and the loop on it. Providers are imported only when they are used."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import httpx2
from pydantic import SecretStr
from pydantic_ai.models import Model

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.quietness import quiet_libraries
from clankie_captain.errors import ConfigurationError
from clankie_settings.clock import Clock
from clankie_settings.schema import CaptainSettings

REHEARSAL: Final = "rehearsal"
"""The stage's model, which needs no key."""

ADDRESSES: Final = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    REHEARSAL: "http://127.0.0.1:4320/provider/v1",
}
"""Where a provider is asked unless ``CLANKIE_MODEL_BASE_URL`` says otherwise."""

DEFAULT_MODELS: Final = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6.1-terra"}
"""What is asked where only a key is configured."""

CONNECT_WITHIN: Final = timedelta(seconds=15)
"""How long a connection to a provider may take; a stream itself is bounded by the stall watchdog. Source: FAIL-1."""

WRITE_WITHIN: Final = timedelta(minutes=2)
"""How long a provider may take no further bytes of a request. Source: FAIL-5."""

_NO_KEY: Final = "none"


def build_loop(settings: CaptainSettings, clock: Clock) -> PydanticLoop:
    """The loop on the configured model; close it with ``aclose``.

    Raises:
        ConfigurationError: The model or its key is not configured; the message says which variable to set.
    """
    pulse = Pulse()
    model, close = build_model(settings, pulse)
    quiet_libraries()
    return PydanticLoop(model, clock, pulse, close)


def build_model(settings: CaptainSettings, pulse: Pulse) -> tuple[Model, Callable[[], Awaitable[None]]]:
    """The configured model, and what closes its connections.

    Raises:
        ConfigurationError: The model or its key is not configured; the message says which variable to set.
    """
    provider, name = chosen_model(settings)
    key = _key(settings, provider, name)
    client = _client(pulse)
    address = settings.model_base_url or ADDRESSES[provider]
    build = _anthropic if provider == "anthropic" else _openai
    return build(name, key, address, client), client.aclose


def chosen_model(settings: CaptainSettings) -> tuple[str, str]:
    """Provider and name of the configured model; without one, those of the provider whose key is there.

    Raises:
        ConfigurationError: Neither a model nor a key is configured.
    """
    if settings.model is not None:
        provider, _, name = settings.model.partition(":")
        return provider, name or provider
    for provider, key in (("anthropic", settings.anthropic_api_key), ("openai", settings.openai_api_key)):
        if key is not None:
            return provider, DEFAULT_MODELS[provider]
    raise ConfigurationError(
        "no model is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CLANKIE_MODEL=rehearsal to try it out"
    )


def _key(settings: CaptainSettings, provider: str, name: str) -> str:
    keys: dict[str, SecretStr | None] = {
        "anthropic": settings.anthropic_api_key,
        "openai": settings.openai_api_key,
        REHEARSAL: SecretStr(_NO_KEY),
    }
    key = keys[provider]
    if key is not None:
        return key.get_secret_value()
    # A server of one's own seldom asks for one.
    if settings.model_base_url is not None:
        return _NO_KEY
    raise ConfigurationError(f"CLANKIE_MODEL={provider}:{name} needs a key: set {provider.upper()}_API_KEY")


def _client(pulse: Pulse) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(event_hooks={"response": [pulse.watch]}, timeout=_timeout(), limits=_limits())


def _timeout() -> httpx2.Timeout:
    # No bound on reading: a model may think for long, and the watchdog knows better what is dead.
    return httpx2.Timeout(
        connect=CONNECT_WITHIN.total_seconds(), write=WRITE_WITHIN.total_seconds(), read=None, pool=None
    )


def _limits() -> httpx2.Limits:
    # The lanes are bounded already; a second, hidden queue here would only look like a stall.
    return httpx2.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30.0)


def _anthropic(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=_timeout())
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))


def _openai(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    from clankie_captain.agent.openai_chat import SteadyCompletions
    from clankie_captain.agent.openai_transform import skip_message_walk

    skip_message_walk()
    sdk = AsyncOpenAI(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=_timeout())
    # A stream that just ends is a failure, whoever sent it. Source: C11.
    whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return SteadyCompletions(name, provider=OpenAIProvider(openai_client=sdk), profile=whole)
