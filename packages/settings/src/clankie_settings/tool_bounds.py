"""Every limit of tools, each with its unit and its source; ``bounds`` has them too."""

from datetime import timedelta
from typing import Final

# --- tools ----------------------------------------------------------------------------------------
TOOL_SHARE: Final = 0.8
"""How much of the stall bound one call of a tool may take: whoever works is not taken for dead. Source: FAIL-1."""

TOOL_END: Final = 0.9
"""How much of it any call may take until it is ended, whichever tool it is of. Source: FAIL-1."""

# --- tools that make pictures ---------------------------------------------------------------------
DIAGRAM_ITEMS: Final = 30
"""Boxes of a diagram, or columns of one box, at most. Source: ART-2."""

DIAGRAM_PARTIES: Final = 12
"""Parties of a sequence diagram at most. Source: ART-2."""

DIAGRAM_LINKS: Final = 60
"""Arrows of a diagram at most. Source: ART-2."""

DIAGRAM_NAME_CHARS: Final = 60
"""Longest id or type in a diagram, in characters. Source: ART-2."""

DIAGRAM_LABEL_CHARS: Final = 120
"""Longest label in a diagram, in characters. Source: ART-2."""

DRAWING_TIME: Final = timedelta(seconds=60)
"""How long drawing a diagram may take, in wall time and in processor time, until it is killed. Source: ART-2."""

DRAWING_MEMORY: Final = 1024 * 1024 * 1024
"""Address space of the process that draws, in bytes. Source: ART-2."""

DRAWING_SIDE: Final = 4_000
"""Longest side of a drawing, in pixels; a larger one is drawn smaller. Source: ART-2."""

PAGE_TIME: Final = timedelta(seconds=45)
"""How long a picture of a web page may take in all, until its browser is killed. Source: ART-2."""

PAGE_LOADING: Final = timedelta(seconds=20)
"""How long a page may load before it is shown as far as it came. Source: ART-2."""

PAGE_MEMORY: Final = 1536 * 1024 * 1024
"""What a browser's processes may hold together, in bytes. Source: ART-2."""

PAGE_BYTES: Final = 48 * 1024 * 1024
"""What a page may move over the network, in bytes; nothing passes beyond it. Source: SEC-3."""

PAGE_CONNECTIONS: Final = 32
"""Connections of a page at a time. Source: SEC-3."""

PAGE_REQUESTS: Final = 400
"""Connections of a page in all. Source: SEC-3."""

PAGE_WIDTH: Final = 1_280
"""Width of the window that a page is shown in, in pixels. Source: ART-2."""

PAGE_HEIGHT: Final = 800
"""Height of that window, in pixels. Source: ART-2."""

PAGE_FULL_HEIGHT: Final = 4_000
"""How much of a whole page is shown, in pixels from its top. Source: ART-2."""

BROWSERS: Final = 1
"""Browsers at a time; other pages wait. Source: ART-2."""

PAINTING_TIME: Final = timedelta(minutes=3)
"""How long a provider may take to generate a picture. Source: ART-2."""

PAINTING_PROMPT_CHARS: Final = 4_000
"""Longest description of a picture that is generated, in characters. Source: ART-2."""

PROVIDER_WORDS: Final = 200
"""Longest part of a provider's own words that the model reads about a picture, in characters. Source: ART-2."""

# --- the web --------------------------------------------------------------------------------------
READ_PAGE_TIME: Final = timedelta(seconds=75)
"""How long reading a page of the web may take in all. Source: SEC-3."""

READ_PAGE_FETCH: Final = timedelta(seconds=40)
"""How long its bytes may take, redirects included. Source: SEC-3."""

READ_PAGE_BYTES: Final = 16 * 1024 * 1024
"""Largest page that is read, in bytes, packed or unpacked. Source: SEC-3."""

READ_PAGE_REDIRECTS: Final = 5
"""Redirects of one page that are followed, each judged anew. Source: SEC-3."""

