"""``clankie cancel``: end a turn of one's own. Source: OPS-1."""

import json
from collections.abc import Mapping

from clankie_cli import exits
from clankie_cli.door import Door
from clankie_cli.errors import RefusedError
from clankie_settings.environment import launch_settings


async def run(env: Mapping[str, str], receipt: str, *, as_json: bool) -> int:
    """Cancel the turn, and say how it stands: one that settled before stays as it ended.

    Raises:
        SettingsError: A setting is unusable.
        NotReachable: Nothing answers there.
        RefusedError: The captain knows no such turn of the operator's.
    """
    async with Door.opened(launch_settings(env)) as door:
        try:
            stands = await door.post(f"/v1/turns/{receipt}/cancel")
        except RefusedError as error:
            if error.code != "unknown_delivery":
                raise
            said = f"no turn of yours has the receipt {receipt}; clankie send prints it"
            raise RefusedError(error.status, error.code, said) from None
    if as_json:
        print(json.dumps(stands, ensure_ascii=False))
        return exits.DONE
    match stands.get("state"):
        case "failed":
            print(f"{receipt} ended: {stands.get('code')}")
        case "queued" | "running":
            print(f"{receipt} is being ended")
        case state:
            print(f"{receipt} had ended already: {state}")
    return exits.DONE
