"""Classifying events as next, old, or proof of a loss."""

from __future__ import annotations

from kibitz_protocol.client.sequence import EventOrder, SequenceTracker
from kibitz_protocol.wire.messages import Event, Snapshot
from kibitz_protocol.wire.records import Hidden
from tests.tools.sample_messages import NEWS, RESULT

SNAPSHOT = next(message for message in NEWS if isinstance(message, Snapshot))


def _at(seq: int, *, you: int | None = None, match: str = "m1") -> Snapshot:
    return SNAPSHOT.model_copy(update={"match": match, "seq": seq, "you": you})


def _step(following: SequenceTracker, seq: int, match: str = "m1") -> EventOrder:
    return following.classify(Event(match=match, ply=0, to_act=0, entry=Hidden(seq=seq, at_ms=0)))


def test_events_are_counted_from_the_snapshot() -> None:
    following = SequenceTracker()
    following.reset_to(_at(4))
    assert [_step(following, seq) for seq in (4, 5, 5, 3, 6)] == [
        EventOrder.OLD, EventOrder.NEXT, EventOrder.OLD, EventOrder.OLD, EventOrder.NEXT,
    ]  # fmt: skip


def test_after_a_gap_all_is_old_until_a_snapshot() -> None:
    following = SequenceTracker()
    following.reset_to(_at(4))
    assert [_step(following, seq) for seq in (6, 7, 5, 9)] == [
        EventOrder.GAP,
        *[EventOrder.OLD] * 3,
    ]
    following.reset_to(_at(9))
    assert _step(following, 10) is EventOrder.NEXT


def test_a_newer_snapshot_skips_and_an_older_one_goes_back() -> None:
    following = SequenceTracker()
    following.reset_to(_at(4))
    following.reset_to(_at(8))
    assert _step(following, 9) is EventOrder.NEXT
    following.reset_to(_at(2))
    assert _step(following, 3) is EventOrder.NEXT


def test_what_is_not_followed_is_unknown() -> None:
    following = SequenceTracker()
    assert _step(following, 1) is EventOrder.UNKNOWN
    following.reset_to(_at(0))
    following.drop("m1")
    following.drop("m1")
    assert _step(following, 1) is EventOrder.UNKNOWN


def test_a_match_that_is_over_is_not_followed() -> None:
    following = SequenceTracker()
    following.reset_to(_at(0))
    following.reset_to(_at(3).model_copy(update={"result": RESULT}))
    assert "m1" not in following


def test_seats_and_watched_matches_are_told_apart() -> None:
    following = SequenceTracker()
    following.reset_to(_at(0, you=1))
    following.reset_to(_at(0, match="m2"))
    assert (following.seated(), following.watched()) == (["m1"], ["m2"])
    assert following.is_seated("m1")
    assert not following.is_seated("m2")
    assert not following.is_seated("m3")


def test_an_interruption_waits_for_snapshots_of_all() -> None:
    following = SequenceTracker()
    following.reset_to(_at(4))
    following.await_snapshots()
    assert _step(following, 5) is EventOrder.OLD
    assert "m1" in following
