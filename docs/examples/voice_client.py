"""A voice presence without a voice: lines that it reads are utterances, lines that it prints would be spoken.

    CLANKIE_VOICE_TOKEN=... python docs/examples/voice_client.py GUILD:CHANNEL [--presence ear] [--captain URL]

It holds the room while it runs, and gives it back at the end of its input. See docs/voice.md.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import httpx

TTL_S: Final = 15
RENEW_S: Final = 5
WAIT_S: Final = 30
AGAIN_S: Final = 1.0
"""Seconds: of a lease, between its renewals, of one wait for a result, and until something is tried again."""

ACCEPTED: Final = 202
CONFLICT: Final = 409


class RefusedError(Exception):
    """The captain will not have it, however often it is asked."""


class VoiceClient:
    """One voice in one room."""

    def __init__(self, captain: httpx.AsyncClient, presence: str, room: str, actor: str) -> None:
        self._captain = captain
        self._presence = presence
        self._room = room
        self._actor = actor
        self._held_until = 0.0
        self._said: set[str] = set()
        self._seen = ""

    async def run(self) -> None:
        """Stand in the room until the input ends, then finish what was asked and leave."""
        await self._hold(TTL_S)
        try:
            async with asyncio.TaskGroup() as background:
                tasks = [background.create_task(each) for each in (self._renew(), self._follow())]
                await self._answer_owed()
                await self._listen()
                for task in tasks:
                    task.cancel()
        finally:
            await self._hold(0)

    async def _hold(self, ttl_s: int) -> None:
        asked = time.monotonic()
        path = f"/v1/presences/{self._presence}/rooms/{self._room}"
        lease = (await self._call("PUT", path, {"kind": "voice", "ttl_s": ttl_s})).json()
        # Counted from before the question, so that it never lasts longer here than there.
        self._held_until = asked + lease["ttl_s"]
        self._note("holding" if ttl_s else "left")

    async def _renew(self) -> NoReturn:
        while True:
            await asyncio.sleep(RENEW_S)
            await self._hold(TTL_S)

    async def _listen(self) -> None:
        """Hand over each line; each waits for its own result, so that a second one can join the first one's run."""
        async with asyncio.TaskGroup() as waiting:
            async for line in _lines():
                text = line.decode("utf-8", "replace").strip()
                if text:
                    delivery = f"utterance-{uuid.uuid4().hex}"
                    await self._call("POST", "/v1/turns", self._utterance(delivery, text), {"Prefer": "wait=0"})
                    waiting.create_task(self._await_result(delivery))

    async def _answer_owed(self) -> None:
        """Say what an earlier life of this client was still owed."""
        owed = (await self._call("GET", "/v1/turns?owed=true")).json()
        for each in owed["turns"]:
            if self._is_here(each["room"]):
                await self._await_result(each["delivery_id"])

    async def _await_result(self, delivery: str) -> None:
        path, wait = f"/v1/turns/{delivery}", {"Prefer": f"wait={WAIT_S}"}
        while True:
            answer = await self._call("GET", path, headers=wait)
            # Without the room it may have been posted meanwhile, for whoever had joined in writing.
            if answer.status_code != ACCEPTED and self._holds:
                break
            await asyncio.sleep(0 if self._holds else AGAIN_S)
        result = answer.json()
        if not result["owed"]:
            # Absorbed, silent, or said before: the quiet path.
            return
        self._speak(result.get("text") or "Sorry, that went wrong.")
        spoken = {"part": 1, "of": 1, "message_id": f"spoken-{delivery}"[:64], "posted_at": _now()}
        await self._call("POST", f"{path}/receipts", spoken)

    async def _follow(self) -> NoReturn:
        """Read the stream of actions, and read on where it broke."""
        while True:
            try:
                async for name, action in self._actions():
                    if name == "speak" and self._is_here(action["room"]):
                        await self._say(action)
            except httpx.HTTPError:
                pass
            await asyncio.sleep(AGAIN_S)

    async def _actions(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        headers = {"Last-Event-ID": self._seen} if self._seen else {}
        path = f"/v1/presences/{self._presence}/actions"
        async with self._captain.stream("GET", path, headers=headers, timeout=httpx.Timeout(10, read=45)) as stream:
            stream.raise_for_status()
            fields: dict[str, str] = {}
            async for line in stream.aiter_lines():
                name, _, value = line.partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif line == "" and "data" in fields:
                    yield fields.get("event", ""), json.loads(fields["data"])
                    # Only now: one that was not dealt with comes again.
                    self._seen = fields.get("id", self._seen)
                    fields = {}

    async def _say(self, action: dict[str, Any]) -> None:
        """Speak, then say so. Without the room it stays unsaid: the captain has it posted."""
        name = action["action_id"]
        if name not in self._said:
            if not self._holds:
                return
            self._speak(action["text"])
            self._said.add(name)
        await self._call("POST", f"/v1/actions/{name}/receipt", {"ok": True}, superseded=True)

    async def _call(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
        *,
        superseded: bool = False,
    ) -> httpx.Response:
        """Ask until there is an answer; every request here may safely come twice.

        Raises:
            RefusedError: The captain says that it is wrong.
        """
        while True:
            try:
                answer = await self._captain.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                await asyncio.sleep(AGAIN_S)
                continue
            if answer.is_success or (superseded and answer.status_code == CONFLICT):
                return answer
            if answer.is_client_error:
                raise RefusedError(
                    f"{method} {path.partition('?')[0]}: {answer.status_code} {answer.json().get('detail')}"
                )
            await asyncio.sleep(AGAIN_S)

    @property
    def _holds(self) -> bool:
        return time.monotonic() < self._held_until

    def _is_here(self, place: dict[str, Any]) -> bool:
        """Whether it is this room's: what was for another must not be heard in this one."""
        return self._room == f"{place.get('guild_id', 'dm')}:{place['channel_id']}"

    def _utterance(self, delivery: str, text: str) -> dict[str, object]:
        guild, _, channel = self._room.partition(":")
        place = {"platform": "discord", "channel_id": channel} | ({} if guild == "dm" else {"guild_id": guild})
        return {
            "wire_version": 1,
            "delivery_id": delivery,
            "presence_id": self._presence,
            "kind": "voice",
            "room": place,
            "actor": {"actor_id": self._actor, "display_name": "Somebody"},
            "message_id": delivery,
            "sent_at": _now(),
            "body": text,
            "addressed": True,
        }

    def _speak(self, text: str) -> None:
        print(f"speaks: {' '.join(text.split())}", flush=True)

    def _note(self, what: str) -> None:
        print(f"{what} {self._room}", file=sys.stderr, flush=True)


async def _lines() -> AsyncIterator[bytes]:
    """The lines of the input; a thread reads them, since a file cannot be waited for as a pipe can."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes](maxsize=1)

    def read() -> None:
        # Unbuffered, since a buffer's lock cannot be held while Python ends; and the loop may be gone by the next line.
        with contextlib.suppress(RuntimeError):
            with contextlib.suppress(OSError), open(0, "rb", buffering=0, closefd=False) as source:
                while line := source.readline():
                    asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(b""), loop).result()

    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        yield line


def _now() -> str:
    return datetime.now(UTC).isoformat()


async def main() -> None:
    """Run one client as the command line says."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("room", help="GUILD:CHANNEL")
    options.add_argument("--presence", default="ear", help="its id under [presences.<id>] in clankie.toml")
    options.add_argument("--actor", default="0", help="the Discord id of whoever speaks")
    options.add_argument("--captain", default=os.environ.get("CLANKIE_CAPTAIN_URL", "http://127.0.0.1:4310"))
    given = options.parse_args()
    token = os.environ.get("CLANKIE_VOICE_TOKEN")
    if not token:
        sys.exit("CLANKIE_VOICE_TOKEN: set it to the token of this presence in clankie.toml")
    if not given.captain.startswith(("http://", "https://")):
        sys.exit("--captain: expected an address such as http://127.0.0.1:4310")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=given.captain, headers=headers, timeout=WAIT_S + 10, trust_env=False
    ) as captain:
        try:
            await VoiceClient(captain, given.presence, given.room, given.actor).run()
        except* RefusedError as refusals:
            sys.exit(str(refusals.exceptions[0]))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
