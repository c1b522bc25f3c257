"""Keeps libraries that speak about requests from writing to logs and terminals. Source: SEC-2."""

import logging
from typing import Final

import pydantic_ai

TALKATIVE: Final = (
    *("anthropic", "google", "google_genai", "httpcore", "httpcore2", "httpx", "httpx2", "openai"),
    *("opentelemetry", "pydantic_ai"),
)
"""Loggers whose lines may hold addresses, bodies or a provider's words."""


def quiet_libraries() -> None:
    """Silence the model libraries for the whole process: what matters is told by our own codes and class names."""
    pydantic_ai.BANNER_ENABLED = False
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
