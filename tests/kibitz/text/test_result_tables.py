from __future__ import annotations

from kibitz.text import result_tables
from kibitz_protocol.wire.lobbies import MatchBrief, Standing
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult

PLAYERS = [
    Player(player="a", name="ada", kind="bot"),
    Player(player="b", name="bob", kind="bot"),
]


def brief(result: Result | None, number: int = 1) -> MatchBrief:
    return MatchBrief(match=f"m{number}", number=number, game="star", seats=PLAYERS, result=result)


WON = Result(
    seats=[SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)],
    cause=Cause.RULES,
    reason="goal",
    plies=41,
)
CRASHED = Result(
    seats=[
        SeatResult(rank=2, score=0, cause=Cause.CRASH, detail="ZeroDivisionError"),
        SeatResult(rank=1, score=1),
    ],
    cause=Cause.CRASH,
    plies=3,
)


def test_the_best_player_stands_first() -> None:
    lines = [
        Standing(player="a", name="ada", played=2, wins=0, draws=1, losses=1, points=0.5),
        Standing(
            player="b",
            name="bob",
            played=2,
            wins=1,
            draws=1,
            losses=0,
            points=1.5,
            causes={Cause.TIME: 2},
        ),
    ]
    rows = result_tables.standings_table(lines).splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["bob", "ada"]
    assert rows[0].endswith("time 2")
    assert rows[1].endswith("-")


def test_a_win_by_the_rules_is_no_abnormal_end() -> None:
    assert result_tables.abnormal_endings([brief(WON)]) == []


def test_abnormal_ends_are_told_one_by_one() -> None:
    aborted = WON.model_copy(update={"cause": Cause.INFRASTRUCTURE, "reason": "disk full"})
    briefs = [brief(CRASHED), brief(None, 2), brief(aborted, 3)]
    assert result_tables.abnormal_endings(briefs) == [
        "match 1: ada dropped out: crash (ZeroDivisionError)",
        "match 2 did not finish",
        "match 3 was aborted: disk full",
    ]
