"""The laws for every registered game, and a violation of each law."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.chinese_checkers import ChineseCheckers
from kibitz_games.chinese_checkers import models as chinese_checkers_models
from kibitz_games.compiled import operations
from kibitz_games.conformance import laws
from kibitz_games.core import registry
from kibitz_games.core.game import Game, IllegalAction, Model, State
from kibitz_games.core.scene import Scene
from kibitz_games.line_nim import LineNim
from tests.games import cases
from tests.tools import profiles

CASES = [
    pytest.param(*setup, id=f"{name}-{i}-{setup[2]}")
    for name in registry.names()
    for i, setup in enumerate(cases.setups(name))
]


@pytest.mark.parametrize("name", registry.names())
def test_every_game_is_tested_with_options_and_spellings(name: str) -> None:
    assert cases.options(name)[0] == registry.get(name).Options()
    assert callable(cases.spellings(name))
    assert {seats for _, _, seats in cases.setups(name)} == set(registry.get(name).info.seats)


@pytest.mark.parametrize(("game", "options", "seats"), profiles.some(CASES, 15))
def test_laws(game: Game, options: Model, seats: int) -> None:
    plies = laws.check_laws(
        game,
        options=[options],
        seats=[seats],
        seeds=[1],
        spellings=cases.spellings(game.info.name),
        plies=min(100, profiles.examples(500)),  # to their end: test_plays_end_by_max_plies
    )
    assert plies > 0


@given(seed=st.integers(0, 2**31), pick=st.integers(0, 1000))
@settings(max_examples=profiles.examples(15), deadline=None)
def test_laws_at_any_seed(seed: int, pick: int) -> None:
    for name in registry.names():
        setups = list(cases.setups(name))
        game, options, seats = setups[pick % len(setups)]
        laws.check_laws(game, options=[options], seats=[seats], seeds=[seed], plies=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_plays_end_by_max_plies(name: str) -> None:
    game = registry.get(name)
    laws.check_laws(game, seeds=[3], drops=False, seats=game.info.seats[:1])


@pytest.mark.e2e
@pytest.mark.parametrize("name", registry.names())
def test_compiled_and_plain_kernels_agree(name: str) -> None:
    command = [sys.executable, "-m", "kibitz_games.conformance.laws", name, "8"]
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
    def decode(self, state: State, move: Any) -> int:
        action = super().decode(state, move)
        if action == max(self.legal(state)):
            raise IllegalAction("not today")
        return action


class _AcceptsAnything(ChineseCheckers):
    def decode(self, state: State, move: Any) -> int:
        try:
            return super().decode(state, move)
        except IllegalAction:
            return 7


class _LooksWithItsHands(ChineseCheckers):
    def view(self, state: State, seat: int | None) -> chinese_checkers_models.View:
        state["prior"] += 1
        return super().view(state, seat)


class _ForgetsOnTheWire(ChineseCheckers):
    def sample(self, view: Model, seed: int) -> State:
        assert isinstance(view, chinese_checkers_models.View)
        return super().sample(view.model_copy(update={"idle": 0}), seed)


class _NeverSaysWho(ChineseCheckers):
    def outcome(self, state: State) -> None:
        return None


_HOLES: Any = type(ChineseCheckers.notation)


class _PicksTheSourceAlone(ChineseCheckers):
    class _Picks(_HOLES):  # type: ignore[misc]
        def cells(self, move: chinese_checkers_models.Move) -> tuple[str, ...]:
            return tuple(super().cells(move)[:1])

    notation = _Picks()


class _PicksOneTargetLess(ChineseCheckers):
    class _Picks(_HOLES):  # type: ignore[misc]
        def cells(self, move: chinese_checkers_models.Move) -> tuple[str, ...]:
            cells: tuple[str, ...] = super().cells(move)
            return cells[:1] if move.target == 3 else cells

    notation = _Picks()


class _PicksWhatIsNotDrawn(ChineseCheckers):
    class _Picks(_HOLES):  # type: ignore[misc]
        def cells(self, move: chinese_checkers_models.Move) -> tuple[str, ...]:
            return (*super().cells(move), "beyond")

    notation = _Picks()


class _NamesACellTwice(ChineseCheckers):
    def scene(self, view: chinese_checkers_models.View) -> Scene:
        scene = super().scene(view)
        return replace(scene, cells=scene.cells + scene.cells[:1])


class _HidesItsForms(LineNim):
    info = replace(LineNim.info, many_forms=False)


def test_a_second_form_of_an_action_is_noticed() -> None:
    with pytest.raises(laws.ConformanceError, match="one wire form"):
        laws.check_laws(_HidesItsForms(), spellings=cases.spellings("line-nim"))


def test_a_game_that_generates_more_than_it_says_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check happens before a list of the claimed length is written."""
    game = registry.get("connect-four")
    monkeypatch.setitem(operations._max_actions, game.state_type, 5)
    with pytest.raises(laws.ConformanceError, match="it is 5, and 7 were generated"):
        laws.check_laws(game, seeds=[1])


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (_ForgetsTheKey, "incremental key"),
        (_UndoesHalf, "undo restores"),
        (_RefusesALegalMove, "not today|accepts the legal"),
        (_AcceptsAnything, "accepts the legal"),
        (_LooksWithItsHands, "queries change nothing"),
        (_ForgetsOnTheWire, r"view\(sample\(view\)\)"),
        (_NeverSaysWho, "an outcome exactly when the match is over"),
        (_PicksTheSourceAlone, "a prefix of another's"),
        (_PicksOneTargetLess, "a prefix of another's"),
        (_PicksWhatIsNotDrawn, "in the mover's scene"),
        (_NamesACellTwice, "different names"),
    ],
)
def test_a_broken_law_is_noticed(kind: type[ChineseCheckers], law: str) -> None:
    small = chinese_checkers_models.Options(size=1)
    with pytest.raises((laws.ConformanceError, IllegalAction), match=law):
        laws.check_laws(
            kind(),
            options=[small],
            seats=[2],
            seeds=range(20),
            spellings=cases.spellings("chinese-checkers"),
        )
