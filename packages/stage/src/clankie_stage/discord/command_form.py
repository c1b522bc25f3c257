"""The form of an application command, judged as Discord judges it."""

import re
from typing import Any, cast

from clankie_stage.discord import errors
from clankie_stage.discord.world import Json

MOST_COMMANDS = 100
"""Slash commands in one scope. Source: Discord's documentation."""

LONGEST_DESCRIPTION = 100

SLASH = 1

_NAME = re.compile(r"[-_'\w]{1,32}")


def command_forms(body: Any) -> list[Json]:
    """The commands of a bulk overwrite.

    Raises:
        RefusalError: one is wrong, one name stands twice, or there are too many.
    """
    if not isinstance(body, list) or not all(isinstance(each, dict) for each in cast("list[object]", body)):
        raise errors.invalid_value("(this value)", "(this value)", "list")
    forms = [_command_form(str(index), each) for index, each in enumerate(cast("list[Json]", body))]
    if len(forms) > MOST_COMMANDS:
        raise errors.RefusalError(400, 30032, "Maximum number of application commands reached (100).")
    names = [each["name"] for each in forms]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise errors.invalid_form(
                str(index), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"
            )
    return forms


def _command_form(at: str, form: Json) -> Json:
    name, description, kind = form.get("name"), form.get("description"), form.get("type", SLASH)
    if kind != SLASH:
        raise errors.invalid_form(f"{at}.type", "BASE_TYPE_CHOICES", "The stage knows slash commands only.")
    if not isinstance(name, str):
        raise errors.invalid_form(f"{at}.name", "BASE_TYPE_REQUIRED", "This field is required")
    if _NAME.fullmatch(name) is None or name != name.lower():
        raise errors.invalid_form(f"{at}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if not isinstance(description, str) or not description:
        raise errors.invalid_form(f"{at}.description", "BASE_TYPE_REQUIRED", "This field is required")
    if len(description) > LONGEST_DESCRIPTION:
        raise errors.invalid_form(
            f"{at}.description", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {LONGEST_DESCRIPTION} in length."
        )
    return form
