"""When a command is ended by what it takes of the machine."""

import pytest

from clankie_captain.core.machine import Held, Most, Room, Stop, overfull, overloaded, unfit

pytestmark = pytest.mark.requirement("GRANT-4")

MOST = Most(processes=4, memory=100, disk=100, entries=10, spare_memory=50, spare_disk=50)
AMPLE = Room(1000, 900)
EMPTY = Held(0, 0)


@pytest.mark.parametrize(
    ("processes", "memory", "room", "disk", "stop"),
    [
        (4, 100, AMPLE, AMPLE, None),
        (5, 0, AMPLE, AMPLE, "processes"),
        (1, 101, AMPLE, AMPLE, "memory"),
        (1, 0, Room(1000, 49), AMPLE, "machine"),
        (1, 0, Room(80, 10), AMPLE, None),  # an eighth of a small machine is enough
        (1, 0, Room(80, 9), AMPLE, "machine"),
        (1, 0, Room(0, 0), AMPLE, None),  # nobody tells
        (1, 0, AMPLE, Room(1000, 49), "machine"),
        (1, 0, AMPLE, Room(100, 10), None),
        (1, 0, AMPLE, Room(100, 9), "machine"),
    ],
)
def test_processes_end_a_command_beyond_its_bounds_and_where_the_machine_runs_short(
    processes: int, memory: int, room: Room, disk: Room, stop: Stop | None
) -> None:
    assert overloaded(processes, memory, room, disk, MOST) == stop


@pytest.mark.parametrize(
    ("held", "before", "stop"),
    [
        (Held(100, 10), EMPTY, None),
        (Held(101, 1), EMPTY, "disk"),
        (Held(1, 11), EMPTY, "disk"),
        (Held(500, 50), Held(500, 50), None),  # too full already: it may be emptied
        (Held(501, 50), Held(500, 50), "disk"),
        (Held(500, 51), Held(500, 50), "disk"),
        (Held(1, 1, seen=False), EMPTY, "blind"),
    ],
)
def test_a_full_workspace_ends_a_command(held: Held, before: Held, stop: Stop | None) -> None:
    assert overfull(held, before, MOST) == stop


@pytest.mark.parametrize(
    ("held", "first", "stop"),
    [
        (Held(200, 20), EMPTY, None),  # passed by one run: the next may empty it
        (Held(201, 1), EMPTY, "disk"),
        (Held(1, 21), EMPTY, "disk"),
        (Held(600, 1), Held(500, 1), None),  # somebody's own large folder
        (Held(601, 1), Held(500, 1), "disk"),
        (Held(1, 1, seen=False), EMPTY, "blind"),
    ],
)
def test_no_command_begins_where_many_have_passed_a_bound_together(held: Held, first: Held, stop: Stop | None) -> None:
    assert unfit(held, first, MOST) == stop
