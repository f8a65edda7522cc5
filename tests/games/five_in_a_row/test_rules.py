"""The rules compared with a plain reference and published figures, and common pitfalls."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.conformance import laws
from kibitz_games.core.game import TERMINAL, GameError, Outcome, State
from kibitz_games.five_in_a_row import GAME, geometry, rules
from kibitz_games.five_in_a_row import models as five_in_a_row_models
from tests.games.five_in_a_row.reference import Place, Reference, name, place, windows
from tests.tools import profiles

i64 = kernels.int64_cast()


def _start(**options: Any) -> State:
    model = five_in_a_row_models.Options.model_validate({"first": "seat-0"} | options)
    return GAME.start(model, 2, {})


def _do(state: State, *moves: str) -> None:
    for move in moves:
        GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))


def _texts(state: State) -> list[str]:
    return [GAME.notation.format(GAME.encode(state, action)) for action in GAME.legal(state)]


def _said(move: Place | str) -> str:
    return move if isinstance(move, str) else name(move)


def _result(state: State) -> tuple[str, int | None]:
    view = GAME.view(state, None)
    return view.over or "", view.winner


def _alternate(black: Iterable[Place], white: Iterable[Place]) -> list[str]:
    """Return a playing order of stones of both colors; black may have one more."""
    first, second = list(black), list(white)
    stones = [stone for pair in zip(first, second, strict=False) for stone in pair]
    return [name(stone) for stone in stones + first[len(second) :]]


def _scattered(size: int, taken: Iterable[Place]) -> list[Place]:
    """Return places such that no run of five contains more than one."""
    board = ((x, y) for y in range(size) for x in range(size) if (x + 2 * y) % 5 == 0)
    return [spot for spot in board if spot not in set(taken)]


# ------------------------------------------------------------------------------ the reference

OPTIONS = st.fixed_dictionaries(
    {
        "size": st.integers(5, 8),
        "exact": st.booleans(),
        "dead_board_draw": st.booleans(),
        "swap": st.booleans(),
        "first": st.sampled_from(["seat-0", "seat-1"]),
    }
)


def _follow(options: dict[str, Any], source: random.Random) -> str:
    """Play the same moves in the game and in the reference; return why the play ended."""
    state = _start(**options)
    known = {key: value for key, value in options.items() if key != "first"}
    plain = Reference(opener=int(options["first"][-1]), **known)
    while True:
        assert GAME.to_act(state) == plain.to_act
        assert _texts(state) == [_said(move) for move in plain.legal]
        assert GAME.count_legal(state) == len(plain.legal)
        assert _result(state) == (plain.reason, plain.winner)
        if plain.reason:
            return plain.reason
        action = laws.epsilon_greedy(state, GAME.legal(state), source, noise=0.5)
        text = GAME.notation.format(GAME.encode(state, action))
        GAME.play(state, action)
        plain.play(text if text in five_in_a_row_models.COLOURS else place(text))


@given(options=OPTIONS, source=st.randoms(use_true_random=False))
@settings(max_examples=profiles.examples(40), deadline=None)
def test_plays_go_as_in_the_reference(options: dict[str, Any], source: random.Random) -> None:
    _follow(options, source)


def test_such_plays_see_every_end() -> None:
    """The property above would be weak if all plays ended the same way."""
    ends = {
        _follow({"size": 5, "dead_board_draw": dead, "first": "seat-1"}, random.Random(seed))
        for dead in (False, True)
        for seed in range(8)
    }
    assert ends == {"five", "full", "dead"}


@given(
    size=st.integers(5, 7),
    exact=st.booleans(),
    share=st.floats(0.3, 0.95),
    source=st.randoms(use_true_random=False),
)
@settings(max_examples=profiles.examples(80), deadline=None)
def test_open_windows_are_those_of_the_reference(
    size: int, exact: bool, share: float, source: random.Random
) -> None:
    """Each window individually, on randomly filled boards; existing fives do not matter."""
    board = [(x, y) for y in range(size) for x in range(size)]
    stones = source.sample(board, round(share * len(board)))
    plain = Reference(size=size, exact=exact, opening=stones)
    state: Any = _start(size=size, exact=exact)
    for stone in stones:
        rules.place_opening_stone(state, geometry.cell(*stone))
    cells = {frozenset(geometry.cell(*spot) for spot in row) for row in plain.open_windows()}
    found = {
        frozenset(window)
        for window in geometry.windows(size)
        if rules.is_open(state, window[0], window[1] - window[0])
    }
    assert found == cells
    assert bool(rules.any_window_open(state)) == bool(cells)


# ----------------------------------------------------------------------------------- fives


@pytest.mark.parametrize("colour", five_in_a_row_models.COLOURS)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [5, 6, 20])
def test_every_window_wins_whichever_stone_comes_last(size: int, exact: bool, colour: str) -> None:
    """All directions, all edges and corners."""
    rows = windows(size)
    for row in rows if size < 20 else rows[::7]:
        for last in row:
            four = [spot for spot in row if spot != last]
            others = _scattered(size, row)
            if size == 5:  # too small for others that far apart
                others = [
                    s for s in ((0, 1), (2, 0), (4, 2), (1, 4), (3, 3), (2, 2)) if s not in row
                ]
                others += [s for s in ((1, 0), (0, 3), (4, 1), (3, 4)) if s not in row]
            first = (four, others[:4]) if colour == "black" else (others[:5], four)
            state = _start(size=size, exact=exact, opening=_alternate(*first))
            assert GAME.outcome(state) is None
            _do(state, name(last))
            assert _result(state) == ("five", five_in_a_row_models.COLOURS.index(colour))
            assert sorted(GAME.view(state, None).line or []) == sorted(row)


def _gap(row: str, **options: Any) -> State:
    """Return a position with black stones at each x of row 10; black fills the gap _."""
    black = [(x, 9) for x, what in enumerate(row) if what == "x"]
    white = [(x, 9) for x, what in enumerate(row) if what == "o"]
    spare = [spot for spot in _scattered(20, black) if spot[1] not in (8, 9, 10)]
    white += spare[: len(black) - len(white)]
    state = _start(size=20, opening=_alternate(black, white), **options)
    _do(state, name((row.index("_"), 9)))
    return state


@pytest.mark.parametrize(
    ("row", "free", "exact"),
    [
        ("..xx_xx", True, True),
        ("..xx_x", False, False),
        ("xxxx_", True, True),
        ("..xxx_xx", True, False),  # six
        ("x_xxxxo", True, False),
        ("xxxx_xxxx", True, False),  # nine
        ("oxxxx_o", True, True),  # closed at both ends
        ("xxxx_.xx", True, True),
    ],
)
def test_overlines(row: str, free: bool, exact: bool) -> None:
    """Freestyle: five or more win. Exact: only five win, blocked or not."""
    assert (_result(_gap(row))[0] == "five") == free
    assert (_result(_gap(row, exact=True))[0] == "five") == exact


def test_an_overline_on_one_line_and_a_five_on_another_win_in_exact_play() -> None:
    across = [(x, 5) for x in (1, 2, 3, 5, 6)]  # with e6 a row of six
    down = [(4, y) for y in (6, 7, 8, 9)]  # with e6 a column of five
    white = _scattered(12, [*across, *down, (4, 5)])[:9]
    state = _start(size=12, exact=True, opening=_alternate([*across, *down], white))
    _do(state, "e6")
    assert _result(state) == ("five", 0)
    assert GAME.view(state, None).line == [(4, y) for y in (5, 6, 7, 8, 9)]


def test_the_line_is_the_whole_row() -> None:
    assert GAME.view(_gap("xxxx_xxxx"), None).line == [(x, 9) for x in range(9)]


# ----------------------------------------------------------------------------------- draws


def _without_a_five(size: int) -> list[str]:
    """Return the cells of a board in an order that fills it without a five."""
    board = [(x, y) for y in range(size) for x in range(size)]
    black = [(x, y) for x, y in board if (x // 2 + y) % 2 == 0]
    return _alternate(black, [spot for spot in board if spot not in black])


@pytest.mark.parametrize("size", [6, 7, 10, 20])
def test_a_full_board_is_a_draw(size: int) -> None:
    state, order = _start(size=size), _without_a_five(size)
    _do(state, *order[:-1])
    assert GAME.outcome(state) is None
    _do(state, order[-1])
    outcome = GAME.outcome(state)
    assert outcome == Outcome((1, 1), (0.5, 0.5), "full")
    assert GAME.view(state, None).winner is None


@pytest.mark.parametrize("size", [6, 10, 20])
def test_a_dead_board_is_a_draw_at_once_and_only_if_the_host_says_so(size: int) -> None:
    state, order = _start(size=size, dead_board_draw=True), _without_a_five(size)
    done = 0
    while GAME.to_act(state) != TERMINAL:
        _do(state, order[done])
        done += 1
    assert GAME.outcome(state) == Outcome((1, 1), (0.5, 0.5), "dead")
    stones = [place(text) for text in order[:done]]
    assert not Reference(size=size, opening=stones).open_windows()
    assert Reference(size=size, opening=stones[:-1]).open_windows()
    assert 2 * size * (size // 5) <= done < size * size


def test_a_five_with_the_last_stone_of_the_board_is_a_win() -> None:
    rows = ("xxxx.", "ooxoo", "xxoox", "ooxoo", "xooxx")
    stones = {(x, y): what for y, row in enumerate(rows) for x, what in enumerate(row)}
    black, white = ([spot for spot in stones if stones[spot] == colour] for colour in "xo")
    state = _start(size=5, opening=_alternate(black, white))
    assert _texts(state) == ["e1"]
    _do(state, "e1")
    assert _result(state) == ("five", 0)


def test_a_row_between_own_stones_is_closed_where_exactly_five_are_needed() -> None:
    """An edge case of a dead board: an empty window with a stone of each color beyond it."""
    state: Any = _start(size=7, exact=True, opening=["a4", "g4"])
    assert not rules.is_open(state, geometry.cell(1, 3), 1)
    free: Any = _start(size=7, opening=["a4", "g4"])
    assert rules.is_open(free, geometry.cell(1, 3), 1)


# ------------------------------------------------------------------------- published figures


@kernel
def _random_games(st: Any, moves: Any, seed: Int, games: Int, sums: Any) -> Int:
    """Play randomly and undo everything; sum up lengths, their squares and black's wins."""
    played = np.zeros(moves.shape[0], np.int64)
    for _ in range(games):
        ply = 0
        while not op.terminal(st):
            n = op.generate(st, moves)
            seed = i64((seed * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF)
            played[ply] = moves[(seed >> 33) % n]
            op.play(st, played[ply])
            ply += 1
        sums[0] += ply
        sums[1] += ply * ply
        sums[2] += i64(st.winner == st.black)
        while ply > 0:
            ply -= 1
            op.undo(st, played[ply])
    return seed


@pytest.mark.slow
def test_random_games_last_62_plies_and_the_first_player_wins_52_percent() -> None:
    """The bounds are half a unit of the published figure plus four standard errors."""
    games = 20_000 if kernels.compiled() else 200
    state, sums = _start(), np.zeros(3, np.int64)
    before = state.tobytes()
    moves = np.zeros(op.max_actions(state.dtype), np.int32)
    _random_games(state, moves, i64(1), i64(games), sums)
    assert state.tobytes() == before
    length, share = sums[0] / games, sums[2] / games
    deviation = math.sqrt(sums[1] / games - length**2)
    assert abs(length - 62) < 0.5 + 4 * deviation / math.sqrt(games)
    assert abs(share - 0.52) < 0.005 + 4 * 0.5 / math.sqrt(games)


# ------------------------------------------------------------------------------ who has what


def test_the_start_is_drawn_from_the_seed() -> None:
    options = five_in_a_row_models.Options()
    deals = [GAME.deal(options, 2, seed) for seed in range(200)]
    assert deals == [GAME.deal(options, 2, seed) for seed in range(200)]
    assert 70 < sum(deal["first"] == 1 for deal in deals) < 130
    for deal in ({"first": 0}, {"first": 1}):
        state = GAME.start(options, 2, deal)
        assert GAME.to_act(state) == deal["first"]
        colours = GAME.view(state, None).colours
        assert colours is not None
        assert colours[int(deal["first"] == 1)] == "black"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_host_may_say_who_begins(seat: int) -> None:
    options = five_in_a_row_models.Options.model_validate({"first": f"seat-{seat}"})
    assert GAME.deal(options, 2, 7) == {}
    assert GAME.to_act(GAME.start(options, 2, {})) == seat


def test_stones_of_an_opening_alternate_and_are_no_plies() -> None:
    state = _start(opening=["h8", "g7", "a1"])
    view = GAME.view(state, None)
    assert (view.board[7][7], view.board[6][6], view.board[0][0]) == ("x", "o", "x")
    assert (view.ply, view.opening, view.to_act, view.last) == (0, 3, 1, None)
    assert GAME.count_legal(state) == 97


@pytest.mark.parametrize("choice", five_in_a_row_models.COLOURS)
@pytest.mark.parametrize("opener", [0, 1])
def test_swap(opener: int, choice: str) -> None:
    """The opener places three stones, the other player chooses a color, and white moves next."""
    state, other = _start(swap=True, first=f"seat-{opener}"), 1 - opener
    for move in ("a1", "b1", "c1"):
        assert GAME.to_act(state) == opener
        assert GAME.view(state, None).colours is None
        _do(state, move)
    assert (GAME.to_act(state), _texts(state)) == (other, ["black", "white"])
    _do(state, choice)
    view = GAME.view(state, None)
    assert view.board[0] == "xox......."
    assert view.colours is not None
    assert view.colours[other] == choice
    assert view.last == five_in_a_row_models.Move.model_validate({"colour": choice})
    assert GAME.to_act(state) == view.colours.index("white")
    _do(state, "d1")
    assert GAME.view(state, None).board[0] == "xoxo......"
    assert GAME.to_act(state) == view.colours.index("black")


def test_a_swap_changes_who_wins() -> None:
    state = _start(swap=True)
    _do(state, "a1", "a10", "b1", "black", "b10", "c1", "c10", "d1", "d10", "e1")
    assert _result(state) == ("five", 1)


def test_positions_that_differ_only_in_who_has_what_have_different_keys() -> None:
    keys = set()
    for swap, choice in ((False, ""), (True, ""), (True, "black"), (True, "white")):
        for first in ("seat-0", "seat-1"):
            state: Any = _start(swap=swap, first=first)
            _do(state, "a1", "b1", "c1", *choice.split())
            keys.add(int(state.key))
    assert len(keys) == 4  # after a choice everything is as without a swap


def test_the_order_of_stones_does_not_matter_to_the_key() -> None:
    states: list[Any] = [_start(), _start()]
    _do(states[0], "a1", "b1", "c1", "d1")
    _do(states[1], "c1", "d1", "a1", "b1")
    assert states[0].key == states[1].key


@pytest.mark.parametrize("seat", [0, 1])
def test_who_drops_has_lost(seat: int) -> None:
    state = _start()
    _do(state, "a1")
    GAME.forfeit(state, seat)
    assert _result(state) == ("dropped", 1 - seat)
    GAME.forfeit(state, 1 - seat)
    assert _result(state) == ("dropped", 1 - seat)


def test_there_are_two_seats() -> None:
    with pytest.raises(GameError, match="expected a seat from 0 to 1, not 2"):
        GAME.forfeit(_start(), 2)


def test_a_state_is_small() -> None:
    assert rules.STATE.itemsize <= 2 * 1024


def test_order_prefers_to_win_then_to_block() -> None:
    state = _start()
    _do(state, "a1", "a10", "b1", "b10", "c1", "c10", "d1", "d10")
    liked = sorted(GAME.legal(state), key=lambda action: -int(op.move_score(state, action)))
    texts = [GAME.notation.format(GAME.encode(state, action)) for action in liked]
    assert texts[:2] == ["e1", "e10"]


def _completing(state: Any, colour: int) -> set[int]:
    """Return the cells in which a stone of `colour` would make a five, by trying each."""
    found = set()
    for cell in GAME.legal(state):
        st: Any = state.copy()
        st.board[cell] = colour
        if rules.winning_step(st, i64(cell)):
            found.add(cell)
    return found


@pytest.mark.parametrize("exact", [False, True])
def test_urgent_are_the_own_five_or_else_the_cells_of_the_others(exact: bool) -> None:
    """If both have answered earlier threats, so that no older fours are left."""
    seen, moves = [0, 0, 0], np.zeros(rules.MAX_ACTIONS, np.int32)
    for seed in range(10):
        state: Any = _start(size=8, exact=exact)
        chance = random.Random(seed)
        while GAME.outcome(state) is None:
            mine = rules.BLACK + int(state.stones) % 2
            found = moves[: op.tactical_moves(state, moves)].tolist()
            own, others = _completing(state, mine), _completing(state, 3 - mine)
            if own:
                assert len(found) == 1
                assert found[0] in own
            else:
                assert sorted(found) == sorted(others)
            seen[min(len(found), 2)] += 1
            near = sorted(GAME.legal(state), key=lambda cell: -int(op.move_score(state, i64(cell))))
            GAME.play(state, chance.choice(found or near[:6]))
    assert min(seen) > 0


def test_nothing_is_urgent_before_colours_are_chosen_or_when_it_is_over() -> None:
    moves = np.zeros(rules.MAX_ACTIONS, np.int32)
    state = _start(swap=True)
    assert op.tactical_moves(state, moves) == 0
    _do(state, "a1", "a2", "a3")
    assert op.tactical_moves(state, moves) == 0
