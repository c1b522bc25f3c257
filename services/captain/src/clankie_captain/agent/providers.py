"""One model of each provider. Providers are imported only when they are used."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import httpx2
from pydantic_ai.models import Model

from clankie_captain.errors import ConfigurationError

REHEARSAL: Final = "rehearsal"
"""The stage's model, which needs no key."""

ADDRESSES: Final = {
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "openai": "https://api.openai.com/v1",
    REHEARSAL: "http://127.0.0.1:4320/provider/v1",
}
"""Where a provider is asked unless ``CLANKIE_MODEL_BASE_URL`` says otherwise."""

CONNECT_WITHIN: Final = timedelta(seconds=15)
"""How long a connection to a provider may take; a stream itself is bounded by the stall watchdog. Source: FAIL-1."""

WRITE_WITHIN: Final = timedelta(minutes=2)
"""How long a provider may take no further bytes of a request. Source: FAIL-5."""

Build = Callable[[str, str, str, httpx2.AsyncClient], Model]
"""Makes a model from its name, a key, an address and the client that asks there."""


def timeout() -> httpx2.Timeout:
    """The bounds of one request."""
    # No bound on reading: a model may think for long, and the watchdog knows better what is dead.
    return httpx2.Timeout(
        connect=CONNECT_WITHIN.total_seconds(), write=WRITE_WITHIN.total_seconds(), read=None, pool=None
    )


def _anthropic(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=timeout())
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))


def _openai(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    from clankie_captain.agent.openai_chat import SteadyCompletions
    from clankie_captain.agent.openai_transform import skip_message_walk

    skip_message_walk()
    sdk = AsyncOpenAI(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=timeout())
    # A stream that just ends is a failure, whoever sent it. Source: C11.
    whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return SteadyCompletions(name, provider=OpenAIProvider(openai_client=sdk), profile=whole)


def _google(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError:
        raise ConfigurationError(
            f"google:{name} needs what is not installed: pip install 'clankie-captain[google]'"
        ) from None
    return GoogleModel(name, provider=GoogleProvider(api_key=key, http_client=client, base_url=address))


BUILDERS: Final[Mapping[str, Build]] = {
    "anthropic": _anthropic,
    "google": _google,
    "openai": _openai,
    REHEARSAL: _openai,
}
"""What makes a model of each provider. The Google one raises ``ConfigurationError`` where its extra is missing."""


def _anthropic_searching(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=timeout())
    # Its newer search runs programs on what it finds, in a container that costs besides.
    plain = AnthropicModelProfile(anthropic_supports_dynamic_filtering=False)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk), profile=plain)


def _openai_searching(name: str, key: str, address: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
    from pydantic_ai.providers.openai import OpenAIProvider

    sdk = AsyncOpenAI(api_key=key, base_url=address, http_client=client, max_retries=0, timeout=timeout())
    # Nothing is kept there, and the pages come along that no word cites.
    asked = OpenAIResponsesModelSettings(openai_store=False, openai_include_web_search_sources=True)
    return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=sdk), settings=asked)


SEARCHERS: Final[Mapping[str, Build]] = {
    "anthropic": _anthropic_searching,
    "google": _google,
    "openai": _openai_searching,
}
"""What makes the model of each provider that searches the web itself; OpenAI's does so in another protocol alone."""
