"""``python -m clankie_captain.mcp``: say as JSON whether each configured server tells its tools. Source: OPS-9."""

import asyncio
import json
import logging
import sys
from dataclasses import asdict

from clankie_captain.mcp.inquiry import inquire
from clankie_settings.environment import SettingsError, captain_settings, process_environment, tool_servers


def main() -> int:
    """Ask each server; ``problem`` names what has to be set first."""
    # The protocol's client writes down what servers send.
    logging.disable()
    env = process_environment()
    try:
        servers = tool_servers(env, captain_settings(env))
    except SettingsError as error:
        print(json.dumps({"problem": str(error), "servers": []}))
        return 0
    found = asyncio.run(inquire(servers))
    print(json.dumps({"problem": None, "servers": [asdict(each) for each in found]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
