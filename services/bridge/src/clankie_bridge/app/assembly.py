"""The parts of the bridge, joined."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from clankie_bridge.app.policies import admitting, replying, switched
from clankie_bridge.artifacts import AttachmentRoot
from clankie_bridge.captain.actions import CaptainActions
from clankie_bridge.captain.connection import Connection
from clankie_bridge.captain.patience import Patience
from clankie_bridge.captain.presence import CaptainPresence
from clankie_bridge.captain.turns import CaptainTurns
from clankie_bridge.core.addressing import Names
from clankie_bridge.desk.absence import Absence
from clankie_bridge.desk.cards import Cards
from clankie_bridge.desk.catching_up import CatchingUp
from clankie_bridge.desk.changes import Changes
from clankie_bridge.desk.commands import Commands
from clankie_bridge.desk.deliveries import Deliveries
from clankie_bridge.desk.enclosing import Enclosing
from clankie_bridge.desk.handing import Handing
from clankie_bridge.desk.ingress import Ingress
from clankie_bridge.desk.missing import Missing
from clankie_bridge.desk.myself import Myself
from clankie_bridge.desk.order import Order
from clankie_bridge.desk.posting import Posting
from clankie_bridge.desk.reading import Reading
from clankie_bridge.desk.resumption import Resumption
from clankie_bridge.desk.room import Room, Rooms
from clankie_bridge.desk.screening import Screening
from clankie_bridge.desk.signals import Progress, Signals
from clankie_bridge.desk.standing import Standing
from clankie_bridge.desk.sweeping import Sweeping
from clankie_bridge.desk.tasks import Tasks
from clankie_bridge.desk.waiting import Waiting
from clankie_bridge.discord.directory import Directory
from clankie_bridge.discord.gateway import Tap
from clankie_bridge.discord.history import DiscordHistory
from clankie_bridge.discord.interactions import DiscordResponses
from clankie_bridge.discord.members import DiscordMembers
from clankie_bridge.discord.pages import DiscordPages
from clankie_bridge.discord.rest import Rest
from clankie_bridge.discord.send import DiscordSender, Gate
from clankie_bridge.discord.surface import DiscordSurface
from clankie_bridge.discord.traces import DiscordTraces
from clankie_bridge.discord.typing import DiscordIndicator
from clankie_bridge.evidence import EvidenceFile
from clankie_bridge.instance import Instance
from clankie_bridge.ports import Log
from clankie_settings.clock import Clock
from clankie_settings.crashing import Crash
from clankie_settings.ids import PresenceId
from clankie_settings.schema import BridgeSettings

PRESENCE: Final = PresenceId("discord")
"""The presence that this bridge is."""


@dataclass(frozen=True, slots=True)
class _Common:
    """What several parts share."""

    captain: CaptainTurns
    patience: Patience
    standing: Standing
    presence: CaptainPresence
    history: DiscordHistory
    tasks: Tasks
    gate: Gate
    pages: DiscordPages
    traces: DiscordTraces
    surface: DiscordSurface
    sweeping: Sweeping
    cards: Cards
    directory: Directory
    bot: Myself
    deliveries: Deliveries
    order: Order
    rooms: Rooms = field(default_factory=Rooms)
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True, slots=True)
class Parts:
    """What runs for as long as the bridge lives."""

    ingress: Ingress
    absence: Absence
    catching_up: CatchingUp
    commands: Commands
    signals: Signals
    resumption: Resumption
    standing: Standing
    rooms: Rooms
    deliveries: Deliveries
    sweeping: Sweeping
    cards: Cards
    presence: CaptainPresence

    @property
    def are_quiet(self) -> bool:
        """Whether nothing waits to be handed over, no reply is on its way, and no card stays behind."""
        return self.rooms.are_quiet and self.deliveries.are_quiet and self.cards.are_quiet


@dataclass(frozen=True, slots=True)
class Assembly:
    """What every part may need, and how the parts are joined."""

    settings: BridgeSettings
    log: Log
    clock: Clock
    jitter: Callable[[], float]
    tap: Tap
    evidence: EvidenceFile
    instance: Instance
    crash: Crash
    bot_id: str

    def joined(self, rest: Rest, connection: Connection, tasks: Tasks) -> Parts:
        """The parts, of which none works yet."""
        common = self._common(rest, connection, tasks)
        posting = self._posting(common, rest)
        waiting = self._waiting(common, posting, tasks)
        resumption = Resumption(
            captain=common.captain,
            patience=common.patience,
            waiting=waiting,
            deliveries=common.deliveries,
            rooms=common.rooms,
            log=self.log,
            stands=common.standing.held,
        )
        ingress, absence, catching_up = self._ingress(common, rest, waiting, resumption)
        signals = self._signals(common, posting, CaptainActions(connection, PRESENCE, self.log), rest)
        return Parts(
            ingress,
            absence,
            catching_up,
            self._commands(common, rest),
            signals,
            resumption,
            common.standing,
            common.rooms,
            common.deliveries,
            common.sweeping,
            common.cards,
            common.presence,
        )

    def _notices(self, common: _Common) -> Callable[[Room], bool]:
        """Which rooms want to be told where no answer comes. Source: ROOM-8."""
        return switched(common.directory, {key: room.notices for key, room in self.settings.rooms.items()})

    def _waiting(self, common: _Common, posting: Posting, tasks: Tasks) -> Waiting:
        return Waiting(
            captain=common.captain,
            patience=common.patience,
            posting=posting,
            earlier_said=common.order.earlier_said,
            notices=self._notices(common),
            cards=common.cards,
            deliveries=common.deliveries,
            evidence=self.evidence,
            tasks=tasks,
            clock=self.clock,
            jitter=self.jitter,
            log=self.log,
        )

    def _common(self, rest: Rest, connection: Connection, tasks: Tasks) -> _Common:
        patience = Patience(self.clock, self.jitter, self.log)
        presence = CaptainPresence(connection, PRESENCE)
        standing = Standing(
            presence=presence,
            instance=self.instance,
            patience=patience,
            clock=self.clock,
            log=self.log,
        )
        gate, directory = Gate(self.clock, standing.proven), Directory()
        surface = DiscordSurface(rest, gate, self.clock, self.jitter, self.log)
        card = switched(directory, {key: room.card for key, room in self.settings.rooms.items()})
        pages, deliveries = DiscordPages(rest, gate, self.clock, self.jitter, self.log), Deliveries()
        sweeping = Sweeping(pages=pages, surface=surface, deliveries=deliveries, bot_id=self.bot_id, log=self.log)
        captain = CaptainTurns(connection, PRESENCE)
        return _Common(
            captain=captain,
            patience=patience,
            standing=standing,
            presence=presence,
            history=DiscordHistory(rest, self.log),
            tasks=tasks,
            gate=gate,
            pages=pages,
            traces=DiscordTraces(pages, self.bot_id),
            surface=surface,
            sweeping=sweeping,
            cards=Cards(
                surface=surface, sweeping=sweeping, switch=card, tasks=tasks, crash=self.crash, clock=self.clock
            ),
            directory=directory,
            bot=Myself(directory, Names(self.settings.names)),
            deliveries=deliveries,
            order=Order(captain=captain, patience=patience, deliveries=deliveries, clock=self.clock),
        )

    def _posting(self, common: _Common, rest: Rest) -> Posting:
        sender = DiscordSender(rest, common.gate, common.traces, self.crash, self.clock, self.jitter, self.log)
        root = AttachmentRoot(self.settings.discord_attachment_root)
        return Posting(
            enclosing=Enclosing(sender=sender, artifacts=root, log=self.log),
            traces=common.traces,
            captain=common.captain,
            patience=common.patience,
            crash=self.crash,
            clock=self.clock,
            log=self.log,
            updates_before=common.progress.before_reply,
        )

    def _ingress(
        self, common: _Common, rest: Rest, waiting: Waiting, resumption: Resumption
    ) -> tuple[Ingress, Absence, CatchingUp]:
        catching_up = CatchingUp(
            every=self.settings.catch_up_after,
            rooms=common.rooms,
            clock=self.clock,
            work=lambda room: handing.work(room),  # noqa: PLW0108 -- it is made below, of this
        )
        changes = self._changes(common)
        handing = Handing(
            presence_id=PRESENCE,
            identity=common.bot.identity,
            policies=replying(self.settings),
            directory=common.directory,
            reading=Reading(common.directory, common.history),
            changes=changes,
            catching_up=catching_up,
            captain=common.captain,
            patience=common.patience,
            rooms=common.rooms,
            deliveries=common.deliveries,
            evidence=self.evidence,
            tasks=common.tasks,
            crash=self.crash,
            clock=self.clock,
            log=self.log,
            finish=waiting.finish,
            resumed=resumption.taken_up,
        )
        screening = Screening(policy=admitting(self.settings), evidence=self.evidence, log=self.log, bot=common.bot)
        absence = self._absence(common, rest, screening, handing)
        return self._intake(common, handing, changes, screening, absence), absence, catching_up

    def _absence(self, common: _Common, rest: Rest, screening: Screening, handing: Handing) -> Absence:
        missing = Missing(
            pages=common.pages,
            members=DiscordMembers(rest, common.gate),
            screening=screening,
            bot=common.bot,
            sweeping=common.sweeping,
            evidence=self.evidence,
            clock=self.clock,
            log=self.log,
        )
        return Absence(
            presence=common.presence,
            standing=common.standing,
            patience=common.patience,
            missing=missing,
            sweeping=common.sweeping,
            policy=admitting(self.settings),
            rooms=common.rooms,
            tasks=common.tasks,
            clock=self.clock,
            log=self.log,
            work=handing.work,
        )

    def _changes(self, common: _Common) -> Changes:
        return Changes(
            captain=common.captain,
            patience=common.patience,
            rooms=common.rooms,
            deliveries=common.deliveries,
            evidence=self.evidence,
            log=self.log,
            identity=common.bot.identity,
        )

    def _intake(
        self, common: _Common, handing: Handing, changes: Changes, screening: Screening, absence: Absence
    ) -> Ingress:
        return Ingress(
            tap=self.tap,
            directory=common.directory,
            policy=admitting(self.settings),
            rooms=common.rooms,
            history=common.history,
            evidence=self.evidence,
            clock=self.clock,
            log=self.log,
            work=handing.work,
            changed=changes.taken,
            bot=common.bot,
            screening=screening,
            absence=absence,
        )

    def _commands(self, common: _Common, rest: Rest) -> Commands:
        return Commands(
            tap=self.tap,
            directory=common.directory,
            policy=admitting(self.settings),
            captain=common.captain,
            responses=DiscordResponses(rest, self.clock, self.log),
            tasks=common.tasks,
            log=self.log,
        )

    def _signals(self, common: _Common, posting: Posting, actions: CaptainActions, rest: Rest) -> Signals:
        return Signals(
            actions=actions,
            progress=common.progress,
            captain=common.captain,
            patience=common.patience,
            posting=posting,
            earlier_said=common.order.earlier_said,
            indicator=DiscordIndicator(rest, self.log),
            cards=common.cards,
            surface=common.surface,
            deliveries=common.deliveries,
            rooms=common.rooms,
            tasks=common.tasks,
            crash=self.crash,
            log=self.log,
            notices=self._notices(common),
            stands=common.standing.held,
        )
