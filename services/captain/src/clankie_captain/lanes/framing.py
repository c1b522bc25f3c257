"""A delivery as a run reads it: its words in their frame, its pictures behind them. Source: CTX-4, IMG-6, LANE-9."""

from clankie_captain.core.context import Framing, backlog, words
from clankie_captain.core.exhibits import PictureCounts, counted, exhibits, picture_key, shown_here
from clankie_captain.core.pictures import all_unseen
from clankie_captain.core.run import Words
from clankie_captain.core.turns import Heard, Pending
from clankie_settings.clock import Ids
from clankie_settings.ids import DeliveryId, MessageId
from clankie_settings.wire.trigger import content_hash


def framed(pending: Pending, known: frozenset[str], ids: Ids, *, steered: bool) -> tuple[Words, Heard, PictureCounts]:
    """The words of a delivery for the next request, what the lane carries once that is stored, and its pictures' fate.

    ``known`` is what the request carries already besides the lane.
    """
    trigger, carried = pending.trigger, pending.known | known
    pictures = pending.pictures if pending.pictures is not None else all_unseen(trigger, "timed_out")
    while True:
        framing = Framing(ids.new("k").removeprefix("k_")[:12], carried, steered, pictures, pending.origin)
        try:
            text = words(trigger, framing)
        except ValueError:
            continue
        break
    carries = [MessageId(each.message_id) for each in backlog(trigger, carried)]
    visual = trigger.context_visual
    shown = shown_here(trigger, pictures, carried)
    if visual is not None and visual.attachment is not None and any(each.origin == "context" for each in shown):
        carries.append(MessageId(picture_key(visual.attachment.id)))
    heard = Heard(pending.presence, pending.delivery, tuple(carries), content_hash(trigger))
    said = Words(DeliveryId(pending.delivery), text, exhibits(trigger, pictures, carried))
    return said, heard, counted(trigger, pictures, carried)