PAGE_TEXT_BYTES: Final = 24_000
"""How much of a page's text one answer holds, in bytes of UTF-8: about 6,000 tokens. Source: CTX-4."""

PAGE_START: Final = 1_000_000
"""How far into a page's text is read, in characters. Source: SEC-3."""

PAGE_TITLE_CHARS: Final = 200
"""Longest title of a page that is told, in characters. Source: CTX-4."""

READ_PAGES: Final = 6
"""Pages that are fetched and read at a time; others wait. Source: SEC-3."""

LOOKUPS: Final = 8
"""Names that a captain looks up at a time for what it fetches, and as many for browsers and commands. Source: SEC-3."""

READERS: Final = 2
"""Processes at a time that take the text out of pages; other pages wait. Source: SEC-3."""

READER_TIME: Final = timedelta(seconds=30)
"""How long one of them may take, in wall time and in processor time, until it is killed. Source: SEC-3."""

READER_MEMORY: Final = 1024 * 1024 * 1024
"""Address space of one of them, in bytes. Source: SEC-3."""

SEARCH_TIME: Final = timedelta(seconds=60)
"""How long a search of the web may take. Source: SEC-3."""

SEARCH_QUERY_CHARS: Final = 400
"""Longest query, in characters. Source: SEC-3."""

SEARCH_BYTES: Final = 1024 * 1024
"""Longest answer of a search service, in bytes. Source: SEC-3."""

SEARCH_HITS: Final = 8
"""Pages that one search tells of. Source: CTX-4."""

SEARCH_HIT_CHARS: Final = 400
"""What it tells of one page, in characters. Source: CTX-4."""

SEARCH_WORDS_CHARS: Final = 6_000
"""What a provider that searches says of its own, in characters. Source: CTX-4."""

SEARCH_TOKENS: Final = 2_000
"""What it may write about a search, in tokens. Source: CTX-4."""

# --- the machine ----------------------------------------------------------------------------------
READ_FILE_BYTES: Final = 32 * 1024
"""What one call reads of a file of the workspace, in bytes; it is read on from there. Source: GRANT-2."""

WRITE_FILE_BYTES: Final = 256 * 1024
"""Largest file that one call writes into the workspace, in bytes of UTF-8. Source: GRANT-2."""

WORKSPACE_TIME: Final = timedelta(seconds=60)
"""How long a file may take to be read or written, and the workspace to be weighed, as before each command: a disk that
hangs holds no turn. Source: FAIL-1."""

WORKSPACE_THREADS: Final = 4
"""Threads that read, write and weigh; one that hangs keeps its place among them. Source: FAIL-1."""

COMMAND_CHARS: Final = 16_384
"""Longest command, in characters. Source: GRANT-4."""

COMMAND_TIME: Final = timedelta(minutes=4)
"""How long a command may run at most, however long it asks for. Source: GRANT-4."""

COMMAND_USUAL_TIME: Final = timedelta(minutes=1)
"""How long a command may run that asks for no time of its own. Source: GRANT-4."""

COMMAND_MEMORY: Final = 1024 * 1024 * 1024
"""What a command's processes may hold together, in bytes. Source: GRANT-4."""

COMMAND_CLAIM: Final = 4 * 1024 * 1024 * 1024
"""Address space of each process of a command, in bytes. Source: GRANT-4."""

COMMAND_PROCESSES: Final = 128
"""Processes and threads of a command at a time. Source: GRANT-4."""

COMMAND_FILES: Final = 256
"""Files that each process of a command may have open. Source: GRANT-4."""

COMMAND_FILE_BYTES: Final = 256 * 1024 * 1024
"""Largest file that a command writes, in bytes. Source: GRANT-4."""

COMMAND_SCRATCH_BYTES: Final = 64 * 1024 * 1024
"""What a command may lay into /tmp, and into /dev/shm, in bytes of memory each. Source: GRANT-4."""

COMMAND_OUTPUT: Final = 16 * 1024
"""What the model reads of a command's output, in bytes: half its beginning, half its end. Source: GRANT-4."""

