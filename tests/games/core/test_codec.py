"""The codec for single-integer moves, as in a minimal game."""

from __future__ import annotations

import pytest
from pydantic import Field

from kibitz_games.core.codec import IntegerCodec
from kibitz_games.core.game import IllegalAction, Model


class Column(Model):
    column: int = Field(ge=0, lt=3)


class Ranked(Model):
    rank: int = Field(ge=0, le=4)


class Pair(Model):
    x: int = Field(ge=0, lt=3)
    y: int = Field(ge=0, lt=3)


class Unbounded(Model):
    x: int


class Word(Model):
    word: str = "up"


def test_actions_are_their_own_numbers() -> None:
    codec = IntegerCodec(Column)
    assert [codec.encode(action).column for action in range(codec.count)] == [0, 1, 2]
    assert [codec.format(codec.encode(action)) for action in range(3)] == ["0", "1", "2"]
    assert codec.decode(Column(column=1), [0, 1]) == 1


def test_bounds_may_include_the_last_number() -> None:
    assert IntegerCodec(Ranked).count == 5


def test_names_are_written_and_read_with_case_forgiven() -> None:
    codec = IntegerCodec(Column, ("left", "middle", "right"))
    assert codec.format(Column(column=2)) == "right"
    assert codec.parse(" Right ") == Column(column=2)
    assert codec.encode(1) is codec.encode(1)


@pytest.mark.parametrize("text", ["", "3", "-1", "0.0", "٣", "left"])
def test_text_that_names_no_action_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="expected a column from 0 to 2, not"):
        IntegerCodec(Column).parse(text)


def test_a_move_that_is_not_legal_is_refused_with_what_is() -> None:
    codec = IntegerCodec(Column, ("a", "b", "c"))
    with pytest.raises(IllegalAction, match="expected one of a, c, not b"):
        codec.decode(Column(column=1), [0, 2])
    with pytest.raises(IllegalAction, match="the game is over"):
        codec.decode(Column(column=1), [])


@pytest.mark.parametrize("model", [Pair, Unbounded, Word])
def test_other_moves_need_a_codec_of_their_own(model: type[Model]) -> None:
    with pytest.raises(TypeError, match=r"override|upper bound"):
        IntegerCodec(model)


def test_every_action_needs_a_name() -> None:
    with pytest.raises(TypeError, match="names for 3 actions, not 2"):
        IntegerCodec(Column, ("a", "b"))
