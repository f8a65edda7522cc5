"""A bot receives the seat's view at every turn, and its values are read correctly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kibitz.analysis import evaluation, evaluation_text
from kibitz.analysis.evaluation import MoveEvaluation, Scale
from kibitz.analysis.seated_bot import BotFailedError
from kibitz_bots.sdk import Bot, Turn
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import Comment, Moved, Origin

TANKS = Path(__file__).parents[3] / "docs/images/tanks.jsonl"


class First(Bot):
    """Plays the first legal move with the ply as its value."""

    asked: list[Turn]

    def choose(self, turn: Turn) -> Any:
        self.asked = [*getattr(self, "asked", []), turn]
        turn.comment(value=float(turn.ply), depth=1)
        return turn.legal[0]


def said(ply: int, seat: int, value: float | None, played: str = "a", best: str = "b") -> Any:
    return MoveEvaluation(ply, seat, played, best, Comment(value=value))


def test_every_move_is_judged_by_a_bot_of_its_seat(nim: Record, nim_rules: Game) -> None:
    made: list[First] = []

    def make() -> First:
        made.append(First())
        return made[-1]

    heard: list[MoveEvaluation] = []
    found = evaluation.evaluate(nim_rules, nim, make, 5, on_move=heard.append)
    assert found == heard
    assert [each.ply for each in found] == list(range(26))
    assert [each.value for each in found] == [float(each.ply) for each in found]
    # One of them is only prepared; each of the others plays one seat.
    assert [{turn.seat for turn in getattr(bot, "asked", [])} for bot in made] == [set(), {0}, {1}]
    assert {turn.budget.ms for turn in made[1].asked} == {5}
    assert not made[1].asked[0].clocks


def test_only_the_wanted_seats_are_judged(nim: Record, nim_rules: Game) -> None:
    found = evaluation.evaluate(nim_rules, nim, First, 5, seats=[1])
    assert {each.seat for each in found} == {1}


def test_a_bot_sees_what_its_seat_saw(all_games: dict[str, Game]) -> None:
    record = read_record(TANKS)
    seen: list[Turn] = []

    class Looking(Bot):
        def choose(self, turn: Turn) -> Any:
            seen.append(turn)
            return turn.legal[0]

    evaluation.evaluate(all_games["tanks"], record, Looking, 5, seats=[2])
    referee = len(json.dumps(seen[0].observation))
    assert all(turn.seat == 2 for turn in seen)
    assert all(turn.observation["seat"] == 2 for turn in seen), referee


def test_a_bot_that_fails_is_told_of_with_the_ply(nim: Record, nim_rules: Game) -> None:
    class Crashing(Bot):
        def choose(self, turn: Turn) -> Any:
            if turn.ply == 3:
                raise RuntimeError("no more")
            return turn.legal[0]

    with pytest.raises(BotFailedError, match="failed at ply 3: RuntimeError: no more"):
        evaluation.evaluate(nim_rules, nim, Crashing, 5)

    class Illegal(Bot):
        def choose(self, turn: Turn) -> Any:
            return {"x": 99, "y": 0, "length": 1}

    with pytest.raises(BotFailedError, match="failed at ply 0"):
        evaluation.evaluate(nim_rules, nim, Illegal, 5)


def test_swings_are_between_turns_of_one_seat_the_greatest_first() -> None:
    found = [said(0, 0, 1.0), said(1, 1, 5.0), said(2, 0, 0.5), said(3, 1, 9.0), said(4, 0, None)]
    changes = evaluation.swings(found)
    assert [(each.before.ply, each.after.ply, each.change) for each in changes] == [
        (1, 3, 4.0),
        (0, 2, -0.5),
    ]


def test_the_costliest_moves_are_losses_of_value_and_a_proved_loss_costs_most(nim: Record) -> None:
    found = [said(0, 0, 2.0), said(1, 1, 1.0), said(2, 0, 1.5), said(3, 1, 0.0)]
    found += [said(4, 0, 9.0), said(5, 1, 4 - 1e6), said(6, 0, 1e6 - 3), said(7, 1, 2 - 1e6)]
    costly = evaluation.costliest(nim, found)
    assert [(each.before.ply, each.change) for each in costly] == [(3, -4.5), (1, -1.0), (0, -0.5)]
    assert evaluation.costliest(nim, [said(0, 0, 1.0), said(2, 0, 0.998)]) == []
    many = [said(ply, 0, -float(ply)) for ply in range(9)]
    assert len(evaluation.costliest(nim, many)) == evaluation.MOST_SWINGS


def test_moves_that_a_branch_repeats_are_not_among_the_costliest(nim: Record) -> None:
    origin = Origin(match="m", ply=2, seed=nim.setup.seed)
    branch = replace(nim, setup=nim.setup.model_copy(update={"branch": origin}))
    found = [said(ply, ply % 2, -float(ply)) for ply in range(6)]
    assert [each.before.ply for each in evaluation.costliest(nim, found)] == [0, 1, 2, 3]
    assert [each.before.ply for each in evaluation.costliest(branch, found)] == [2, 3]


def test_what_is_proved_is_said_in_words_and_lies_at_the_ends() -> None:
    won, open_, lost = said(0, 0, 1e6 - 7), said(2, 0, 0.25), said(4, 0, 3 - 1e6)
    assert (won.proven, won.end_in) == ("won", 7)
    assert (lost.proven, lost.end_in) == ("lost", 3)
    assert (open_.proven, open_.end_in) == (None, None)
    scale = Scale([won, open_, said(6, 0, 0.75), lost])
    assert [scale.place(each) for each in (won, open_, lost)] == [0.75, 0.25, 0.25]


def test_the_lines_the_chart_and_the_json_say_the_same(nim: Record) -> None:
    found = [said(0, 0, 1.0), said(1, 1, 1e6 - 2, "x", "x"), said(2, 0, -1.0)]
    lines = list(evaluation_text.lines(nim, found))
    assert "+1.00" in lines[0]
    assert lines[0].endswith("better b")
    assert "won in 2" in lines[1]
    assert "better" not in lines[1]
    assert lines[3] == "the bot agrees with 1 of 3 moves"
    assert lines[-1].endswith("played a: +1.00 -> -1.00")
    svg = ElementTree.fromstring(evaluation_text.svg(nim, found, "A & B"))
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}polyline"))) == 2
    fields = json.loads(evaluation_text.to_json(nim, found, "x/y", 5))
    assert [each.get("proven") for each in fields["moves"]] == [None, "won", None]
    [swing] = fields["swings"]
    assert swing == {"seat": 0, "ply": 0, "change": -2.0, "before": "+1.00", "after": "-1.00"}


def test_the_viewer_gets_the_comments_of_the_analysis(nim: Record) -> None:
    shown = evaluation.annotated(nim, [said(0, 0, 1e6), said(1, 1, 0.5), said(2, 0, 0.75)])
    moves = [entry for entry in shown.entries if isinstance(entry, Moved)]
    comments = [move.comment for move in moves]
    assert comments[0] is not None
    assert (comments[0].text, comments[0].value) == ("better: b; won", 0.75)
    assert comments[3:] == [None] * 23
    assert [m.action for m in moves] == [m.action for m in nim.entries if isinstance(m, Moved)]
