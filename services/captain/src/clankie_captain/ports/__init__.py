"""Where the captain's parts meet; ``app.py`` joins them."""

from clankie_captain.ports.hands import Hands
from clankie_captain.ports.machine import Gate, Machine, NotDoneError, Ran
from clankie_captain.ports.pictures import Decoder, PictureLog, PictureRows, Resolver, Shelf
from clankie_captain.ports.records import CompactionLog, SettledRun, TurnLog
from clankie_captain.ports.rows import (
    Actions,
    Calls,
    Changes,
    Children,
    Compactions,
    Control,
    Deliveries,
    EntryLine,
    Events,
    Lanes,
    LaneSummary,
    Leases,
    Presences,
    Runs,
    Transcripts,
)
from clankie_captain.ports.servers import NoServers, NotServedError, ServerLog, Servers
from clankie_captain.ports.thinking import Loop, RunLine, Vitals
from clankie_captain.ports.web import NotFoundError, Searcher, Web
from clankie_captain.ports.workshop import NotMadeError, PageShot, Progress, Workshop

__all__ = [
    "Actions",
    "Calls",
    "Changes",
    "Children",
    "CompactionLog",
    "Compactions",
    "Control",
    "Decoder",
    "Deliveries",
    "EntryLine",
    "Events",
    "Gate",
    "Hands",
    "LaneSummary",
    "Lanes",
    "Leases",
    "Loop",
    "Machine",
    "NoServers",
    "NotDoneError",
    "NotFoundError",
    "NotMadeError",
    "NotServedError",
    "PageShot",
    "PictureLog",
    "PictureRows",
    "Presences",
    "Progress",
    "Ran",
    "Resolver",
    "RunLine",
    "Runs",
    "Searcher",
    "ServerLog",
    "Servers",
    "SettledRun",
    "Shelf",
    "Transcripts",
    "TurnLog",
    "Vitals",
    "Web",
    "Workshop",
]
