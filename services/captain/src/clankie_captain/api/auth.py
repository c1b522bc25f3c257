"""Who asks: a presence or the operator, by bearer token. Source: SEC-1."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from clankie_captain.api.problems import ProblemError
from clankie_captain.core.lane import OPERATOR
from clankie_settings.ids import PresenceId
from clankie_settings.wire.lease import INSTANCE_HEADER, PRESENCE_LEASED


@dataclass(frozen=True, slots=True)
class Keys:
    """Tokens by presence, and the operator's; no two are alike."""

    presences: Mapping[PresenceId, str]
    operator: str

    def presence(self, token: str) -> PresenceId | None:
        """The presence that the token belongs to. Every token is compared, each in constant time."""
        found = [name for name, own in self.presences.items() if _same(own, token)]
        return found[0] if found else None

    def is_operator(self, token: str) -> bool:
        """Whether the token is the operator's, compared in constant time."""
        return _same(self.operator, token)


def _same(own: str, given: str) -> bool:
    return hmac.compare_digest(own.encode(), given.encode("utf-8", "surrogateescape"))


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ProblemError(
            401, "token_missing", "send `Authorization: Bearer TOKEN`; `clankie token captain` prints a presence's"
        )
    return token.strip()


def _keys(request: Request) -> Keys:
    return cast("Keys", request.app.state.captain.keys)


async def presence(request: Request) -> PresenceId:
    """The presence that asks.

    Raises:
        ProblemError: 401 without a known token, 403 with the operator's.
    """
    token, keys = _bearer(request), _keys(request)
    known = keys.presence(token)
    if known is not None:
        return known
    if keys.is_operator(token):
        raise ProblemError(403, "presence_only", "this is for presences; use a presence's token, not the operator's")
    raise ProblemError(401, "token_unknown", "the token belongs to no presence; compare CLANKIE_CAPTAIN_TOKEN")


async def operator(request: Request) -> None:
    """Let the operator pass.

    Raises:
        ProblemError: 401 without a known token, 403 with a presence's.
    """
    token, keys = _bearer(request), _keys(request)
    if keys.is_operator(token):
        return
    if keys.presence(token) is not None:
        raise ProblemError(403, "operator_only", "this is for the operator; a presence reads its own deliveries only")
    raise ProblemError(401, "token_unknown", "the token is not the operator's; `clankie token operator` prints it")


AskingProcess = Annotated[PresenceId, Depends(presence)]
"""Route parameter: the presence that asks, by whichever of its processes."""


async def fenced(request: Request, known: AskingProcess) -> PresenceId:
    """The presence that asks, by the process that has its lease, or by one that names none.

    Raises:
        ProblemError: 401 and 403 as for ``presence``; 409 for another process.

    Source: C74.
    """
    await _prove(request, known)
    return known


async def _prove(request: Request, known: PresenceId) -> None:
    instance = request.headers.get(INSTANCE_HEADER)
    if instance is not None and await request.app.state.captain.leases.holder(known) not in (None, instance):
        raise taken()


def taken() -> ProblemError:
    """The answer to a process of a presence whose lease another one has."""
    return ProblemError(
        409, PRESENCE_LEASED, "another process of this presence holds the lease: stop one of the two, or wait"
    )


AskingPresence = Annotated[PresenceId, Depends(fenced)]
"""Route parameter: the presence that asks."""


async def speaker(request: Request) -> PresenceId:
    """The presence that asks, or the operator as the presence that they speak as.

    Raises:
        ProblemError: 401 without a known token.
    """
    token, keys = _bearer(request), _keys(request)
    known = keys.presence(token)
    if known is not None:
        await _prove(request, known)
        return known
    if keys.is_operator(token):
        return OPERATOR
    raise ProblemError(401, "token_unknown", "the token belongs to nobody here; `clankie token` prints those that do")


AskingSpeaker = Annotated[PresenceId, Depends(speaker)]
"""Route parameter: whoever may have handed a delivery over."""
