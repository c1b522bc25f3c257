"""The signed addresses of posted files, as Discord hands them out."""

import hashlib
from dataclasses import dataclass

from clankie_settings.clock import Clock
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.world import Attachment

CDN = "https://cdn.discordapp.com"
MEDIA_PROXY = "https://media.discordapp.net"

_SEAL = b"the stage signs so that an altered address is noticed; nothing here is secret"


@dataclass(frozen=True, slots=True)
class CdnAddresses:
    """Makes signed addresses and judges them. Addresses are fresh each time a payload is built."""

    clock: Clock
    behaviour: Behaviour

    def path(self, room_id: str, attachment: Attachment) -> str:
        """Where the file lies on either host, without a query."""
        return f"/attachments/{room_id}/{attachment.id}/{attachment.filename}"

    def query(self, path: str) -> str:
        """The signature of a path as of now: ``ex``, ``is``, ``hm`` and Discord's trailing ``&``."""
        issued = int(self.clock.now().timestamp())
        expires = issued + int(self.behaviour.cdn_lifetime_s)
        return f"?ex={expires:x}&is={issued:x}&hm={_seal(path, f'{expires:x}', f'{issued:x}')}&"

    def good(self, path: str, ex: str, issued: str, seal: str) -> bool:
        """Whether the signature belongs to the path and has not expired."""
        try:
            expires = int(ex, 16)
        except ValueError:
            return False
        return seal == _seal(path, ex, issued) and expires > self.clock.now().timestamp()


def _seal(path: str, ex: str, issued: str) -> str:
    return hashlib.sha256(b"\n".join((_SEAL, path.encode(), ex.encode(), issued.encode()))).hexdigest()
