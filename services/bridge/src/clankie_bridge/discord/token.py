"""What a bot's token tells."""

import base64
import binascii


def bot_id(token: str) -> str:
    """The id of the bot that a token belongs to, which is its first part; empty where it cannot be read.

    Source: Discord's documentation.
    """
    first = token.partition(".")[0]
    try:
        decoded = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded if decoded.isdecimal() else ""
