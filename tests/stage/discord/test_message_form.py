"""Whatever a client sends, a message form is read or refused, and never breaks the stage."""

import contextlib
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie_stage.app import Stage
from clankie_stage.discord.calls import Call, Upload
from clankie_stage.discord.errors import RefusalError
from clankie_stage.discord.message_form import LONGEST_CONTENT, message_form
from clankie_stage.discord.rest_messages import MessageRoutes
from clankie_stage.discord.scenery import GENERAL_ID

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)
MENTIONS = st.fixed_dictionaries({}, optional=dict.fromkeys(("parse", "users", "roles", "replied_user"), ANYTHING))
KEYS = (
    "content",
    "embeds",
    "components",
    "attachments",
    "flags",
    "nonce",
    "enforce_nonce",
    "message_reference",
    "poll",
)
BODIES = st.fixed_dictionaries({}, optional={"allowed_mentions": ANYTHING | MENTIONS, **dict.fromkeys(KEYS, ANYTHING)})

# How fast examples are made says something about the machine only.
unhurried = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def posting(body: dict[str, Any]) -> Call:
    files = (Upload(0, "a.txt", b"a", "text/plain"),)
    return Call("POST", "/channels/{channel_id}/messages", "", {"channel_id": GENERAL_ID}, {}, body, files)


@unhurried
@given(BODIES)
def test_any_form_is_read_or_refused(body: dict[str, Any]) -> None:
    with contextlib.suppress(RefusalError):
        form = message_form(posting(body))
        assert form.content is None or len(form.content) <= LONGEST_CONTENT


async def test_any_form_that_is_read_can_be_posted_and_shown(stage: Stage) -> None:
    control, parts = stage.control, stage.control.parts
    snowflakes = parts.happenings.snowflakes
    routes = MessageRoutes(parts.world, parts.happenings, parts.behaviour, parts.nonces, snowflakes)

    @unhurried
    @given(BODIES)
    def post(body: dict[str, Any]) -> None:
        with contextlib.suppress(RefusalError):
            routes.create(posting(body))

    post()
    assert len(control.shown()) == len(control.messages())
