"""Who may ask for what: tokens, told apart in constant time, and no presence sees another's turns."""

import hmac
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from clankie_captain import app as composition
from clankie_captain.errors import ConfigurationError
from clankie_settings.schema import PresenceSettings
from tests.captain.api.running import (
    CAPTAIN_TOKEN,
    OPERATOR_TOKEN,
    SECOND_TOKEN,
    RunningCaptain,
    ToldLoop,
    caller,
    settings,
)
from tests.captain.api.test_waits import PLAIN, RECEIPT

pytestmark = pytest.mark.requirement("SEC-1")

PRESENCE_ROUTES = [
    ("POST", "/v1/turns"),
    ("GET", "/v1/turns?owed=true"),
    ("PATCH", "/v1/turns/400"),
    ("DELETE", "/v1/turns/400"),
    ("POST", "/v1/turns/400/receipts"),
    ("GET", "/v1/presences/discord/actions"),
    ("GET", "/v1/presences/discord/rooms"),
    ("POST", "/v1/presences/discord/commands"),
    ("POST", "/v1/actions/act_1/receipt"),
]
SHARED_ROUTES = [("GET", "/v1/turns/400"), ("POST", "/v1/turns/400/cancel")]


async def asked(captain: RunningCaptain, method: str, path: str, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {b"Authorization": authorization.encode("latin-1")}
    async with caller(captain.address, None) as client:
        return await client.request(method, path, headers=headers)


@pytest.mark.parametrize(
    ("authorization", "status", "code"),
    [
        (None, 401, "token_missing"),
        ("", 401, "token_missing"),
        (CAPTAIN_TOKEN, 401, "token_missing"),
        (f"Basic {CAPTAIN_TOKEN}", 401, "token_missing"),
        ("Bearer", 401, "token_missing"),
        ("Bearer another", 401, "token_unknown"),
        (f"Bearer {CAPTAIN_TOKEN}x", 401, "token_unknown"),
        (f"Bearer {CAPTAIN_TOKEN[:-1]}", 401, "token_unknown"),
        ("Bearer t\u00f6ken", 401, "token_unknown"),
        (f"Bearer {OPERATOR_TOKEN}", 403, "presence_only"),
    ],
)
async def test_no_route_of_a_presence_opens_without_its_token(
    captain: RunningCaptain, authorization: str | None, status: int, code: str
) -> None:
    # What the operator may ask of its own turns as well is no refusal to the operator.
    shared = SHARED_ROUTES if status == 401 else []
    for method, path in [*PRESENCE_ROUTES, *shared]:
        answer = await asked(captain, method, path, authorization)
        assert (path, answer.status_code, answer.json()["code"]) == (path, status, code)
        assert ("WWW-Authenticate" in answer.headers) == (status == 401)
    assert captain.loop.orders == []


@pytest.mark.parametrize(
    ("token", "status", "code"),
    [(None, 401, "token_missing"), ("another", 401, "token_unknown"), (CAPTAIN_TOKEN, 403, "operator_only")],
)
async def test_the_operators_route_opens_to_the_operator_alone(
    captain: RunningCaptain, token: str | None, status: int, code: str
) -> None:
    answer = await asked(captain, "GET", "/v1/stats", token and f"Bearer {token}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await asked(captain, "GET", "/v1/stats", f"bearer  {OPERATOR_TOKEN}")).status_code == 200


async def test_a_presence_may_only_speak_as_itself(captain: RunningCaptain) -> None:
    answer = await captain.post(PLAIN | {"presence_id": "second"})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        403,
        "presence_mismatch",
        "presence_id",
    )
    assert captain.loop.orders == []


async def test_another_presence_finds_nothing_of_a_delivery(captain: RunningCaptain) -> None:
    await captain.post(PLAIN)
    async with caller(captain.address, SECOND_TOKEN) as second:
        for answer in (
            await second.get("/v1/turns/400"),
            await second.post("/v1/turns/400/receipts", json=RECEIPT),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_delivery")
        assert (await second.get("/v1/turns", params={"owed": "true"})).json() == {"turns": []}
        assert (await second.get("/v1/presences/second/rooms")).json()["rooms"] == []
        for path in ("actions", "rooms"):
            refused = await second.get(f"/v1/presences/discord/{path}")
            assert (refused.status_code, refused.json()["code"]) == (403, "presence_mismatch")
    assert (await captain.client.get("/v1/turns/400")).json()["owed"]


async def test_the_operator_finds_nothing_of_a_presences_delivery(captain: RunningCaptain) -> None:
    await captain.post(PLAIN)
    for method, path in SHARED_ROUTES:
        answer = await asked(captain, method, path, f"Bearer {OPERATOR_TOKEN}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_delivery")


async def test_two_presences_may_use_one_id(captain: RunningCaptain) -> None:
    await captain.post(PLAIN)
    async with caller(captain.address, SECOND_TOKEN) as second:
        answer = await second.post("/v1/turns", json=PLAIN | {"presence_id": "second", "body": "other words"})
    assert answer.json()["state"] == "replied"
    assert len(captain.loop.orders) == 2


@pytest.mark.parametrize("given", [CAPTAIN_TOKEN, SECOND_TOKEN, OPERATOR_TOKEN, "another"])
async def test_every_token_is_compared_in_constant_time_whichever_fits(
    captain: RunningCaptain, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    compared: list[bytes] = []
    compare = hmac.compare_digest

    def noting(own: bytes, other: bytes) -> bool:
        compared.append(own)
        return compare(own, other)

    monkeypatch.setattr(hmac, "compare_digest", noting)
    await asked(captain, "GET", "/v1/turns/400", f"Bearer {given}")
    assert compared[:2] == [CAPTAIN_TOKEN.encode(), SECOND_TOKEN.encode()]
    compared.clear()
    await asked(captain, "GET", "/v1/stats", f"Bearer {given}")
    assert OPERATOR_TOKEN.encode() in compared


async def test_health_needs_no_token(captain: RunningCaptain) -> None:
    assert [(await asked(captain, "GET", path, None)).status_code for path in ("/healthz", "/readyz")] == [200, 200]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"captain_token": OPERATOR_TOKEN}, "two tokens are alike"),
        ({"second": CAPTAIN_TOKEN}, "two tokens are alike"),
        ({"discord": SECOND_TOKEN}, "its token is CLANKIE_CAPTAIN_TOKEN"),
    ],
)
def test_tokens_that_could_be_taken_for_each_other_are_refused_at_the_start(
    tmp_path: Path, changed: dict[str, str], sentence: str
) -> None:
    chosen = {name: SecretStr(value) for name, value in changed.items() if name == "captain_token"}
    own = {name: PresenceSettings(token=SecretStr(v)) for name, v in changed.items() if name != "captain_token"}
    values = settings(tmp_path, **chosen, **({"presences": own} if own else {}))
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        composition.build(values, make_loop=lambda _settings, _clock: ToldLoop())
    assert not any(token in str(refused.value) for token in changed.values())
