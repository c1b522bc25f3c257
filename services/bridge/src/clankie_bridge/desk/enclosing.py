"""Words and their pictures become one message; a picture that cannot be had costs no words. Source: ART-3."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from clankie_bridge.core.artifacts import Cause, Picture, named_apart
from clankie_bridge.ports import Artifacts, Log, Outgoing, Posted, Refused, Sender
from clankie_settings.wire.attachment import Artifact

REMEDY: Final = "let captain and bridge have the same CLANKIE_STATE and CLANKIE_DISCORD_ATTACHMENT_ROOT, on one machine"
"""What to do where the folder of the pictures is not here."""


class Enclosing:
    """Sends a part together with the files that go with it."""

    def __init__(self, *, sender: Sender, artifacts: Artifacts, log: Log) -> None:
        self._sender = sender
        self._artifacts = artifacts
        self._log = log

    async def send(self, outgoing: Outgoing, artifacts: Sequence[Artifact] = ()) -> Posted | Refused:
        """Post one part with its pictures, or say why the words can never be posted.

        Source: ART-3.
        """
        read = [await self._artifacts.read(each) for each in artifacts]
        pictures = named_apart(each for each in read if isinstance(each, Picture))
        missing = tuple(each for each in read if isinstance(each, Cause))
        outcome = await self._sender.send(replace(outgoing, pictures=pictures, left_out=missing))
        if isinstance(outcome, Posted) and outcome.left_out:
            self._tell(outgoing.channel_id, outcome.left_out)
        return outcome

    def _tell(self, channel_id: str, left_out: Sequence[Cause]) -> None:
        remedy = {"remedy": REMEDY} if Cause.NO_FOLDER in left_out else {}
        causes = Counter(each.code for each in left_out)
        self._log.warning("pictures_left_out", room=channel_id, causes=dict(causes), **remedy)
