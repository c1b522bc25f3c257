"""The errors of the command.

CannotRun       somebody has to change something; the text says what
NotReachable    nothing answers where the captain should be
RefusedError    the captain will not do it; its own words and code
"""


class CannotRun(Exception):  # noqa: N818 -- reads as what it says
    """Somebody has to change something before this can run.

    The text names what is wrong and what to do; it is shown as it stands.
    """


class NotReachable(Exception):  # noqa: N818 -- reads as what it says
    """Nothing answers where the captain should be, or the connection broke.

    The text says where, and what to do.
    """


class RefusedError(Exception):
    """The captain answered with a problem.

    Attributes:
        status: The HTTP status.
        code: The problem's code.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether the same request may be granted a little later."""
        return self.status in (429, 502, 503, 504)
