"""Puts the loopback Discord together and mounts it on a web application."""

from dataclasses import dataclass

from aiohttp import web

from clankie_settings.clock import Clock, Ids
from clankie_stage.discord.audience import Audience
from clankie_stage.discord.behaviour import Behaviour
from clankie_stage.discord.cdn import Cdn
from clankie_stage.discord.cdn_address import CdnAddresses
from clankie_stage.discord.changes import Changes
from clankie_stage.discord.control import Control
from clankie_stage.discord.control_routes import ControlRoutes
from clankie_stage.discord.faults import Faults
from clankie_stage.discord.foundations import Foundations
from clankie_stage.discord.gateway import Gateway
from clankie_stage.discord.happenings import Happenings
from clankie_stage.discord.interactions import Interactions
from clankie_stage.discord.message_payloads import MessagePayloads
from clankie_stage.discord.nonces import Nonces
from clankie_stage.discord.rate_limits import RateLimits
from clankie_stage.discord.recording import Recording
from clankie_stage.discord.rest import Rest
from clankie_stage.discord.rest_identity import IdentityRoutes
from clankie_stage.discord.rest_interactions import InteractionRoutes
from clankie_stage.discord.rest_messages import MessageRoutes
from clankie_stage.discord.rest_rooms import RoomRoutes
from clankie_stage.discord.scenery import opening_world
from clankie_stage.discord.sessions import Sessions
from clankie_stage.discord.snowflakes import Snowflakes
from clankie_stage.discord.verbs.parts import Parts


@dataclass(frozen=True, slots=True)
class LoopbackDiscord:
    """The parts that others hold on to: the control, and what a stop must end."""

    control: Control

    def end(self) -> None:
        """Say goodbye to gateway clients and watchers, so that a stop does not wait for them."""
        self.control.clear_faults()
        self.control.close(1001, "the stage stops")
        self.control.parts.audience.dismiss()


def mount_discord(app: web.Application, base_url: str, clock: Clock, ids: Ids) -> LoopbackDiscord:
    """Build a fresh Discord and add its routes; ``base_url`` is where the application will listen."""
    changes, behaviour, world = Changes(), Behaviour(), opening_world()
    recording, faults, audience = Recording(clock, changes), Faults(ids, changes), Audience(changes)
    snowflakes, limits, nonces = Snowflakes(clock), RateLimits(clock, behaviour), Nonces(clock, behaviour)
    addresses = CdnAddresses(clock, behaviour)
    sessions = Sessions(world, behaviour, recording, audience)
    payloads = MessagePayloads(world, addresses)
    happenings = Happenings(world, sessions, audience, payloads, snowflakes, clock)
    foundations = Foundations(world, happenings, audience, snowflakes)
    interactions = Interactions(clock, changes)
    cdn = Cdn(world, addresses, recording, faults)
    parts = Parts(
        world=world,
        behaviour=behaviour,
        happenings=happenings,
        foundations=foundations,
        sessions=sessions,
        faults=faults,
        recording=recording,
        changes=changes,
        audience=audience,
        limits=limits,
        nonces=nonces,
        cdn=cdn,
        interactions=interactions,
        ids=ids,
    )
    control = Control(parts)
    gateway_url = base_url.replace("http://", "ws://", 1) + "/gateway"
    Rest(world, recording, faults, limits).mount(app, [
        *IdentityRoutes(world, behaviour, gateway_url).routes(),
        *MessageRoutes(world, happenings, behaviour, nonces, snowflakes).routes(),
        *InteractionRoutes(world, interactions, snowflakes).routes(),
        *RoomRoutes(world, happenings, foundations).routes(),
    ])  # fmt: skip
    app.router.add_get("/gateway", Gateway(world, sessions, behaviour, recording, ids).accept)
    app.router.add_get("/gateway/", Gateway(world, sessions, behaviour, recording, ids).accept)
    app.router.add_get("/cdn/{path:.*}", cdn.serve)
    ControlRoutes(control, audience).mount(app)
    return LoopbackDiscord(control)
