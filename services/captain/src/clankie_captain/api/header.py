"""States the wire version on every answer. Source: WIRE-7."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clankie_settings.wire.version import WIRE_HEADER, WIRE_VERSION


class WireHeader:
    """A middleware below the framework's own, so that streams pass through it untouched."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the header added."""

        async def stating(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[WIRE_HEADER] = str(WIRE_VERSION)
            await send(message)

        await self._app(scope, receive, stating if scope["type"] == "http" else send)
