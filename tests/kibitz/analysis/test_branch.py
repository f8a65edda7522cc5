"""Games branched from a ply of a record are reproducible by seed and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kibitz.analysis import continuation
from kibitz.analysis.branch import BranchOutcome, BranchPlan, branch, plan_seats
from kibitz.analysis.recorded_turns import turn_at
from kibitz.analysis.seated_bot import SeatedBot
from kibitz.analysis.verification import verify
from kibitz_bots.sdk import Bot, Turn
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Cause

RANDOM = "line-nim/random"


def plan(**changes: Any) -> BranchPlan:
    said: dict[str, Any] = {
        "ply": 11,
        "bots": {0: RANDOM, 1: RANDOM},
        "seat": 1,
        "games": 6,
        "ms": 5,
        "seed": 3,
    }
    return BranchPlan(**(said | changes))


def played(game: Game, record: Record, wanted: BranchPlan, **more: Any) -> BranchOutcome:
    return branch(turn_at(game, record, wanted.ply).before, wanted, record=record, **more)


def test_a_seed_says_which_games_are_played(nim: Record, nim_rules: Game) -> None:
    first, again = (played(nim_rules, nim, plan()) for _ in range(2))
    assert first == again
    assert len(first.lines) == 6
    assert played(nim_rules, nim, plan(seed=4)).lines.isdisjoint(first.lines)


def test_the_results_of_the_seat_are_counted(nim: Record, nim_rules: Game) -> None:
    heard = []
    found = played(nim_rules, nim, plan(), on_game=lambda number, result: heard.append(result))
    assert found.scores == [result.seats[1].score for result in heard]
    assert sum(found.ranks.values()) == 6
    assert found.faults == {}
    low, high = found.interval
    assert 0.0 <= low <= found.mean <= high <= 1.0
    assert found.recorded is not None
    assert found.recorded.seats[1].rank == 2


def test_each_game_has_a_record_that_begins_as_the_match(
    nim: Record, nim_rules: Game, tmp_path: Path
) -> None:
    played(nim_rules, nim, plan(games=2), records=tmp_path)
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == 2
    for path in paths:
        record = read_record(path)
        assert record.entries[:11] == nim.entries[:11]
        assert verify(path, {"line-nim": nim_rules}).entries > 11
        assert record.setup.seats[1].name == "random, from ply 11 line-nim/random"


@pytest.mark.parametrize("answer", ["crash", "illegal"])
def test_a_bot_that_fails_forfeits(nim: Record, nim_rules: Game, answer: str) -> None:
    class Failing(Bot):
        def choose(self, turn: Turn) -> Any:
            if answer == "crash":
                raise RuntimeError("first line\nsecond line")
            return {"x": 99, "y": 0, "length": 1}

    match = turn_at(nim_rules, nim, 4).before
    bots = {seat: SeatedBot(Failing(), match, seat, 5, "x") for seat in (0, 1)}
    result, entries = continuation.play_on(match, bots)
    assert result.seats[0].cause is {"crash": Cause.CRASH, "illegal": Cause.ILLEGAL}[answer]
    assert result.seats[1].rank == 1
    assert len(entries) == 1


def test_an_async_bot_plays_too(nim: Record, nim_rules: Game) -> None:
    class Waiting(Bot):
        async def choose(self, turn: Turn) -> Any:
            return turn.legal[0]

    match = turn_at(nim_rules, nim, 20).before
    bots = {seat: SeatedBot(Waiting(), match, seat, 5, "x") for seat in (0, 1)}
    result, _ = continuation.play_on(match, bots)
    assert result.cause is Cause.RULES


def test_others_are_one_for_all_or_one_for_each(nim: Record, nim_rules: Game) -> None:
    match = turn_at(nim_rules, nim, 4).before
    assert plan_seats(match, 1, "a", ["b"]) == {1: "a", 0: "b"}
    with pytest.raises(ValueError, match=r"expected bots for seat 1 \(greedy\): pass --others"):
        plan_seats(match, 1, "a", ["b", "c"])
