"""How the stage behaves just now: what a test or the operator may turn while it runs."""

from dataclasses import dataclass, field, fields

MESSAGE_CONTENT_LIMITED = 1 << 19
"""Application flag: the Message Content intent is switched on, for a bot below the review threshold."""

MESSAGE_CONTENT_APPROVED = 1 << 18
"""Application flag: the Message Content intent was approved in review."""


@dataclass(slots=True)
class Behaviour:
    """Knobs with the values of the real Discord, except where a test would wait for nothing.

    Attributes:
        heartbeat_interval_ms: what HELLO asks for.
        acknowledge_heartbeats: off makes every connection a zombie.
        application_flags: what READY and the application carry; without a Message Content flag an
            IDENTIFY that asks for the intent is closed with 4014.
        rate_limits: whether requests are limited at all.
        bucket_limits: per ``METHOD /template``: requests, and the seconds they refill in.
        global_limit: requests a second over all routes.
        nonce_window_s: for how long a nonce is remembered.
        cdn_lifetime_s: for how long a signed CDN address is good.
        replay_limit: gateway events kept per session for RESUME.
        max_concurrency: IDENTIFYs that ``/gateway/bot`` says may run at once.
    """

    heartbeat_interval_ms: int = 41_250
    acknowledge_heartbeats: bool = True
    application_flags: int = MESSAGE_CONTENT_LIMITED
    rate_limits: bool = True
    bucket_limits: dict[str, tuple[int, float]] = field(
        default_factory=lambda: {
            "POST /channels/{channel_id}/messages": (5, 5.0),
            "PATCH /channels/{channel_id}/messages/{message_id}": (5, 5.0),
            "DELETE /channels/{channel_id}/messages/{message_id}": (5, 1.0),
            "PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me": (1, 0.25),
            "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me": (1, 0.25),
            "GET /channels/{channel_id}/messages": (10, 5.0),
            "POST /channels/{channel_id}/typing": (5, 5.0),
            "POST /users/@me/channels": (10, 10.0),
        }
    )
    global_limit: int = 50
    nonce_window_s: float = 180.0
    cdn_lifetime_s: float = 86_400.0
    replay_limit: int = 5_000
    max_concurrency: int = 16

    def replace(self, other: "Behaviour") -> None:
        """Become ``other`` in place."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    @property
    def content_intent_allowed(self) -> bool:
        """Whether the application has the Message Content intent switched on."""
        return bool(self.application_flags & (MESSAGE_CONTENT_LIMITED | MESSAGE_CONTENT_APPROVED))
