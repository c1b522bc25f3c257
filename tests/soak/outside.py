"""What must hold in the rooms: everything there once, nothing that belongs to nobody. Source: OUT-1, ROOM-8, ING-9."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from clankie_bridge.core import notices, render
from clankie_bridge.core.card import is_card
from clankie_bridge.core.nonce import nonce
from clankie_settings.wire.failure import FailureCode
from tests.soak.facts import Check, Facts, Invariant, Posted, check
from tests.soak.hearing import HEARING
from tests.soak.invariants import INSIDE
from tests.soak.ledger import Said
from tests.soak.rows import DeliveryRow, ReceiptRow


def posts_have_owners(facts: Facts) -> Check:
    """Each of his messages is exactly one part of one delivery, or one update: no orphan, nothing twice."""
    claims = Counter(each.message_id for each in facts.rows.receipts if each.message_id is not None)
    claims.update(_updates(facts))

    def verdict(each: Posted) -> str | None:
        count = claims[each.id]
        if count == 1:
            return None
        return f"{each.id} in {each.room} answers {each.answers}, claimed {count} times: {each.content[:60]!r}"

    mine = (each for each in facts.posted if not is_card(each.content))
    return check("each of his messages belongs to one part", map(verdict, mine))


def cards_are_gone(facts: Facts) -> Check:
    """No card of a turn outlives it, whoever died in between. Source: ROOM-4."""

    def verdict(each: Posted) -> str | None:
        return f"{each.id} in {each.room} is a card of nobody" if is_card(each.content) and facts.cards_swept else None

    return check("no card is left behind", map(verdict, facts.posted))


def _updates(facts: Facts) -> Iterator[str]:
    """The messages that updates became, as their receipts say, or, where a receipt was lost, as their names say."""
    rooms = {each.id: each.trigger["room"]["channel_id"] for each in facts.rows.deliveries}
    named = {each.nonce: each.id for each in facts.ledger.sent.values() if each.nonce}
    for action in facts.rows.actions:
        name = nonce("update", rooms.get(action.delivery, ""), action.id, 1)
        message = action.message_id or named.get(name)
        if message is not None:
            yield message


def replies_are_there(facts: Facts) -> Check:
    """Every part of every reply is in its room, as it was written, under the message that it answers."""
    posted = {each.id: each for each in facts.posted}
    receipts: dict[str, list[ReceiptRow]] = {}
    for each in facts.rows.receipts:
        receipts.setdefault(each.delivery, []).append(each)

    def verdicts() -> Iterator[str | None]:
        for delivery in facts.rows.deliveries:
            words = _owed_words(delivery)
            got = sorted(receipts.get(delivery.id, []), key=lambda each: each.part)
            if [each.part for each in got] != [*range(1, len(words) + 1)]:
                yield f"{delivery.id}: {len(words)} parts, receipts of {[each.part for each in got]}"
            for receipt, part in zip(got, words, strict=False):
                gone = delivery.trigger["message_id"] in facts.ledger.deleted
                yield _there(delivery, receipt, posted.get(receipt.message_id or ""), part, gone=gone)

    return check("every part is in its room once, as written", verdicts())


def _owed_words(delivery: DeliveryRow) -> list[str | None]:
    """What the room must hold for a delivery, part by part; None for a part that is a file."""
    result = delivery.result or {}
    if result.get("state") == "replied":
        return [part.text if isinstance(part, render.Words) else None for part in render.parts(result["text"])]
    return [notices.notice(FailureCode(result["code"]))] if result.get("notice") else []


def _there(
    delivery: DeliveryRow, receipt: ReceiptRow, posted: Posted | None, part: str | None, *, gone: bool
) -> str | None:
    trigger, name = delivery.trigger, f"{delivery.id}, part {receipt.part}"
    if receipt.code is not None or posted is None:
        return f"{name}: not in the room ({receipt.code or 'no such message'})"
    if posted.room != trigger["room"]["channel_id"]:
        return f"{name}: in another room"
    if part is not None and posted.content != part.strip():
        return f"{name}: other words than were written"
    # Where that was taken away the words stand by themselves, as far as the bridge had heard of it. Source: OUT-3.
    if receipt.part == 1 and posted.answers != trigger["message_id"] and not (gone and posted.answers is None):
        return f"{name}: answers {posted.answers}"
    return None


def replies_keep_their_order(facts: Facts) -> Check:
    """What the runs of a lane said stands in its room in the order in which what they answer came. Source: OUT-2."""
    said = {each.delivery: each.message_id for each in facts.rows.receipts if each.part == 1}
    owners = {each.owner for each in facts.rows.runs}

    def verdicts() -> Iterator[str | None]:
        for lane in facts.rows.lanes:
            mine = (each for each in facts.rows.deliveries if each.lane == lane.id and each.id in owners)
            answered = ((each.id, said.get(each.id)) for each in sorted(mine, key=lambda each: each.seq))
            posted = [(delivery, int(message)) for delivery, message in answered if message is not None]
            for (_, earlier), (delivery, later) in pairwise(posted):
                yield None if earlier < later else f"{delivery}: {later} stands before {earlier}"

    return check("replies stand in their lane's order", verdicts())


def nobody_is_forgotten(facts: Facts) -> Check:
    """Whoever called him got one reply or notice, their own or that of the run which heard them, or chosen silence."""
    deliveries = facts.deliveries()
    noticed = {each.result.get("run_id") for each in facts.rows.deliveries if each.result and each.result.get("notice")}

    def verdict(said: Said) -> str | None:
        delivery = deliveries.get(said.id)
        deleted = said.id in facts.ledger.deleted
        if delivery is None:
            return f"{said.id}: never handed over" if facts.caught_up and not deleted else None
        result = delivery.result or {}
        if deleted and result.get("code") == FailureCode.WITHDRAWN:
            return None
        answer = deliveries.get(str(result.get("answered_by"))) if delivery.outcome == "absorbed" else delivery
        if answer is None or answer.outcome not in ("replied", "silent", "failed"):
            return f"{said.id}: {delivery.outcome or delivery.state}, and nobody was answered"
        if answer.outcome != "failed" or result.get("notice") or result.get("run_id", "none") in noticed:
            return None
        return f"{said.id}: failed ({result.get('code')}) without a word"

    called = (said for said in facts.ledger.said.values() if said.addressed)
    return check("whoever called him got one reply or notice", map(verdict, called))


OUTSIDE: tuple[Invariant, ...] = (
    posts_have_owners,
    cards_are_gone,
    replies_are_there,
    replies_keep_their_order,
    nobody_is_forgotten,
)

INVARIANTS: tuple[Invariant, ...] = (*INSIDE, *HEARING, *OUTSIDE)
"""All of them, in the order of the table."""
