"""What a running stage says about itself."""

from datetime import timedelta
from typing import Any, Final

import httpx

from clankie_cli.plan import Stage

ANSWER_WITHIN: Final = timedelta(seconds=10)
"""How long the stage may take to answer."""


async def introduced(url: str) -> Stage:
    """The stage that listens at this address, as it describes itself.

    Raises:
        httpx.HTTPError: It does not answer.
    """
    async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_WITHIN.total_seconds()) as http:
        answer = await http.post(f"{url}/_stage/describe", json={})
    said: dict[str, Any] = answer.raise_for_status().json()["value"]
    people = tuple(each["id"] for each in said["users"] if not each.get("bot"))
    return Stage(url, said["token"], said["owner_id"], people)
