"""Every limit of the system, each with its unit and its source; those of tools stand in ``tool_bounds``."""

from datetime import timedelta
from typing import Final

from clankie_settings.tool_bounds import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]

# --- the wire -----------------------------------------------------------------------------------
ID_CHARS: Final = 64
"""Longest delivery, message, actor or presence id, in characters. Source: wire.md."""

BODY_CHARS: Final = 16_384
"""Longest body of a message, in characters. Source: wire.md."""

NAME_CHARS: Final = 100
"""Longest name that is shown, in characters. Source: wire.md."""

URL_CHARS: Final = 2_048
"""Longest attachment address, in characters. Source: wire.md."""

FILENAME_CHARS: Final = 256
"""Longest claimed file name, in characters. Source: wire.md."""

ARTIFACT_NAME_CHARS: Final = 100
"""Longest file name of an artifact, in characters. Source: ART-4."""

ATTACHMENTS: Final = 4
"""Attachment references a trigger carries at most. Source: WIRE-3."""

ATTACHMENT_BYTES: Final = 8 * 1024 * 1024
"""Largest attachment that is referred to or fetched, in bytes. Source: IMG-1."""

PICTURE_SOURCES: Final = 4
"""Pictures, moving or still, of which one delivery shows parts at most. Source: IMG-5."""

PICTURE_PARTS: Final = 8
"""Image parts of one delivery at most. Source: IMG-5."""

PICTURE_FRAMES: Final = 4
"""Frames that stand for one moving picture at most. Source: IMG-5."""

PICTURES_AT_ONCE: Final = 4
"""Pictures that a captain fetches and decodes at a time; the others wait. Source: IMG-2."""

PICTURE_REQUEST_BYTES: Final = 6 * 1024 * 1024
"""What a request's pictures take, in bytes before base64: more would hold the loop for 50 ms. Source: LANE-14."""

PICTURES_A_REQUEST: Final = 48
"""Image parts of one model request at most, those of the lane's history included. Source: LANE-14."""

SHELF_BYTES: Final = 2 * 1024 * 1024 * 1024
"""What stored pictures take on disk at most; beyond it those go that were longest unused. Source: IMG-7."""

FETCH_TIME: Final = timedelta(seconds=10)
"""How long a picture's headers and body together may take. Source: IMG-2."""

PICTURE_PIXELS: Final = 64_000_000
"""Pixels of a picture that is decoded at most; a larger one is counted. Source: IMG-3."""

PICTURE_SIDE: Final = 1_568
"""Longest side of a part, in pixels: what the strictest provider still looks at. Source: IMG-3."""

PICTURE_PART_BYTES: Final = 768 * 1024
"""Largest encoded part, in bytes; eight of them in base64 stay below every provider's request. Source: C32."""

FRAME_SIDE: Final = 1_024
"""Longest side of a frame of something that moves, in pixels. Source: IMG-5."""

FILM_SPAN: Final = timedelta(seconds=60)
"""How much of a film is looked at. Source: IMG-5."""

FILM_PIXELS: Final = 4096 * 2304
"""Pixels of a film's frame that is decoded at most. Source: IMG-5."""

FRAMES_TIME: Final = timedelta(seconds=5)
"""How long frames of one moving picture are gathered. Source: IMG-5."""

DECODE_TIME: Final = timedelta(seconds=10)
"""How long a worker may take for one picture, in wall time and in processor time, until it is killed. Source: IMG-3."""

DECODE_MEMORY: Final = 640 * 1024 * 1024
"""Address space of a worker that decodes a picture, in bytes. Source: IMG-3."""

FILM_MEMORY: Final = 1536 * 1024 * 1024
"""Address space of a worker that takes a film apart, and of its ffmpeg, in bytes each. Source: IMG-5."""

CAPTAIN_GROWTH: Final = 150 * 1024 * 1024
"""How much the captain's own memory may grow while pictures are decoded, in bytes. Source: IMG-3."""

DECODERS: Final = 2
"""Workers that decode at the same time; other pictures wait. Source: IMG-3."""

CONTEXT_MESSAGES: Final = 12
"""Channel messages a trigger carries as backlog at most. Source: CTX-1."""

COVERED_MESSAGES: Final = 20
"""Messages a catch-up turn stands for at most. Source: ING-4."""

ROLES: Final = 100
"""Role ids an actor carries at most. Source: wire.md."""

ARTIFACT_BYTES: Final = 8 * 1024 * 1024
"""Largest file that a tool makes, in bytes: what Discord takes from anybody. Source: ART-3."""

ARTIFACT_FOLDER_BYTES: Final = 512 * 1024 * 1024
"""What one tool's files take on disk at most; beyond it those go that were longest unused. Source: ART-2."""

ARTIFACTS: Final = 4
"""Artifacts a reply carries at most. Source: wire.md."""

REPLY_CHARS: Final = 16_384
"""Longest reply on the wire, in characters. Source: wire.md."""

UPDATE_CHARS: Final = 600
"""Longest mid-turn update, in characters. Source: ROOM-3."""

WAIT_SECONDS: Final = 60
"""Longest ``Prefer: wait=N``, in seconds. Source: wire.md."""

READ_MARGIN: Final = timedelta(seconds=10)
"""What a presence adds to the wait for its read timeout. Source: wire.md."""

REQUEST_BYTES: Final = 1024 * 1024
"""Largest request body that the captain reads, in bytes; a full trigger stays below it. Source: SEC-2."""

REPLY_PARTS: Final = 5
"""Parts of one reply: four messages and, beyond them, one text file. Source: ROOM-5."""

