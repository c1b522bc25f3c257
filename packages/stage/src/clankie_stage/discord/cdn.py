"""The CDN: posted files at their signed addresses, and whatever a test lays beside them."""

import base64
from dataclasses import dataclass, field

from aiohttp import web

from clankie_stage.discord.cdn_address import CdnAddresses
from clankie_stage.discord.faults import Fault, Faults
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.world import Attachment, Json, World

GONE = "This content is no longer available."

SAFE_HEADERS = {
    # A posted file may claim to be a web page; it must not run as one of the stage's own.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=60",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """Bytes at a path of the CDN hosts that no message carries, such as a GIF picker's preview."""

    content: bytes
    content_type: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cdn:
    """Serves ``/cdn``, to which the path and query of a real address are appended."""

    world: World
    addresses: CdnAddresses
    recording: Recording
    faults: Faults
    shelves: dict[str, Shelf] = field(default_factory=dict[str, Shelf])

    def lay(self, path: str, content: str, content_type: str, headers: dict[str, str]) -> None:
        """Serve base64 ``content`` at a path such as ``/external/...``, unsigned."""
        self.shelves[path] = Shelf(base64.b64decode(content, validate=True), content_type, headers)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer a request below ``/cdn``."""
        path = "/" + request.match_info["path"]
        note: Json = {"method": request.method, "path": path, "host": request.host, "query": dict(request.query)}
        note["started_at"] = self.recording.now()
        fault = self.faults.strike(request.method, f"/cdn{path}")
        if fault is not None:
            note["fault"] = fault.id
            await self.faults.wait(fault)
        response = _faulty(fault) if fault is not None and fault.replaces else self._file(path, request)
        cut = fault is not None and fault.cuts
        self.recording.add("cdn", {**note, "status": None if cut else response.status})
        if cut and request.transport is not None:
            request.transport.abort()
        return response

    def _file(self, path: str, request: web.Request) -> web.Response:
        shelf = self.shelves.get(path)
        if shelf is not None:
            return web.Response(
                body=shelf.content, headers={**SAFE_HEADERS, "Content-Type": shelf.content_type, **shelf.headers}
            )
        query = request.query
        attachment = self._attachment(path)
        if attachment is None or not self.addresses.good(
            path, query.get("ex", ""), query.get("is", ""), query.get("hm", "")
        ):
            return web.Response(text=GONE, status=404)
        return web.Response(
            body=attachment.content,
            headers={**SAFE_HEADERS, "Content-Type": attachment.content_type or "application/octet-stream"},
        )

    def _attachment(self, path: str) -> Attachment | None:
        parts = path.strip("/").split("/")
        if len(parts) != 4 or parts[0] != "attachments":
            return None
        room = self.world.rooms.get(parts[1])
        if room is None:
            return None
        for message in room.messages.values():
            for attachment in message.attachments:
                if (attachment.id, attachment.filename) == (parts[2], parts[3]):
                    return attachment
        return None


def _faulty(fault: Fault) -> web.Response:
    body = fault.body if isinstance(fault.body, str) else ""
    return web.Response(
        body=body.encode(), status=fault.status or 200, headers={"Content-Type": "text/plain", **fault.headers}
    )
