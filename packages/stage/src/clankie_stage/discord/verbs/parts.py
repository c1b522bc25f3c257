"""The parts of a stage that verbs act on."""

from dataclasses import dataclass

from clankie_settings.clock import Ids
from clankie_stage.discord.audience import Audience
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.cdn import Cdn
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.faults import Faults
from clankie_stage.discord.foundations import Foundations
from clankie_stage.discord.happenings import Happenings
from clankie_stage.discord.interactions import Interactions
from clankie_stage.discord.nonces import Nonces
from clankie_stage.discord.rate_limits import RateLimits
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.sessions import Sessions
from clankie_stage.discord.world import World


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that the verbs of one stage share."""

    world: World
    behaviour: Behaviour
    happenings: Happenings
    foundations: Foundations
    sessions: Sessions
    faults: Faults
    recording: Recording
    changes: Changes
    audience: Audience
    limits: RateLimits
    nonces: Nonces
    cdn: Cdn
    interactions: Interactions
    ids: Ids


class Verbs:
    """A group of verbs over the parts of a stage."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
