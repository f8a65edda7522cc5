"""Results: the ranks at the end of a match, whether it ended by the game's rules or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kibitz_games.core.game import Outcome
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from kibitz_protocol.wire.shares import beaten_share


@dataclass(frozen=True, slots=True)
class Departure:
    """The reason why a seat dropped out before the end."""

    cause: Cause
    detail: str = ""


def match_result(
    outcome: Outcome,
    out: Mapping[int, Departure],
    cause: Cause,
    plies: int,
    taken_over: Collection[int] = (),
) -> Result:
    """Return the result of a match; the seats in `out` dropped out before it ended.

    The reason is the game's text only if the match ended by its rules.
    """
    seats = []
    for seat, (rank, score) in enumerate(zip(outcome.ranks, outcome.scores, strict=True)):
        gone = out.get(seat)
        seats.append(
            SeatResult(
                rank=rank,
                score=score,
                points=outcome.points[seat] if outcome.points else None,
                cause=gone.cause if gone else None,
                detail=gone.detail if gone else "",
                takeover=True if seat in taken_over else None,
            )
        )
    reason = outcome.reason if cause is Cause.RULES else ""
    return Result(seats=seats, cause=cause, reason=reason, plies=plies)


def rank_by_departure(seats: int, out: Sequence[int]) -> Outcome:
    """Rank the seats of an unfinished match: those that did not drop out share first place.

    `out` lists the seats that dropped out, in order; the first of them ranks last.
    """
    ranks = [1] * seats
    for place, seat in enumerate(out):
        ranks[seat] = seats - place
    return Outcome(
        tuple(ranks), tuple(beaten_share(ranks, seat, alone=0.0) for seat in range(seats)), ""
    )


def tie(outcome: Outcome, together: Iterable[int]) -> Outcome:
    """Return `outcome` with the seats in `together` tied at the best rank among them."""
    seats = tuple(together)
    rank = min(outcome.ranks[seat] for seat in seats)
    score = sum(outcome.scores[seat] for seat in seats) / len(seats)
    ranks = tuple(rank if seat in seats else own for seat, own in enumerate(outcome.ranks))
    scores = tuple(score if seat in seats else own for seat, own in enumerate(outcome.scores))
    return replace(outcome, ranks=ranks, scores=scores)