COMMAND_FLOOD: Final = 16 * 1024 * 1024
"""What a command may write as output in all, in bytes, until it is ended. Source: GRANT-4."""

COMMAND_WEB_BYTES: Final = 256 * 1024 * 1024
"""What a command may move over the network, where it has one, in bytes; nothing passes beyond it. Source: SEC-3."""

COMMAND_WEB_REQUESTS: Final = 1_000
"""Connections of a command in all. Source: SEC-3."""

COMMANDS: Final = 4
"""Commands of a captain at a time; one more is refused. Source: GRANT-4."""

WORKSPACE_BYTES: Final = 1024 * 1024 * 1024
"""What the workspace may take on disk, in bytes. Source: GRANT-4."""

WORKSPACE_FILES: Final = 50_000
"""Files and folders of the workspace. Source: GRANT-4."""

SPARE_MEMORY: Final = 256 * 1024 * 1024
"""Memory that the machine keeps while a command runs, in bytes; an eighth where it has little. Source: GRANT-4."""

SPARE_DISK: Final = 512 * 1024 * 1024
"""What the workspace's disk keeps free while a command runs, in bytes; a tenth where it is small. Source: GRANT-4."""

PATH_CHARS: Final = 1_024
"""Longest path that a tool takes, in characters. Source: GRANT-2."""

# --- servers of tools ---------------------------------------------------------------------------
SERVERS: Final = 32
"""Servers that ``mcp.json`` names at most. Source: GRANT-1."""

SERVERS_FILE_BYTES: Final = 256 * 1024
"""Largest ``mcp.json``, in bytes. Source: GRANT-1."""

SERVER_TOOLS: Final = 64
"""Tools that one server adds at most; further ones are left out and counted. Source: CTX-3."""

TOOLS_OFFERED: Final = 128
"""Tools that a lane shows its model at most, his own first: no provider takes more. Source: CTX-3."""

TOOL_NAME_CHARS: Final = 64
"""Longest name of a tool, in characters: what every provider takes. Source: CTX-3."""

TOOL_WORDS: Final = 1_024
"""Longest description of a server's tool, in characters; the rest is cut. Source: CTX-3."""

TOOL_SCHEMA_BYTES: Final = 16 * 1024
"""Largest schema of the arguments of a server's tool, in bytes; a larger one is left out. Source: CTX-3."""

TOOL_SCHEMA_DEPTH: Final = 12
"""How deep such a schema is nested at most. Source: CTX-3."""

SERVER_START: Final = timedelta(minutes=2)
"""How long a server may take until it has told its tools: a first start may download it. Source: GRANT-1."""

SERVER_LOOK: Final = timedelta(minutes=1)
"""How often a server is asked for its tools, unless it says itself that they changed. Source: GRANT-1."""

SERVER_LOOK_TIME: Final = timedelta(seconds=20)
"""How long it may take to answer that. Source: GRANT-1."""

SERVER_PAUSE: Final = timedelta(seconds=1)
"""First pause before a server that is gone is started again; each further one is twice as long. Source: GRANT-1."""

SERVER_PAUSE_LONGEST: Final = timedelta(minutes=5)
"""Longest pause before a server is started again. Source: GRANT-1."""

SERVER_CALL_TIME: Final = timedelta(minutes=4)
"""How long one call of a server's tool may take, waiting for its turn included. Source: FAIL-1."""

SERVER_CALLS: Final = 4
"""Calls of one server at a time; others wait. Source: GRANT-1."""

SERVER_MESSAGE_BYTES: Final = 2 * 1024 * 1024
"""Largest message of a server, in bytes; one that sends a larger one is started again. Source: GRANT-1."""

SERVER_MESSAGE_PARTS: Final = 16_000
"""Strings, lists, objects and members of a larger message at most: more would hold the loop. Source: GRANT-1."""

SERVER_RESULT_CHARS: Final = 32_000
"""Longest result of a server's tool that the model reads, in characters; the rest is cut. Source: CTX-7."""
