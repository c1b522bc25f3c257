"""Where a delivery comes from that nobody wrote. Source: LOOP-6."""

from dataclasses import dataclass

from clankie_settings.wire.attachment import Artifact


@dataclass(frozen=True, slots=True)
class Errand:
    """A delivery that is a child's task; ``fingerprint`` is that of the grant under which it was forked."""

    fingerprint: str


@dataclass(frozen=True, slots=True)
class Homecoming:
    """A delivery that tells of a child's end: what it was to do, how it ended, and what it made for the reply."""

    task: str
    ending: str
    pictures: tuple[Artifact, ...] = ()


Origin = Errand | Homecoming
"""Set in motion by the captain itself."""
