"""Standings: points, wins, draws, losses and causes."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult
from kibitz_server.lobby.standings import StandingsTable


def player(name: str) -> Player:
    return Player(player=name, name=name, kind="bot")


def result(*ranks: int, causes: dict[int, Cause] | None = None) -> Result:
    seats = [
        SeatResult(rank=rank, score=0, cause=(causes or {}).get(seat))
        for seat, rank in enumerate(ranks)
    ]
    return Result(seats=seats, cause=Cause.RULES, plies=1)


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
        ((1,), (1,)),
    ],
)
def test_points_are_the_share_of_the_beaten(
    ranks: tuple[int, ...], shares: tuple[float, ...]
) -> None:
    players = [player(f"p{seat}") for seat in range(len(ranks))]
    table = StandingsTable()
    table.add(players, result(*ranks))
    assert tuple(table.tallies[each.player].points for each in players) == shares


def test_lines_are_sorted_and_count_everything() -> None:
    ada, bob, cyd = player("ada"), player("bob"), player("cyd")
    table = StandingsTable()
    table.add([ada, bob], result(2, 1, causes={0: Cause.TIME}))
    table.add([bob, ada], result(1, 1))
    table.add([ada, bob], result(2, 1, causes={0: Cause.TIME}))
    first, second, third = table.lines([ada, bob, cyd])
    assert (first.name, first.points, first.wins, first.draws, first.losses) == (
        "bob",
        2.5,
        2,
        1,
        0,
    )
    assert (second.name, second.points, second.wins, second.draws) == ("ada", 0.5, 0, 1)
    assert second.causes == {Cause.TIME: 2}
    assert (third.name, third.played, third.points) == ("cyd", 0, 0)


def test_a_shared_last_place_is_a_loss() -> None:
    table = StandingsTable()
    players = [player(name) for name in "abc"]
    table.add(players, result(1, 2, 2))
    assert [(line.wins, line.draws, line.losses) for line in table.lines(players)] == [
        (1, 0, 0),
        (0, 0, 1),
        (0, 0, 1),
    ]


def test_a_result_of_other_seats_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        StandingsTable().add([player("ada")], result(1, 2))
