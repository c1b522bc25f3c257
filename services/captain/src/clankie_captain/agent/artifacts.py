"""Files that tools made, captured from the results of their calls and never from the model's words. Source: ART-2.

A result carries its files beside what the model reads of it, so they are stored with the transcript: what a run had
made when its captain died still goes with its reply.
"""

from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_ai import ToolReturn
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from clankie_settings.wire.attachment import Artifact

_ARTIFACT: Final = TypeAdapter(Artifact)


def attached(words: str, artifact: Artifact) -> ToolReturn:
    """A tool's result: ``words`` for the model, and the file for the reply."""
    return ToolReturn(return_value=words, metadata={"artifact": artifact.model_dump()})


def made(message: ModelMessage) -> list[Artifact]:
    """The files of the results in a message, in their order."""
    parts = message.parts if isinstance(message, ModelRequest) else ()
    found = (_of(part) for part in parts if isinstance(part, ToolReturnPart))
    return [each for each in found if each is not None]


def _of(part: ToolReturnPart) -> Artifact | None:
    match part.metadata:
        case {"artifact": kept}:
            with suppress(ValidationError):
                return _ARTIFACT.validate_python(kept)
        case _:
            pass
    return None
