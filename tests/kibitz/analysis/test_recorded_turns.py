"""The turns reconstructed from a record equal those of the match, each before its move."""

from __future__ import annotations

import pytest

from kibitz.analysis.recorded_turns import game_of, recorded_turns, turn_at
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Moved
from kibitz_server.match.state import BrokenLog


def test_every_move_has_its_turn_and_the_match_before_it(nim: Record, nim_rules: Game) -> None:
    moves = [entry for entry in nim.entries if isinstance(entry, Moved)]
    turns = list(recorded_turns(nim_rules, nim))
    assert [turn.played for turn in turns] == moves
    for turn in turns:
        assert (turn.before.ply, turn.before.to_act) == (turn.ply, turn.seat)
        turn.before.apply(turn.played)
        assert turn.before.ply == turn.ply + 1


def test_a_turn_may_be_played_on_without_a_change_to_the_next(nim: Record, nim_rules: Game) -> None:
    turns = recorded_turns(nim_rules, nim)
    first = next(turns)
    first.before.game.play(
        first.before.game_state, first.before.game.legal(first.before.game_state)[0]
    )
    assert next(turns).before.ply == 1


def test_a_ply_that_the_match_does_not_have_is_named(nim: Record, nim_rules: Game) -> None:
    assert turn_at(nim_rules, nim, 25).ply == 25
    with pytest.raises(ValueError, match="expected a ply from 0 to 25, not 26"):
        turn_at(nim_rules, nim, 26)


def test_entries_that_the_rules_forbid_raise(nim: Record, nim_rules: Game) -> None:
    twice = Record(nim.setup, (nim.entries[0], nim.entries[0]), None, "")
    with pytest.raises(BrokenLog, match="does not follow"):
        list(recorded_turns(nim_rules, twice))


def test_a_game_that_is_not_there_is_named(nim: Record, nim_rules: Game) -> None:
    assert game_of(nim, {"line-nim": nim_rules}) is nim_rules
    with pytest.raises(ValueError, match="expected a record of tanks, not of 'line-nim'"):
        game_of(nim, {"tanks": nim_rules})
