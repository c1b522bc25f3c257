"""Nothing that a person or a provider wrote comes back in an error, or reaches the log."""

import asyncio
import json
import logging
import sqlite3
import sys
from contextlib import closing
from io import StringIO
from typing import Any

import httpx
import pytest

from clankie_captain import log
from clankie_captain.core.run import Answered, Broken, Finish, Order
from clankie_captain.ports import RunLine
from clankie_settings.wire.failure import FailureCode
from clankie_settings.wire.problem import PROBLEM_TYPE, Problem
from clankie_settings.wire.version import WIRE_HEADER
from tests.captain.api.running import CAPTAIN_TOKEN, OPERATOR_TOKEN, PATIENCE_S, RunningCaptain
from tests.captain.api.test_waits import PLAIN, RECEIPT, message
from tests.settings.wire.samples import PICTURE, TRIGGER, changed

pytestmark = pytest.mark.requirement("SEC-2")

CANARY = "canary-7f3a"
WHISPER = f"{CANARY} https://example.test/{CANARY}"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What the captain writes with its log configured as in its own process."""
    terminal = StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    log.configure()
    return terminal


def lines(written: StringIO) -> tuple[str, list[dict[str, Any]]]:
    """All that was written, and its lines as the objects that they are."""
    text = written.getvalue()
    return text, [json.loads(line) for line in text.splitlines()]


def full_of_canaries() -> dict[str, Any]:
    picture = PICTURE | {"url": f"https://example.test/{CANARY}", "filename": CANARY, "id": CANARY}
    document = message("400", body=WHISPER, attachments=[picture])
    document = changed(document, ("actor", "display_name"), CANARY)
    document = changed(document, ("room", "guild_name"), CANARY)
    return document | {"context": [TRIGGER["context"][0] | {"body": WHISPER, "author_name": CANARY}]}


BROKEN: dict[str, Any] = {
    "a value under an unknown key": full_of_canaries() | {"tone": WHISPER},
    "a wrong type": full_of_canaries() | {"addressed": CANARY},
    "a tag": full_of_canaries() | {"kind": CANARY},
    "a time": full_of_canaries() | {"sent_at": CANARY},
    "a long body": full_of_canaries() | {"body": CANARY * 2_000},
    "an id": full_of_canaries() | {"message_id": WHISPER},
    "an address": changed(full_of_canaries(), ("attachments", 0, "url"), WHISPER.replace("https", "ftp")),
    "a type": changed(full_of_canaries(), ("attachments", 0, "media_type"), CANARY),
    "a version": full_of_canaries() | {"wire_version": CANARY},
    "a whole document": CANARY,
    "a rule on the whole": full_of_canaries() | {"covers": [], "kind": "voice"},
    "another presence": full_of_canaries() | {"presence_id": CANARY},
}


async def errors(captain: RunningCaptain) -> list[httpx.Response]:
    """An answer of every kind of error, each asked for with canaries in the request."""
    client = captain.client
    answers = [await captain.post(document) for document in BROKEN.values()]
    answers += [
        await client.post("/v1/turns", content=f'{{"body": "{CANARY}'),
        await client.post("/v1/turns", json=full_of_canaries(), headers={WIRE_HEADER: CANARY}),
        await client.post("/v1/turns", json=full_of_canaries(), headers={"Authorization": f"Bearer {CANARY}"}),
        await client.get("/v1/turns", params={"owed": CANARY}),
        await client.get(f"/v1/turns/{CANARY}"),
        await client.get(f"/v1/{CANARY}"),
        await client.request(CANARY.upper(), "/v1/turns"),
        await client.get(f"/v1/presences/{CANARY}/rooms"),
        await client.get("/v1/presences/discord/actions", headers={"Last-Event-ID": CANARY}),
        await client.post(f"/v1/turns/{CANARY}/receipts", json=RECEIPT),
        await client.post(f"/v1/turns/{CANARY}/receipts", json=RECEIPT | {"code": WHISPER}),
        await client.post(f"/v1/actions/{CANARY}/receipt", json={"ok": True}),
        await client.post(f"/v1/actions/{CANARY}/receipt", json={"ok": CANARY}),
    ]
    return answers


async def test_no_error_answer_quotes_a_request(captain: RunningCaptain, written: StringIO) -> None:
    for answer in await errors(captain):
        Problem.model_validate_json(answer.content)
        assert answer.status_code >= 400
        assert CANARY not in answer.text + str(answer.headers)
    text, _ = lines(written)
    assert CANARY not in text


async def test_an_unknown_key_is_named_and_cut_since_the_caller_chose_it(
    captain: RunningCaptain, written: StringIO
) -> None:
    answer = await captain.post(PLAIN | {"tone" * 100: WHISPER})
    assert answer.json()["field"] == ("tone" * 100)[:100]
    assert CANARY not in answer.text
    assert "tone" not in lines(written)[0]


@pytest.mark.parametrize("ending", ["answered", "broken", "fault"])
async def test_a_whole_turn_leaves_no_word_in_the_log(captain: RunningCaptain, written: StringIO, ending: str) -> None:
    async def script(_order: Order, line: RunLine) -> Finish:
        line.wrote(CANARY)
        if ending == "fault":
            raise LookupError(CANARY)
        return Answered(WHISPER) if ending == "answered" else Broken(FailureCode.CAPTAIN_MODEL_FAILED, "LookupError")

    captain.loop.script = script
    result = await captain.post(full_of_canaries())
    assert (result.json()["state"] == "replied") == (ending == "answered")
    await captain.client.post("/v1/turns/400/receipts", json=RECEIPT)
    text, written_lines = lines(written)
    assert CANARY not in text
    expected = {"answered": "discord.text.reply", "broken": "run.broken", "fault": "run.fault"}
    assert expected[ending] in {line["event"] for line in written_lines}


@pytest.mark.requirement("OPS-6")
async def test_the_line_of_a_settled_run_holds_ids_codes_and_counts_alone(captain: RunningCaptain) -> None:
    await captain.post(full_of_canaries())
    await captain.post(message("401"))
    text = (captain.state / "turn-settled.jsonl").read_text()
    assert CANARY not in text
    assert [json.loads(line)["delivery"] for line in text.splitlines()][:1] == ["400"]


async def test_a_fault_of_the_store_is_a_plain_500_that_states_the_wire_and_tells_nothing(
    captain: RunningCaptain, written: StringIO
) -> None:
    with closing(sqlite3.connect(captain.state / "captain.db")) as other, other:
        other.execute("ALTER TABLE room RENAME TO elsewhere")
    answer = await captain.post(full_of_canaries())
    assert (answer.status_code, answer.json()["code"]) == (500, "captain_internal_error")
    assert (answer.headers["content-type"], answer.headers[WIRE_HEADER]) == (PROBLEM_TYPE, "1")
    # The server's own word of it comes behind the answer.
    async with asyncio.timeout(PATIENCE_S):
        while "library" not in written.getvalue():  # noqa: ASYNC110 -- nothing tells when a line is written
            await asyncio.sleep(0)
    text, written_lines = lines(written)
    for word in (CANARY, "INSERT", "elsewhere", "Traceback"):
        assert word not in answer.text + text
    assert {"api.fault", "library"} <= {line["event"] for line in written_lines}
    with closing(sqlite3.connect(captain.state / "captain.db")) as other, other:
        other.execute("ALTER TABLE elsewhere RENAME TO room")
    assert (await captain.post(full_of_canaries())).json()["state"] == "replied"


async def test_no_token_is_ever_written(captain: RunningCaptain, written: StringIO) -> None:
    await errors(captain)
    await captain.client.get("/v1/stats")
    text, _ = lines(written)
    assert not any(token in text for token in (CAPTAIN_TOKEN, OPERATOR_TOKEN))


async def test_a_librarys_line_is_counted_and_not_repeated(written: StringIO) -> None:
    fault = LookupError(CANARY)
    logging.getLogger("some.library").error("said %s", CANARY, exc_info=fault)
    logging.getLogger("some.library").info("quiet %s", CANARY)
    logging.getLogger("some.library").warning("said %s", CANARY)
    text, found = lines(written)
    assert CANARY not in text
    assert [(line["name"], line["severity"], line["cause"]) for line in found] == [
        ("some.library", "ERROR", "LookupError"),
        ("some.library", "WARNING", None),
    ]


@pytest.mark.requirement("WIRE-6")
async def test_a_terminal_that_went_away_costs_lines_and_never_a_turn(
    captain: RunningCaptain, written: StringIO
) -> None:
    async def breaks(_order: Order, _line: RunLine) -> Finish:
        return Broken(FailureCode.CAPTAIN_MODEL_FAILED, "LookupError")

    written.close()
    captain.loop.script = breaks
    assert (await captain.post(message("400"))).json()["state"] == "failed"
    assert (await captain.client.post("/v1/turns/400/receipts", json=RECEIPT)).status_code == 200
