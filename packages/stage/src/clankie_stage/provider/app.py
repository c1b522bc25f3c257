"""Composition root of the provider."""

from aiohttp import web

from clankie_settings.clock import RandomIds, SystemClock
from clankie_stage.provider.anthropic_dialect import AnthropicDialect
from clankie_stage.provider.brain import Brain, Habits
from clankie_stage.provider.control import Control
from clankie_stage.provider.easel import Easel
from clankie_stage.provider.models import Models
from clankie_stage.provider.openai_dialect import OpenAIDialect
from clankie_stage.provider.serving import Serving


def new_brain(habits: Habits | None = None) -> Brain:
    """A brain on the machine's clock, answering by rehearsal unless told otherwise."""
    return Brain(SystemClock(), RandomIds(), habits or Habits())


def provider_app(brain: Brain | None = None, easel: Easel | None = None) -> web.Application:
    """The loopback provider: chat completions, messages, models, generated pictures, and ``/_control/…``.

    It can be run alone or mounted below a path of another application.
    """
    mind = brain or new_brain()
    app = web.Application()
    models = Models(mind)
    app.add_routes(
        [
            web.post("/v1/chat/completions", Serving(mind, OpenAIDialect()).handle),
            web.post("/v1/messages", Serving(mind, AnthropicDialect()).handle),
            web.get("/v1/models", models.all),
            web.get("/v1/models/{name}", models.one),
            *(easel or Easel(mind)).routes(),
            *Control(mind).routes(),
            web.route("*", "/v1/{rest:.*}", models.nothing),
        ]
    )

    async def drop(_: web.Application) -> None:
        mind.drop()

    app.on_shutdown.append(drop)
    return app
