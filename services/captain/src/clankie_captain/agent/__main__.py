"""``python -m clankie_captain.agent [--ask]``: say as JSON whether the configured models can be used. Source: OPS-9."""

import asyncio
import json
import sys
from dataclasses import asdict

from clankie_captain.agent.inquiry import inquire, searcher
from clankie_captain.agent.quietness import quiet_libraries
from clankie_captain.errors import ConfigurationError
from clankie_settings.environment import SettingsError, captain_settings, process_environment


def main(arguments: list[str]) -> int:
    """Print what is known of each configured model, and which of them could search the web by itself.

    ``problem`` names what has to be set first.
    """
    quiet_libraries()
    try:
        settings = captain_settings(process_environment())
        found = asyncio.run(inquire(settings, ask="--ask" in arguments))
        searching = asyncio.run(searcher(settings))
    except (ConfigurationError, SettingsError) as error:
        print(json.dumps({"problem": str(error), "models": []}))
        return 0
    print(json.dumps({"problem": None, "models": [asdict(each) for each in found], "search": searching}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
