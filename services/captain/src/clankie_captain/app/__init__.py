"""The composition root: the only place that constructs the captain's parts.

``assembly`` joins the parts, ``policies`` reads the owner's settings for them, ``life`` runs them until it is stopped.
"""

from clankie_captain.app.life import MakeLoop, build, close_door, drain, drained, refusal

__all__ = ["MakeLoop", "build", "close_door", "drain", "drained", "refusal"]
