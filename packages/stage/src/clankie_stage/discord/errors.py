"""What the loopback Discord refuses, in Discord's own words and codes.

RefusalError                 every refusal of the REST interface
"""

from typing import Any


class RefusalError(Exception):
    """A REST call that Discord would refuse.

    Attributes:
        status: HTTP status.
        code: Discord's JSON error code; 0 where Discord has none.
        errors: the tree of field errors of an invalid form, or empty.
    """

    def __init__(self, status: int, code: int, message: str, errors: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors or {}

    def payload(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        body: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.errors:
            body["errors"] = self.errors
        return body


def unauthorized() -> RefusalError:
    """The token is missing or wrong."""
    return RefusalError(401, 0, "401: Unauthorized")


def not_found() -> RefusalError:
    """No such route."""
    return RefusalError(404, 0, "404: Not Found")


def unknown(what: str) -> RefusalError:
    """Something named in the path does not exist; ``what`` is Discord's word for it."""
    codes = {"Guild": 10004, "Channel": 10003, "Message": 10008, "Member": 10007, "User": 10013}
    return RefusalError(404, codes[what], f"Unknown {what}")


def unknown_emoji() -> RefusalError:
    """A reaction that is no emoji."""
    return RefusalError(400, 10014, "Unknown Emoji")


def missing_access() -> RefusalError:
    """The bot cannot see the room."""
    return RefusalError(403, 50001, "Missing Access")


def missing_permissions() -> RefusalError:
    """The bot sees the room and may not do this in it."""
    return RefusalError(403, 50013, "Missing Permissions")


def foreign_message() -> RefusalError:
    """Only its author edits a message."""
    return RefusalError(403, 50005, "Cannot edit a message authored by another user")


def dm_action() -> RefusalError:
    """Not possible in a DM."""
    return RefusalError(403, 50003, "Cannot execute action on a DM channel")


def empty_message() -> RefusalError:
    """Neither words nor anything else."""
    return RefusalError(400, 50006, "Cannot send an empty message")


def closed_dm() -> RefusalError:
    """The user takes no messages from the bot."""
    return RefusalError(403, 50007, "Cannot send messages to this user")


def too_large() -> RefusalError:
    """A file beyond the upload limit."""
    return RefusalError(413, 40005, "Request entity too large")


def invalid_json() -> RefusalError:
    """The body is no JSON."""
    return RefusalError(400, 50109, "The request body contains invalid JSON.")


def invalid_form(path: str, code: str, message: str) -> RefusalError:
    """A field of the body is wrong; ``path`` is dotted, such as ``embeds.0.title``."""
    tree: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for key in reversed(path.split(".")):
        tree = {key: tree}
    return RefusalError(400, 50035, "Invalid Form Body", tree)


def invalid_value(path: str, value: object, kind: str = "snowflake") -> RefusalError:
    """A field holds something that is no value of its kind."""
    return invalid_form(path, f"{kind.upper()}_COERCE", f'Value "{str(value)[:40]}" is not {kind}.')
