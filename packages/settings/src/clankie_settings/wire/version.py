"""The version of the wire, and what two sides that differ say to each other."""

from typing import Final, Literal

WIRE_VERSION: Final = 1
"""The version that this code speaks. Source: WIRE-7."""

WIRE_HEADER: Final = "Clankie-Wire"
"""Header by which each side states its version on every request and answer. Source: WIRE-7."""

Side = Literal["captain", "presence"]


def disagreement(own: Side, theirs: str | int | None) -> str | None:
    """What ``own`` says to a peer that states ``theirs``, or None where the two agree.

    The message names the side to upgrade: the one with the lower version.

    Source: WIRE-7.
    """
    peer: Side = "presence" if own == "captain" else "captain"
    if theirs is None:
        return f"the {peer} states no wire version (this side speaks {WIRE_VERSION}): upgrade the {peer}"
    try:
        version = int(theirs)
    except ValueError:
        return f"the {peer} states a wire version that is no number: upgrade the {peer}"
    if version == WIRE_VERSION:
        return None
    older = peer if version < WIRE_VERSION else own
    return f"the {peer} speaks wire version {version}, the {own} speaks {WIRE_VERSION}: upgrade the {older}"
