"""What can go wrong outside, as the bridge tells it apart.

BridgeError
├── CannotStart            a person has to change something first
├── StartAgain             a fresh process mends it
├── CaptainError
│   ├── CaptainAway        no connection, no answer, draining, or a fault of the captain's: try again
│   │   └── PresenceTaken  another process of this presence holds the lease: wait, and see who it is
│   ├── CaptainRefuses     our token or our wire version: try again slowly, and say so
│   ├── TriggerRefused     the captain will never take this
│   ├── DeliveryConflict   the same id with other content is already there
│   └── DeliveryUnknown    the captain holds no such delivery or action
└── DiscordAway            Discord gave no usable answer
"""


class BridgeError(Exception):
    """Anything that the bridge raises by itself; the text never holds content."""


class CannotStart(BridgeError):  # noqa: N818 -- named by what it tells
    """Somebody has to change something; the text says what is wrong and what to do."""


class StartAgain(BridgeError):  # noqa: N818 -- named by what it tells
    """Nobody has to change anything, but this process cannot go on; the text says why."""


class CaptainError(BridgeError):
    """The captain did not do what was asked."""


class CaptainAway(CaptainError):  # noqa: N818 -- named by what it tells
    """The captain cannot be reached, or says that it cannot serve now.

    Attributes:
        cause: A stable code.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class PresenceTaken(CaptainAway):
    """Another process of this presence holds its lease; ``desk/standing.py`` waits for it, or ends this one."""


class CaptainRefuses(CaptainError):  # noqa: N818 -- named by what it tells
    """The captain does not take us: the token or the wire version is wrong. The text says what to do."""


class TriggerRefused(CaptainError):  # noqa: N818 -- named by what it tells
    """The captain will never take this request as it stands.

    Attributes:
        code: The problem's code.
        field: The field that was refused, where it is known.
    """

    def __init__(self, code: str, field: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.field = field


class DeliveryConflict(CaptainError):  # noqa: N818 -- named by what it tells
    """Another content was accepted under this delivery id; its result stands."""


class DeliveryUnknown(CaptainError):  # noqa: N818 -- named by what it tells
    """The captain holds nothing under this id."""


class DiscordAway(BridgeError):  # noqa: N818 -- named by what it tells
    """Discord gave no usable answer.

    Attributes:
        cause: A stable code, such as ``status_502`` or ``timeout``.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause
