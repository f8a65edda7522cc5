"""Choosing a move by its places."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_clients.matches.recorded_match import build_timeline
from kibitz_clients.render.match_picture import frame_scene
from kibitz_clients.wording import move_input
from kibitz_clients.wording.move_input import MoveOption, MoveSelector
from kibitz_games.core.game import Game, IllegalAction, Model, Notation
from kibitz_games.core.scene import Cell, Scene
from kibitz_protocol.wire.recordfile import Record
from tests.tools import fake_connection as testing


def choice(text: str, *touches: str) -> MoveOption:
    return MoveOption({"text": text}, text, touches)


STEPS = [choice("a-b", "a", "b"), choice("a-c", "a", "c"), choice("d-b", "d", "b")]


def test_places_narrow_the_choice_until_one_move_is_ready() -> None:
    picker = MoveSelector(STEPS)
    assert picker.targets == {"a", "d"}
    assert picker.ready is None
    assert picker.pick("a")
    assert picker.targets == {"b", "c"}
    assert picker.ready is None
    assert picker.pick("c")
    assert picker.ready == STEPS[1]


def test_a_place_that_begins_no_move_is_not_picked() -> None:
    picker = MoveSelector(STEPS)
    assert not picker.pick("z")
    assert picker.picked == ()


def test_picking_elsewhere_begins_anew() -> None:
    picker = MoveSelector(STEPS)
    picker.pick("a")
    assert picker.pick("d")
    assert picker.picked == ("d",)


def test_another_target_replaces_the_one_that_was_picked() -> None:
    picker = MoveSelector(STEPS)
    picker.pick("a")
    picker.pick("b")
    assert picker.pick("c")
    assert picker.ready == STEPS[1]


def test_back_takes_one_place_back_and_says_when_there_is_none() -> None:
    picker = MoveSelector(STEPS)
    picker.pick("a")
    assert picker.undo_pick()
    assert not picker.undo_pick()


def test_a_move_without_places_is_ready_at_once() -> None:
    picker = MoveSelector([choice("pass")])
    assert picker.ready is not None
    assert picker.ready.text == "pass"
    assert picker.targets == frozenset()


def test_moves_with_the_same_places_are_told_apart_by_turning_over() -> None:
    picker = MoveSelector([choice("a=Q", "a"), choice("a=N", "a")])
    picker.pick("a")
    texts = []
    for _ in range(3):
        assert picker.ready is not None
        texts.append(picker.ready.text)
        picker.next_alternative()
    assert texts == ["a=Q", "a=N", "a=Q"]


def test_the_same_place_twice_is_a_move_of_its_own() -> None:
    picker = MoveSelector([choice("a", "a", "a"), choice("a-b", "a", "b")])
    assert picker.pick("a")
    assert picker.ready is None
    assert picker.targets == {"a", "b"}
    assert picker.pick("a")
    assert picker.ready == picker.options[0]
    assert picker.pick("b")
    assert picker.ready == picker.options[1]


@given(
    st.lists(
        st.lists(st.sampled_from("abcd"), max_size=3).map(tuple),
        min_size=1,
        max_size=8,
        unique=True,
    ),
    st.data(),
)
def test_every_move_can_be_picked_place_by_place(
    paths: list[tuple[str, ...]], data: st.DataObject
) -> None:
    """After any picks, undoing them and picking a choice's places leads to a move."""
    choices = [choice("-".join(path), *path) for path in paths]
    picker = MoveSelector(choices)
    for place in data.draw(st.lists(st.sampled_from("abcd"), max_size=5)):
        picker.pick(place)
    while picker.undo_pick():
        pass
    wanted = data.draw(st.sampled_from(choices))
    for place in wanted.cells:
        assert picker.pick(place)
    assert picker.ready == wanted


def test_the_choices_of_a_turn_are_its_legal_moves(game: Game, running: Record) -> None:
    turn = testing.your_turn(game, running)
    made = move_input.move_options(game, turn)
    assert [choice.action for choice in made] == turn.legal
    assert all(choice.text == "-".join(choice.cells) for choice in made)


def test_where_the_server_lists_nothing_the_rules_do(game: Game, running: Record) -> None:
    turn = testing.your_turn(game, running)
    counted = turn.model_copy(update={"legal": None, "legal_rule": "any step or hop"})
    assert move_input.move_options(game, counted) == move_input.move_options(game, turn)
    odd = counted.model_copy(update={"view": {"cells": 3}})
    assert move_input.move_options(game, odd) == ()


def test_the_example_is_one_of_the_moves(game: Game, running: Record) -> None:
    picker = MoveSelector(move_input.move_options(game, testing.your_turn(game, running)))
    assert picker.example in {choice.text for choice in picker.options}
    assert MoveSelector(()).example == ""