# --- lanes and runs -----------------------------------------------------------------------------
ACTOR_MESSAGES: Final = 20
"""Deliveries of one actor within ``ACTOR_SPAN`` by default. Source: ING-10."""

ACTOR_SPAN: Final = timedelta(minutes=10)
"""The span in which one actor's deliveries are counted. Source: ING-10."""

LIVE_RUNS: Final = 16
"""Live runs a captain by default; other lanes wait, oldest first. Source: LANE-17."""

QUEUED_TURNS: Final = 64
"""Turns that wait in one lane at most; one more is refused ``lane_queue_full``. Source: wire.md."""

STEERS_PAST_OTHERS: Final = 8
"""Messages of its sender that join a live run past somebody else's waiting turn; then they wait too. Source: LOOP-9."""

CHILDREN: Final = 4
"""Background threads of a captain at a time; others wait, oldest first. Source: LOOP-6."""

CHILDREN_A_ROOM: Final = 2
"""Background threads of one room at a time. Source: LOOP-6."""

CHILDREN_WAITING: Final = 32
"""Background threads that wait at most; one more is not begun, and the model is told. Source: LOOP-6."""

TASK_CHARS: Final = 4_000
"""Longest task of a background thread, in characters. Source: LOOP-6."""

STEER_HOLD: Final = timedelta(seconds=10)
"""How long a steered message whose pictures are not ready holds those behind it. Source: LANE-16."""

KEEP_DAYS: Final = 7
"""Fewest days for which transcripts are kept: nobody hands a delivery over again after so long. Source: OPS-11."""

RUN_ATTEMPTS: Final = 2
"""How often an interrupted run is tried in all. Source: DUR-2."""

UPDATES_A_TURN: Final = 3
"""Mid-turn updates a turn may post. Source: ROOM-3."""

STALL_AFTER: Final = timedelta(minutes=5)
"""A run without any event for this long is aborted. Source: FAIL-1."""

STALL_TICK: Final = timedelta(seconds=5)
"""How often the watchdog reads the clock. Source: FAIL-2."""

BYTES_HOLD: Final = timedelta(minutes=15)
"""How long bytes without an event (pings, comments) hold a run since its last event. Source: FAIL-3."""

COMPACT_WITHIN: Final = timedelta(minutes=5)
"""How long a compaction may hold its lane, however alive it is: people wait for it. Source: CTX-7."""

ABORT_GRACE: Final = timedelta(seconds=5)
"""How long an aborted run may take to unwind before its lane is released without it. Source: C05."""

DRAIN: Final = timedelta(seconds=25)
"""How long runs may go on by default after a stop was asked for. Source: DUR-5."""

DRAIN_TELLING: Final = timedelta(seconds=5)
"""What captain and bridge take beyond it until the last words are posted and receipted. Source: DUR-5."""

STOP_MARGIN: Final = timedelta(seconds=20)
"""What a supervisor allows beyond the drain before it kills; the steps of a stop stay below it. Source: DUR-5."""

MODEL_RETRIES: Final = 5
"""Retries of one model request that count as events. Source: FAIL-3."""

# --- actions ------------------------------------------------------------------------------------
SSE_COMMENT_EVERY: Final = timedelta(seconds=15)
"""A comment line on an idle stream of actions. Source: wire.md."""

ACTION_RECEIPT_WAIT: Final = timedelta(seconds=10)
"""How long a tool waits for the receipt of its action. Source: wire.md."""

TYPING_EVERY: Final = timedelta(seconds=8)
"""Refresh of the typing indicator, which Discord clears after 10 s. Source: ROOM-2."""

ACTIVITY_EVERY: Final = timedelta(seconds=5)
"""Refresh of a run's work in tools, whose elapsed time moves on. Source: ROOM-4."""

# --- presences ----------------------------------------------------------------------------------
LEASE_SECONDS: Final = 15
"""How long a presence's process is the only one after each renewal, in seconds. Source: C74."""

LEASE_RENEWED_EVERY: Final = timedelta(seconds=5)
"""How often the lease is renewed. Source: C74."""

OWED_ADDRESSED: Final = timedelta(hours=6)
"""How long after it settled a reply is still posted where somebody addressed him. Source: OUT-5."""

OWED_OTHERWISE: Final = timedelta(minutes=15)
"""How long after it settled any other reply is still posted. Source: OUT-5."""

MISSED_ADDRESSED: Final = timedelta(hours=6)
"""Age up to which a missed message that addressed him is answered. Source: ING-9."""

MISSED_OTHERWISE: Final = timedelta(minutes=15)
"""Age up to which any other missed message is handed over; an older one is context. Source: ING-9."""

MISSED_ROOMS: Final = 500
"""Rooms that are read after an absence, the liveliest first. Source: ING-9."""

MISSED_DMS: Final = 100
"""Direct messages among them, the latest first. Source: ING-9."""

MISSED_PAGES: Final = 3
"""Pages of 100 messages that are read of one room after an absence, the newest first. Source: ING-9."""

# --- Discord ------------------------------------------------------------------------------------
MESSAGE_CHARS: Final = 2_000
"""Longest Discord message, in characters. Source: Discord's documentation."""

NONCE_CHARS: Final = 25
"""Longest nonce of a Discord message, in characters. Source: Discord's documentation."""

CATCH_UP_AFTER: Final = timedelta(minutes=10)
"""How long talk that was not addressed to him waits for a catch-up turn by default. Source: ING-4."""

CATCH_UP_ROOMS: Final = 64
"""Rooms whose talk may wait for a catch-up turn; beyond them the oldest line is given up. Source: ING-4."""

EXCHANGE_MESSAGES: Final = 5
"""He reads on unaddressed while his last word here is at most this many messages ago. Source: ING-3."""
