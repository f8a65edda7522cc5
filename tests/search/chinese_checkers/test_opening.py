"""The opening book."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.opening import BOOK, OpeningBook, following

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def ask(state: Any, seed: int = 0) -> Any:
    return OpeningBook(state).probe(state, SearchLimits(seed=seed))


@pytest.mark.parametrize("seats", [2, 3])
def test_every_line_can_be_played_to_its_end_from_every_seat(seats: int) -> None:
    for seat in range(seats):
        state = start(seats)
        op.set_side_to_move(state, np.int64(seat))
        found = ask(state, seat)
        assert found is not None
        for action in found.line:
            assert action in GAME.legal(state)
            GAME.play(state, action)
            op.set_side_to_move(state, np.int64(seat))
        assert ask(state) is None  # the line has ended


def test_the_players_turn_the_board() -> None:
    state = start()
    first = ask(state, 5)
    op.set_side_to_move(state, np.int64(1))
    second = ask(state, 5)
    turned = [(120 - action // 121) * 121 + 120 - action % 121 for action in first.line]
    assert list(second.line) == turned


def test_seeds_choose_among_lines_and_their_mirrors() -> None:
    assert len({ask(start(), seed).action for seed in range(20)}) >= 2


def test_it_is_closed_when_somebody_is_near_or_the_pegs_stand_otherwise() -> None:
    assert ask(start(6)) is None
    state = start()
    moved = ask(state).action
    others = [action for action in GAME.legal(state) if action != moved]
    books = {ask(state, seed).action for seed in range(20)}
    GAME.play(state, next(action for action in others if action not in books))
    op.set_side_to_move(state, np.int64(0))
    assert ask(state) is None


def test_there_is_no_book_for_other_boards() -> None:
    assert "no opening book for star-3-6" in str(OpeningBook.supports(start(size=3)))
    assert OpeningBook.supports(start()) is None


def test_following() -> None:
    a, b, c = (0, 0), (0, 1), (0, 2)
    line = ((a, b), (b, c))
    assert following(line, frozenset([a]), frozenset([a])) == line
    assert following(line, frozenset([a]), frozenset([b])) == line[1:]
    assert following(line, frozenset([a]), frozenset([c])) == ()


def test_the_book_says_how_it_was_made() -> None:
    read = json.loads(files("kibitz_search.chinese_checkers").joinpath(BOOK).read_text())
    command = re.fullmatch(r"python -m (\S+)( --\w+ \d+)+", read["made by"])
    assert command is not None
    assert find_spec(command[1]) is not None
    assert len(read["lines"]) >= 3
    assert all(line["score"] >= 0.5 and line["games"] for line in read["lines"])