def test_typed_moves_are_legal_moves_or_a_sentence(game: Game, running: Record) -> None:
    picker = MoveSelector(move_input.move_options(game, testing.your_turn(game, running)))
    first = picker.options[0]
    assert move_input.parse_typed(game, picker, f" {first.text} ") == first
    assert str(move_input.parse_typed(game, picker, "0-120")).startswith(
        "0-120 is not a legal move"
    )
    assert "expected two holes such as 3-14" in str(
        move_input.parse_typed(game, picker, "rook to e4")
    )


def test_an_illegal_move_says_why_and_what_is_near(game: Game, running: Record) -> None:
    turn = testing.your_turn(game, running)
    picker = MoveSelector(move_input.move_options(game, turn))
    first = picker.options[0]
    said = str(move_input.parse_typed(game, picker, f"{first.cells[0]}-120", turn))
    why, _, near = said.partition("; similar legal moves: ")
    assert re.fullmatch(r"\d+-120 is not a legal move: .+", why)
    assert near.split(", ")[0].startswith(f"{first.cells[0]}-")


class Word(Model):
    """A move that consists only of text."""

    text: str


class Words(Notation[Word]):
    """A notation without its own parser."""

    def format(self, move: Word) -> str:
        return move.text

    def parse(self, text: str) -> Word:
        raise IllegalAction(f"{text} is no word")


WORDS = cast(Game, SimpleNamespace(Move=Word, notation=Words()))
"""The part of a game needed to parse moves."""


@pytest.mark.parametrize(
    ("moves", "typed", "meant"),
    [
        (["3-14", "31-4"], "3 14", "3-14"),
        (["3-14", "31-4"], "314", None),
        (["3-14", "3-15"], "314", "3-14"),
        (["3-14", "31-5"], "3-1 4", None),
        (["turn-right", "right"], "ri", "right"),
        (["turn-right", "turn-left"], "turn r", "turn-right"),
        (["turn-right", "turn-left"], "TURNL", "turn-left"),
        (["turn-right", "turn-left"], "t", None),
        (["a1", "a10"], "a1", "a1"),
        (["a10", "a11"], "a1", None),
        (["f7-h7", "f7"], "F7 H7", "f7-h7"),
        (["3-14"], "3 1", None),
        (["3-14"], "3", None),
        (["pass"], "", None),
        (["pass"], "--", None),
    ],
)
def test_spellings_are_understood_where_they_are_clear(
    moves: list[str], typed: str, meant: str | None
) -> None:
    picker = MoveSelector([choice(text) for text in moves])
    answer = move_input.parse_typed(WORDS, picker, typed)
    assert (answer.text if isinstance(answer, MoveOption) else None) == meant


def test_what_may_be_several_moves_names_them() -> None:
    picker = MoveSelector([choice(f"turn-{end}") for end in ("right", "left", "up", "down", "in")])
    said = move_input.parse_typed(WORDS, picker, "turn")
    assert said == "turn is ambiguous: turn-right, turn-left, turn-up or 2 more"
    said = move_input.parse_typed(WORDS, MoveSelector(picker.options[:2]), "t")
    assert said == "t is ambiguous: turn-right or turn-left"


def test_where_no_list_is_given_the_server_judges_what_is_typed(game: Game) -> None:
    typed = move_input.parse_typed(game, MoveSelector(()), "0-120")
    assert isinstance(typed, MoveOption)
    assert typed.action == {"from": 0, "to": 120}


def test_arrows_reach_every_place_of_the_star(game: Game, running: Record) -> None:
    star = frame_scene(game, build_timeline(game, running).newest)
    reached = {"60"}
    edge = ["60"]
    while edge:
        here = edge.pop()
        for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            there = move_input.neighbour_towards(star, here, across, down)
            if there is not None and there not in reached:
                reached.add(there)
                edge.append(there)
    assert reached == {cell.name for cell in star.cells}


def test_arrows_lead_to_the_next_place() -> None:
    places = {"a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (0, 1)}
    scene = Scene("square", tuple(Cell(name, x, y) for name, (x, y) in places.items()))
    assert move_input.neighbour_towards(scene, "a", 1, 0) == "b"
    assert move_input.neighbour_towards(scene, "c", -1, 0) == "b"
    assert move_input.neighbour_towards(scene, "a", 0, 1) == "d"
    assert move_input.neighbour_towards(scene, "a", 0, -1) == "a"


def test_arrows_stay_at_the_edge_and_begin_in_the_middle(game: Game, running: Record) -> None:
    star = frame_scene(game, build_timeline(game, running).newest)
    assert move_input.neighbour_towards(star, "0", 0, -1) == "0"
    assert move_input.neighbour_towards(star, None, 1, 0) == "60"
    assert move_input.neighbour_towards(Scene("hex", ()), None, 1, 0) is None


def test_choosing_begins_near_the_middle_of_the_board(game: Game, running: Record) -> None:
    star = frame_scene(game, build_timeline(game, running).newest)
    assert move_input.most_central(star, frozenset({"0", "59", "120"})) == "59"
    assert move_input.most_central(star, frozenset()) is None
    assert move_input.most_central(Scene("hex", ()), frozenset({"0"})) is None
