"""The one error of the command.

CannotRun   somebody has to change something; the text says what
"""


class CannotRun(Exception):  # noqa: N818 -- reads as what it says
    """Somebody has to change something before this can run.

    The text names what is wrong and what to do; it is shown as it stands.
    """
