"""The cases: all are valid, and the format of the matrix."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import cases
from kibitz_arena.config_error import ConfigError
from kibitz_bots.catalog import PERSONALITIES, find
from tests.arena.tournaments import event

MATRIX = """
- each: {mcts-hand: 0.5, brs-euclid: 1}
  name: star-{bot}
  game: chinese-checkers
  blocks: 2
  bots: {"{bot}": "{search}:evaluation={evaluation},time={time}", "greedy-{evaluation}": null}
  better: "{bot}"
- game: line-nim:free=30
  seed: 1
  bots: {random: null, second: random}
  tournaments:
    nim: {claims: [random never loses to second]}
    nim-2: {seed: 2, entrants: [{name: far, remote: true}], better: random}
"""


def test_every_case_is_sound() -> None:
    for case in cases.select():
        assert case.tournament.name == case.name
        assert case.tournament.claims
        for entrant in case.tournament.entrants:
            if entrant.bot is not None and not entrant.bot.endswith(".py"):
                find(entrant.bot)


def test_every_house_bot_plays_in_an_event() -> None:
    """A new bot needs an entry in the matrix and a measurement, or nobody knows its strength."""
    entrants = [entrant for case in cases.select() for entrant in case.tournament.entrants]
    played = {entrant.bot.partition(":")[0] for entrant in entrants if entrant.bot is not None}
    assert sorted(PERSONALITIES.keys() - played) == []


def test_a_matrix_is_tournaments_by_name(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(MATRIX, encoding="utf-8")
    found = {case.name: case.tournament for case in cases.select(matrix=path)}
    assert [*found] == ["star-mcts-hand", "star-brs-euclid", "nim", "nim-2"]
    star = found["star-mcts-hand"]
    assert [each.bot for each in star.entrants] == [
        "chinese-checkers/mcts:evaluation=hand,time=0.5",
        "chinese-checkers/greedy-hand",
    ]
    assert star.claims == ["mcts-hand is better than greedy-hand"]
    assert found["nim"].game.options == {"free": 30}
    assert [each.bot for each in found["nim"].entrants] == ["line-nim/random"] * 2
    assert (found["nim"].seed, found["nim-2"].seed) == (1, 2)
    assert found["nim-2"].claims == ["random is better than second", "random is better than far"]


def test_a_name_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(MATRIX + MATRIX, encoding="utf-8")
    with pytest.raises(ValueError, match="star-mcts-hand is defined twice"):
        cases.select(matrix=path)


def test_what_is_wrong_is_told_with_the_name_of_the_case(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(MATRIX.replace("never loses", "ever loses"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"matrix.yaml: nim: claims.0: expected a claim"):
        cases.select(matrix=path)
    assert cases.select(["star-brs-euclid"], path), "the others are none the worse for it"


def test_cases_are_selected_by_name() -> None:
    names = [case.name for case in cases.select()]
    assert [case.name for case in cases.select(names[3:1:-1])] == names[3:1:-1]


def test_an_unknown_name_is_refused_with_what_is_meant() -> None:
    with pytest.raises(cases.UnknownCaseError, match="did you mean tanks-greedy"):
        cases.select(["tank-greedy"])
    with pytest.raises(cases.UnknownCaseError, match="known cases: chinese-checkers-"):
        cases.select(["xyzzy"])


@pytest.mark.parametrize(("blocks", "left"), [(100, 10), (25, 2), (3, 1), (1, 1)])
def test_a_quick_run_plays_a_tenth(blocks: int, left: int) -> None:
    short = cases.shortened(event(2, blocks=blocks))
    assert (short.blocks_per_pairing, short.games_per_pairing) == (left, 2 * left)


def test_a_quick_run_of_games_plays_whole_blocks() -> None:
    assert cases.shortened(event(2, games=45, balanced=False)).games_per_pairing == 4
