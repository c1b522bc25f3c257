"""One HTTP call to the captain: token, wire version, and errors told apart. Source: WIRE-7."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, Self

import httpx
from pydantic import SecretStr, ValidationError

from clankie_bridge.errors import (
    CaptainAway,
    CaptainError,
    CaptainRefuses,
    DeliveryConflict,
    DeliveryUnknown,
    PresenceTaken,
    TriggerRefused,
)
from clankie_settings import bounds
from clankie_settings.wire.lease import INSTANCE_HEADER, PRESENCE_LEASED
from clankie_settings.wire.problem import Problem
from clankie_settings.wire.version import WIRE_HEADER, WIRE_VERSION, disagreement

_CONNECT_S: Final = 2.0
_CONNECTIONS: Final = 1_024


class Connection:
    """The captain at one address, spoken to as one presence; use as an async context.

    ``reachable`` tells whether the latest call got an answer. ``instance`` is how this process names itself.
    """

    def __init__(
        self,
        address: str,
        token: SecretStr,
        transport: httpx.AsyncBaseTransport | None = None,
        instance: str | None = None,
    ) -> None:
        named = {} if instance is None else {INSTANCE_HEADER: instance}
        self.client = httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {token.get_secret_value()}", WIRE_HEADER: str(WIRE_VERSION), **named},
            timeout=timeout(0),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=32),
            transport=transport,
            trust_env=False,
        )
        self.reachable = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    async def call(
        self, method: str, path: str, *, wait_s: int | None = None, json: str | None = None, **request: Any
    ) -> httpx.Response:
        """One attempt; the answer is 2xx.

        ``wait_s`` becomes ``Prefer: wait`` and lengthens the read timeout by ten seconds more.

        Raises:
            CaptainError: See ``errors.py``; which leaf says what to do next.
        """
        headers: dict[str, str] = {}
        if wait_s is not None:
            headers["Prefer"] = f"wait={wait_s}"
        if json is not None:
            headers["Content-Type"] = "application/json"
        try:
            response = await self.client.request(
                method, path, content=json, headers=headers, timeout=timeout(wait_s or 0), **request
            )
        except httpx.HTTPError as error:
            self.reachable = False
            # From None: the library's words hold the address.
            raise CaptainAway(cause_of(error)) from None
        self.reachable = True
        check(response)
        return response


def timeout(wait_s: int) -> httpx.Timeout:
    """The timeouts of a call that may be held for ``wait_s`` seconds. Source: WIRE-6, C07."""
    return httpx.Timeout(bounds.READ_MARGIN.total_seconds() + wait_s, connect=_CONNECT_S)


def check(response: httpx.Response) -> None:
    """Judge the wire version and the status of an answer whose body is read.

    Raises:
        CaptainError: The leaf that fits.
    """
    check_version(response.headers)
    if not response.is_success:
        raise _problem(response)


def check_version(headers: Mapping[str, str]) -> None:
    """Judge the captain's wire version.

    Raises:
        CaptainRefuses: It is not ours.
    """
    difference = disagreement("presence", headers.get(WIRE_HEADER))
    if difference is not None:
        raise CaptainRefuses(difference)


def _problem(response: httpx.Response) -> CaptainError:
    status = response.status_code
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        problem = None
    code = problem.code if problem is not None else f"captain_status_{status}"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return CaptainRefuses(
            "the captain refuses this bridge's token: give both the same CLANKIE_CAPTAIN_TOKEN, "
            "or neither, with the same CLANKIE_STATE"
        )
    if status == HTTPStatus.NOT_FOUND:
        return DeliveryUnknown(code)
    if status == HTTPStatus.CONFLICT:
        return PresenceTaken(code) if code == PRESENCE_LEASED else DeliveryConflict(code)
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or response.is_server_error:
        return CaptainAway(code)
    return TriggerRefused(code, problem.field if problem is not None else None)


def cause_of(error: httpx.HTTPError) -> str:
    """A stable code for a call without an answer."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "no_connection"
    return "timeout" if isinstance(error, httpx.TimeoutException) else "connection_lost"
