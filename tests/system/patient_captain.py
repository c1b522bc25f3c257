"""The real captain, whose pictures may take as long as a busy machine needs: ``python patient_captain.py``."""

import sys
from datetime import timedelta
from functools import partial

from clankie_captain import __main__ as entry
from clankie_captain.app import assembly
from clankie_captain.lanes.gallery import Gallery
from clankie_captain.media.decoding import WorkerDecoder
from clankie_settings import bounds

PATIENCE = timedelta(minutes=2)


def main() -> int:
    """Be the captain."""
    decoder = partial(WorkerDecoder, within=PATIENCE, gathering=PATIENCE / 4)
    for module, name, held in (
        (assembly, "WorkerDecoder", decoder),
        (assembly, "Gallery", partial(Gallery, hold=PATIENCE)),
        (bounds, "STEER_HOLD", PATIENCE),
    ):
        assert hasattr(module, name), f"nothing reads {name} there any more"
        setattr(module, name, held)
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())
