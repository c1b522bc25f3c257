"""Why a worker has no pictures to bring, apart from bytes that are broken.

WorkerFault
├── TooLargeError     more pixels than are decoded
├── OutOfTimeError    the time for moving pictures is over
├── NoFilmError       a container without a film
└── NoProgramError    ffmpeg does not run
"""


class WorkerFault(Exception):  # noqa: N818 -- a leaf is the error
    """Anything that a worker itself says about an errand."""


class TooLargeError(WorkerFault):
    """A picture has more pixels than are decoded. Source: IMG-3."""


class OutOfTimeError(WorkerFault):
    """The time for moving pictures is over; what was gathered is what there is. Source: IMG-5."""


class NoFilmError(WorkerFault):
    """The container holds no film: sound alone, or nothing. Source: IMG-5."""


class NoProgramError(WorkerFault):
    """ffmpeg does not run. Source: IMG-5."""
