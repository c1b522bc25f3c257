"""One message's way: admit, hand over, wait, post, record.

``ingress`` takes gateway events and admits; ``room`` keeps what belongs to one room; ``handing`` gives a room's
messages to the captain one by one, after ``reading`` up on it; ``changes`` are edits, deletions and late previews;
``catching_up`` lets talk wait that nobody addressed to him; ``waiting`` waits for results; ``posting`` puts words into
rooms in order; ``signals`` follows the captain's actions and ``cards`` shows what a turn works on; ``commands`` go
beside all this; ``resumption`` takes up what is owed after a start.
"""
