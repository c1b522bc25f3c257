"""The composition root: the only place that constructs what the bridge is made of.

``assembly`` joins the parts, ``policies`` reads the owner's settings for them, ``life`` runs them until it is stopped.
"""

from clankie_bridge.app.life import NO_GUILDS, UNSET, run

__all__ = ["NO_GUILDS", "UNSET", "run"]
