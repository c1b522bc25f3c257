"""One message's way: admit, hand over, wait, post, record.

``ingress`` takes gateway events and admits; ``room`` keeps what belongs to one room; ``handing`` gives a room's
messages to the captain one by one; ``waiting`` waits for results; ``posting`` puts words into rooms in order;
``signals`` follows the captain's actions; ``resumption`` takes up what is owed after a start.
"""
