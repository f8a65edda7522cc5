"""The share for a rank."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.shares import beaten_share, seat_outcome, share_interval


@pytest.mark.parametrize(
    ("ranks", "shares"),
    [
        ((1, 2), (1, 0)),
        ((1, 1), (0.5, 0.5)),
        ((1, 2, 3), (1, 0.5, 0)),
        ((3, 1, 2), (0, 1, 0.5)),
        ((1, 1, 3), (0.75, 0.75, 0)),
        ((1, 2, 2, 4), (1, 0.5, 0.5, 0)),
        ((1, 1, 1), (0.5, 0.5, 0.5)),
        ((3, 1, 4, 1), (1 / 3, 5 / 6, 0, 5 / 6)),
    ],
)
def test_a_share_counts_the_beaten_and_half_of_the_tied(
    ranks: tuple[int, ...], shares: tuple[float, ...]
) -> None:
    assert tuple(beaten_share(ranks, seat, alone=1.0) for seat in range(len(ranks))) == shares
    assert sum(shares) == pytest.approx(len(ranks) / 2)


def test_a_seat_alone_has_won_unless_its_match_was_broken_off() -> None:
    assert beaten_share((1,), 0, alone=1.0) == 1.0
    assert beaten_share((1,), 0, alone=0.0) == 0.0


@pytest.mark.parametrize(
    ("ranks", "outcomes"),
    [
        ((1, 2), ("win", "loss")),
        ((1, 1), ("draw", "draw")),
        ((2, 1, 3), ("loss", "win", "loss")),
        ((1, 3, 1), ("draw", "loss", "draw")),
        ((1,), ("win",)),
    ],
)
def test_the_best_rank_alone_is_a_win(ranks: tuple[int, ...], outcomes: tuple[str, ...]) -> None:
    assert tuple(seat_outcome(ranks, seat) for seat in range(len(ranks))) == outcomes


@pytest.mark.parametrize(
    ("wins", "count", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),  # R. G. Newcombe, 1998, table I, method 3
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_intervals_are_those_of_newcombe(
    wins: int, count: int, expected: tuple[float, float]
) -> None:
    assert share_interval(wins / count, count) == pytest.approx(expected, abs=5e-5)
    low, high = share_interval(1 - wins / count, count)
    assert (1 - high, 1 - low) == pytest.approx(expected, abs=5e-5)
