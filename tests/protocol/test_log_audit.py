"""The auditor finds nothing in an honest run, and each planted bug."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kibitz_protocol.wire.records import Cause, Entry, Forfeited, Hidden, Moved, Noted
from tests.tools.log_audit import Acknowledged, Declined, Observation, Sent, Shown, audit

SEATS = {"m": ["ada", "bob"]}
MOVES = 6


def log() -> list[Entry]:
    return [
        Moved(seq=n, at_ms=n, ply=n - 1, seat=(n - 1) % 2, action={"cell": n}, id=n)
        for n in range(1, MOVES + 1)
    ]


def history() -> list[Observation]:
    """Return both players' histories of `log`, with a spectator who joined after entry 2."""
    seen: list[Observation] = []
    for entry in log():
        assert isinstance(entry, Moved)
        assert entry.id is not None
        player = SEATS["m"][entry.seat]
        seen.append(Sent("m", player, entry.id, entry.ply, entry.action, entry.seq))
        seen.append(Acknowledged("m", player, entry.id, entry.seq, entry.seq + 0.5))
        if entry.seq > 2:
            seen.append(Shown("m", "eve", 2, entry))
    return seen


def test_an_honest_run_has_no_faults() -> None:
    assert audit({"m": log()}, SEATS, history()) == []


def test_a_move_that_was_never_answered_may_be_in_the_log_or_not() -> None:
    unanswered = [seen for seen in history() if not isinstance(seen, Acknowledged) or seen.id < 6]
    assert audit({"m": log()}, SEATS, unanswered) == []
    shorter = [seen for seen in unanswered if not isinstance(seen, Shown)]
    assert audit({"m": log()[:-1]}, SEATS, shorter) == []


def test_hidden_entries_and_the_notes_of_others_are_no_faults() -> None:
    entries = [*log(), Noted(seq=MOVES + 1, at_ms=9, seat=0, text="secret")]
    seen = [*history(), Shown("m", "eve", 2, Hidden(seq=MOVES + 1, at_ms=9))]
    assert audit({"m": entries}, SEATS, seen) == []


def test_the_detail_of_a_forfeit_may_be_hidden_and_not_changed() -> None:
    forfeit = Forfeited(seq=MOVES + 1, at_ms=9, seat=0, cause=Cause.CRASH, detail="no book")
    for detail, faults in (("no book", 0), ("", 0), ("lies", 1)):
        shown = Shown("m", "eve", 2, forfeit.model_copy(update={"detail": detail}))
        assert len(audit({"m": [*log(), forfeit]}, SEATS, [*history(), shown])) == faults


Plant = Callable[[list[Entry], list[Observation]], tuple[list[Entry], list[Observation]]]


def lost_tail(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    """A server that acknowledges before the commit forgets its last entry in a crash."""
    return entries[:-1], [s for s in seen if not isinstance(s, Shown)]


def no_dedupe(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    """A resent move is applied twice."""
    again = entries[-1].model_copy(update={"seq": MOVES + 1, "ply": MOVES})
    return [*entries, again], seen


def hole(entries: list[Entry], seen: list[Observation]) -> tuple[list[Entry], list[Observation]]:
    return [*entries[:3], *entries[4:]], seen


def refused_but_logged(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    kept = [s for s in seen if not (isinstance(s, Acknowledged) and s.id == 4)]
    return entries, [*kept, Declined("m", "bob", 4)]


def altered(entries: list[Entry], seen: list[Observation]) -> tuple[list[Entry], list[Observation]]:
    changed = entries[2].model_copy(update={"action": {"cell": 99}})
    return [*entries[:2], changed, *entries[3:]], seen


def no_fence(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    """A stale owner acknowledges a move after another owner has logged a different one."""
    late = [
        s if not (isinstance(s, Sent) and s.id == 2) else Sent("m", "bob", 2, 1, s.action, 99)
        for s in seen
    ]
    return entries, late


def shared_queue(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    """A full queue drops an event silently."""
    return entries, [s for s in seen if not (isinstance(s, Shown) and s.entry.seq == 4)]


def invented(
    entries: list[Entry], seen: list[Observation]
) -> tuple[list[Entry], list[Observation]]:
    return entries, [s for s in seen if not (isinstance(s, Sent | Acknowledged) and s.id == 5)]


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (lost_tail, "was acknowledged as 6 but is missing"),
        (no_dedupe, "is in the log twice"),
        (hole, "entry 4 of the log has the number 5"),
        (refused_but_logged, "was refused but is in the log"),
        (altered, "is not the move 3 that ada sent"),
        (no_fence, "was sent after a later entry was acknowledged"),
        (shared_queue, "was shown entry 5 when 4 was due"),
        (invented, "that was never sent"),
    ],
)
def test_each_planted_bug_is_named(plant: Plant, words: str) -> None:
    entries, seen = plant(log(), history())
    assert any(words in fault for fault in audit({"m": entries}, SEATS, seen))


def test_a_match_without_a_log_is_a_fault() -> None:
    assert audit({}, {}, history()) == ["match m was seen but has no log"]
