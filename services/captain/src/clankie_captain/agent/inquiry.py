"""Ask each configured model for one word, to see whether its key and its name are good. Source: OPS-9."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pydantic_ai import exceptions as library
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from clankie_captain.agent.model import build_models, new_client, reached
from clankie_captain.agent.pulse import Pulse
from clankie_captain.agent.search import provider_search
from clankie_settings.schema import CaptainSettings

ANSWER_WITHIN: Final = timedelta(seconds=45)
"""How long one model may take for its word."""

_QUESTION: Final = "Answer with the one word: ok"
_TOKENS: Final = 64


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What became of the question to one model; ``fault`` is why it did not answer, without a word of its provider."""

    model: str
    fault: str | None = None


async def inquire(settings: CaptainSettings, *, ask: bool) -> tuple[Inquiry, ...]:
    """Build every configured model and, with ``ask``, ask each; without it nothing leaves this machine.

    Raises:
        ConfigurationError: A model or its key is not configured; the message says which variable to set.
    """
    models, close = build_models(settings, Pulse())
    try:
        return tuple([await _inquired(each) if ask else Inquiry(each.model_name) for each in models])
    finally:
        await close()


async def searcher(settings: CaptainSettings) -> str | None:
    """The model whose provider would search the web by itself; nothing is asked of it.

    Raises:
        ConfigurationError: A model or its key is not configured; the message says which variable to set.
    """
    search = provider_search(settings, reached(settings), lambda: new_client(Pulse()))
    if search is None:
        return None
    await search.aclose()
    return search.name


async def _inquired(model: Model) -> Inquiry:
    messages: Sequence[ModelMessage] = [ModelRequest.user_text_prompt(_QUESTION)]
    try:
        async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
            await model_request(model, messages, model_settings=ModelSettings(max_tokens=_TOKENS))
    except TimeoutError:
        return Inquiry(model.model_name, f"no answer within {ANSWER_WITHIN.seconds} s")
    except library.ModelHTTPError as error:
        return Inquiry(model.model_name, _said(error.status_code))
    except library.ModelConnectionError:
        return Inquiry(model.model_name, "nothing answers at its address")
    except Exception as error:  # noqa: BLE001 -- whatever a provider's client raises is one more way not to answer
        return Inquiry(model.model_name, f"nothing usable came back ({type(error).__name__})")
    return Inquiry(model.model_name)


def _said(status: int) -> str:
    match status:
        case 401 | 403:
            return f"the key is refused ({status})"
        case 404:
            return "the provider knows no model of this name (404)"
        case 402 | 429:
            return f"the key is good, and its limit is reached ({status})"
        case _:
            return f"the provider answers {status}"
