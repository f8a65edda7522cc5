"""The laws, for every registered game; and that each of them can be broken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games import laws, registry
from kibitz_games.api import Game, IllegalAction, Model, State
from kibitz_games.chinese_checkers import ChineseCheckers, geometry, wire

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "chinese-checkers": [
        {},
        {"size": 2, "stop": "no-active", "pass": False},
        {"size": 3, "stop": "no-foreign", "sticky_goal": True},
        {"size": 2, "long_jumps": True},
        {"size": 1},
        {"board": "rhombus", "size": 5},
        {"board": "rhombus", "size": 7, "pegs": 2},
        {"size": 2, "corners": [0, 1]},
        {"size": 5},
    ],
}
"""What each game is tested with besides nothing at all; every registered game must be here."""


def _spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every wire move that the model lets through, for a game of two holes and a pass."""
    assert isinstance(game, ChineseCheckers)
    holes = min(int(state["holes"]) + 1, geometry.MAX_HOLES)
    yield wire.PASS
    for source in range(holes):
        for target in range(holes):
            yield wire.move(source, target)


SPELLINGS: dict[str, laws.Spellings] = {"chinese-checkers": _spellings}


def _setups(name: str) -> Iterator[tuple[Game, Model, int]]:
    """Return each of the options with each number of seats that they allow."""
    game = registry.get(name)
    for raw in OPTIONS[name]:
        options = game.Options.model_validate(raw)
        for seats in game.info.seats:
            try:
                game.start(options, seats, game.deal(options, seats, 0))
            except ValueError:
                continue
            yield game, options, seats


CASES = [
    pytest.param(*setup, id=f"{name}-{i}-{setup[2]}")
    for name in registry.names()
    for i, setup in enumerate(_setups(name))
]


@pytest.mark.parametrize("name", registry.names())
def test_every_game_is_tested_with_options_and_spellings(name: str) -> None:
    assert name in OPTIONS
    assert name in SPELLINGS
    assert {seats for _, _, seats in _setups(name)} == set(registry.get(name).info.seats)


@pytest.mark.parametrize(("game", "options", "seats"), CASES)
def test_laws(game: Game, options: Model, seats: int) -> None:
    plies = laws.check_laws(
        game,
        options=[options],
        seats=[seats],
        seeds=[1],
        spellings=SPELLINGS[game.info.name],
        plies=100,
    )
    assert plies > 10


@given(seed=st.integers(0, 2**31), pick=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_laws_at_any_seed(seed: int, pick: int) -> None:
    for name in registry.names():
        cases = list(_setups(name))
        game, options, seats = cases[pick % len(cases)]
        laws.check_laws(game, options=[options], seats=[seats], seeds=[seed], plies=60)


@pytest.mark.parametrize("name", registry.names())
def test_plays_end_by_max_plies(name: str) -> None:
    game = registry.get(name)
    laws.check_laws(game, seeds=[3], drops=False, seats=game.info.seats[:1])


@pytest.mark.parametrize("name", registry.names())
def test_compiled_and_plain_kernels_agree(name: str) -> None:
    command = [sys.executable, "-m", "kibitz_games.laws", name, "8"]
    plain = os.environ | {"KIBITZ_PLAIN": "1"}
    results = [
        subprocess.run(command, env=env, capture_output=True, check=True, timeout=300).stdout
        for env in (os.environ, plain)
    ]
    assert results[0] == results[1]
    assert len(results[0].strip()) == 64


class _ForgetsTheKey(ChineseCheckers):
    def play(self, state: State, action: int) -> None:
        super().play(state, action)
        state["key"] += 1

    def undo(self, state: State, action: int) -> None:
        state["key"] -= 1
        super().undo(state, action)


class _UndoesHalf(ChineseCheckers):
    def undo(self, state: State, action: int) -> None:
        super().undo(state, action)
        state["since"] += 1


class _RefusesALegalMove(ChineseCheckers):
    def decode(self, state: State, move: Model) -> int:
        action = super().decode(state, move)
        if action == max(self.legal(state)):
            raise IllegalAction("not today")
        return action


class _AcceptsAnything(ChineseCheckers):
    def decode(self, state: State, move: Model) -> int:
        try:
            return super().decode(state, move)
        except IllegalAction:
            return 7


class _LooksWithItsHands(ChineseCheckers):
    def view(self, state: State, seat: int | None) -> wire.View:
        state["prior"] += 1
        return super().view(state, seat)


class _ForgetsOnTheWire(ChineseCheckers):
    def sample(self, view: Model, seed: int) -> State:
        assert isinstance(view, wire.View)
        return super().sample(view.model_copy(update={"idle": 0}), seed)


class _NeverSaysWho(ChineseCheckers):
    def outcome(self, state: State) -> None:
        return None


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (_ForgetsTheKey, "incremental key"),
        (_UndoesHalf, "undo restores"),
        (_RefusesALegalMove, "not today|accepts the legal"),
        (_AcceptsAnything, "accepts the legal"),
        (_LooksWithItsHands, "looking changes nothing"),
        (_ForgetsOnTheWire, r"view\(sample\(view\)\)"),
        (_NeverSaysWho, "an outcome exactly when over"),
    ],
)
def test_a_broken_law_is_noticed(kind: type[ChineseCheckers], law: str) -> None:
    small = wire.Options(size=1)
    with pytest.raises((laws.LawBroken, IllegalAction), match=law):
        laws.check_laws(kind(), options=[small], seats=[2], seeds=range(20), spellings=_spellings)
