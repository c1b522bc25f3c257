"""What is said once everything runs: where it is, and what to try."""

import sys

from clankie_cli.plan import Stage, model_name, trial_folder
from clankie_settings.schema import LaunchSettings

_ON_STAGE = """
  Clankie is up, on the stage.

    page      {page}   write as Ann, Bob or the owner
    captain   {captain}   how is he: {command} status
    model     {model}
    state     {state}

  Try in #general:
    @Clankie slow please, what is this?    then two more lines while he types: one answer covers all three
    @Clankie stay silent                   he reads it, and says nothing
    @Clankie use a tool                    a word in between, then the answer

  Your own Discord: {command} init. Ctrl-C stops everything.
"""

_ON_DISCORD = """
  Clankie is up, on your Discord.

    captain   {captain}   how is he: {command} status
    model     {model}
    state     {state}

  Mention him in a channel of your server. Ctrl-C stops everything.
"""


def called() -> str:
    """How this command was called, so that what is shown can be typed."""
    return sys.argv[0] if sys.argv[0].endswith("clankie") else "clankie"


def shown(settings: LaunchSettings, stage: Stage | None, command: str) -> str:
    """The lines to show, for a trial on ``stage`` or, without one, on Discord. ``command`` is what a person types."""
    model = model_name(settings)
    if stage is None:
        return _ON_DISCORD.format(command=command, captain=settings.captain_url, model=model, state=settings.state)
    rehearsal = "rehearsal: a few rules, shown on the page; a key in .env brings a real one"
    return _ON_STAGE.format(
        command=command,
        page=stage.url,
        captain=settings.captain_url,
        model=rehearsal if model == "rehearsal" else model,
        state=trial_folder(settings.state),
    )
