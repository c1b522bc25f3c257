"""How much of the machine a command may take, and when it is ended. Source: GRANT-4."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from clankie_settings import bounds

Stop = Literal["time", "output", "processes", "memory", "disk", "blind", "machine"]
"""Why a command was ended: it ran too long, said too much, took too much of something, made a folder that nobody can
look into, or the machine itself was running short."""


@dataclass(frozen=True, slots=True)
class Most:
    """What a command may take: bytes and numbers, of all its processes together unless ``each_`` says otherwise."""

    time: timedelta = bounds.COMMAND_TIME
    each_cpu: timedelta = bounds.COMMAND_TIME
    memory: int = bounds.COMMAND_MEMORY
    each_claim: int = bounds.COMMAND_CLAIM
    processes: int = bounds.COMMAND_PROCESSES
    each_files: int = bounds.COMMAND_FILES
    each_file_bytes: int = bounds.COMMAND_FILE_BYTES
    scratch: int = bounds.COMMAND_SCRATCH_BYTES
    disk: int = bounds.WORKSPACE_BYTES
    entries: int = bounds.WORKSPACE_FILES
    shown: int = bounds.COMMAND_OUTPUT
    said: int = bounds.COMMAND_FLOOD
    spare_memory: int = bounds.SPARE_MEMORY
    spare_disk: int = bounds.SPARE_DISK


@dataclass(frozen=True, slots=True)
class Room:
    """What there is of something, and how much of it is left, in bytes."""

    whole: int
    left: int

    def short_of(self, spare: int, share: int) -> bool:
        """Whether less is left than the machine keeps: ``spare``, or where it has little, that part of the whole."""
        return self.left < min(spare, self.whole // share)


@dataclass(frozen=True, slots=True)
class Held:
    """What lies in the workspace: bytes on disk, files and folders, and whether all of it could be looked at."""

    size: int
    entries: int
    seen: bool = True


def overloaded(processes: int, memory: int, room: Room, disk: Room, most: Most) -> Stop | None:
    """Why a command ends by what its processes are and hold, and what is left; None where it goes on."""
    if processes > most.processes:
        return "processes"
    if memory > most.memory:
        return "memory"
    return "machine" if room.short_of(most.spare_memory, 8) or disk.short_of(most.spare_disk, 10) else None


def unfit(held: Held, first: Held, most: Most) -> Stop | None:
    """Why no command begins beside what lies in the workspace; None where one may.

    Each run may pass a bound by what it lays down between two looks, and the next may be meant to empty it; so many
    runs together do not pass it by more than once again. ``first`` is what was found there, whoever had laid it there.
    """
    if not held.seen:
        return "blind"
    if held.entries > 2 * most.entries or held.size > max(most.disk, first.size) + most.disk:
        return "disk"
    return None


def overfull(held: Held, before: Held, most: Most) -> Stop | None:
    """Why a command ends by what lies in the workspace; one that was too full already may be emptied.

    What cannot be looked into cannot be counted: nothing runs on beside it.
    """
    if not held.seen:
        return "blind"
    if held.size > max(most.disk, before.size) or held.entries > max(most.entries, before.entries):
        return "disk"
    return None
