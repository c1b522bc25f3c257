"""The models that are configured, in the order in which they are asked, and the loop on them."""

from collections.abc import Awaitable, Callable
from typing import Final

import httpx2
from pydantic import SecretStr
from pydantic_ai.models import Model

from clankie_captain.agent.loop import PydanticLoop
from clankie_captain.agent.providers import ADDRESSES, BUILDERS, REHEARSAL, timeout
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.quietness import quiet_libraries
from clankie_captain.agent.search import provider_search
from clankie_captain.agent.tracing import tracing
from clankie_captain.errors import ConfigurationError
from clankie_settings.clock import Clock
from clankie_settings.schema import CaptainSettings

DEFAULT_MODELS: Final = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6.1-terra"}
"""What is asked where only a key is configured."""

_NO_KEY: Final = "none"


def build_loop(settings: CaptainSettings, clock: Clock) -> PydanticLoop:
    """The loop on the configured models; close it with ``aclose``.

    Raises:
        ConfigurationError: A model or its key is not configured; the message says which variable to set.
    """
    pulse, traced = Pulse(), tracing(settings.otel_exporter_otlp_endpoint)
    models, close = build_models(settings, pulse)
    searcher = provider_search(settings, reached(settings), lambda: new_client(pulse))
    quiet_libraries()
    return PydanticLoop(models, clock, pulse, close, traced, searcher)


def build_models(settings: CaptainSettings, pulse: Pulse) -> tuple[tuple[Model, ...], Callable[[], Awaitable[None]]]:
    """The configured model and its fallbacks, and what closes their connections. Source: FAIL-5.

    Raises:
        ConfigurationError: A model or its key is not configured; the message says which variable to set.
    """
    ways, client = reached(settings), new_client(pulse)
    return tuple(BUILDERS[provider](name, key, address, client) for provider, name, key, address in ways), client.aclose


def reached(settings: CaptainSettings) -> list[tuple[str, str, str, str]]:
    """Provider, name, key and address of the configured model, then of its fallbacks.

    Raises:
        ConfigurationError: A model or its key is not configured; the message says which variable to set.
    """
    chosen = chosen_model(settings)
    chain = dict.fromkeys([chosen, *(_split(name) for name in settings.model_fallbacks)])
    return [(provider, name, *_way(settings, chosen[0], provider, name)) for provider, name in chain]


def chosen_model(settings: CaptainSettings) -> tuple[str, str]:
    """Provider and name of the configured model; without one, those of the provider whose key is there.

    Raises:
        ConfigurationError: Neither a model nor a key is configured.
    """
    if settings.model is not None:
        return _split(settings.model)
    for provider, key in (("anthropic", settings.anthropic_api_key), ("openai", settings.openai_api_key)):
        if key is not None:
            return provider, DEFAULT_MODELS[provider]
    raise ConfigurationError(
        "no model is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or CLANKIE_MODEL=rehearsal to try it out"
    )


def _split(model: str) -> tuple[str, str]:
    provider, _, name = model.partition(":")
    return provider, name or provider


def _way(settings: CaptainSettings, first: str, provider: str, name: str) -> tuple[str, str]:
    """Key and address of a model; another address holds for the provider of the configured model alone."""
    keys: dict[str, SecretStr | None] = {
        "anthropic": settings.anthropic_api_key,
        "google": settings.google_api_key,
        "openai": settings.openai_api_key,
        REHEARSAL: SecretStr(_NO_KEY),
    }
    elsewhere = settings.model_base_url if provider == first else None
    address = elsewhere or ADDRESSES[provider]
    if (key := keys[provider]) is not None:
        return key.get_secret_value(), address
    # A server of one's own seldom asks for one.
    if elsewhere is not None:
        return _NO_KEY, address
    raise ConfigurationError(f"the model {provider}:{name} needs a key: set {provider.upper()}_API_KEY")


def new_client(pulse: Pulse) -> httpx2.AsyncClient:
    """A client of providers, whose answers are told to whoever waits for them."""
    # The lanes are bounded already; a second, hidden queue here would only look like a stall.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30.0)
    return httpx2.AsyncClient(event_hooks={"response": [pulse.watch]}, timeout=timeout(), limits=limits)
