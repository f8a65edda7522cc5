"""Monte Carlo tree search."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest

from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_games.line_nim import geometry as lines
from kibitz_games.line_nim import maps
from kibitz_games.line_nim import rules as nim
from kibitz_search.algorithms.limits import SearchLimits, StateSampler
from kibitz_search.algorithms.mcts import EXPLORATION, MAX_DEPTH, NODE, PROVEN_LOSS, Mcts
from kibitz_search.cancellation import CancelToken
from kibitz_search.chinese_checkers.evaluation import hand
from kibitz_search.five_in_a_row import evaluation as five_in_a_row_evaluation
from kibitz_search.line_nim import evaluation as line_nim_evaluation
from kibitz_search.number_merge import evaluation as number_merge_evaluation
from kibitz_search.tanks import evaluation as tanks_evaluation
from tests.search.algorithms import reference as plain
from tests.search.algorithms.reference import CHECKERS


def tree(search: Mcts) -> Any:
    """Return the nodes in use."""
    return search._nodes[: int(search._ws.used)]


@pytest.mark.parametrize("seats", [2, 3, 6])
@pytest.mark.parametrize(
    "manner",
    [{}, {"widen": 0.0}, {"implicit": 0.3, "plies": 0}, {"history": 0.0, "plies": 1000}],
    ids=["usual", "all", "implicit", "to-the-end"],
)
def test_visits_add_up_and_the_state_is_left_as_it_was(seats: int, manner: dict[str, Any]) -> None:
    state = plain.start(seats, size=2)
    before = state.tobytes()
    search = Mcts(state, iterations=200, **manner)
    found = search.search(state, hand(state), SearchLimits())
    assert state.tobytes() == before
    assert found.nodes == 200 == tree(search)[0].visits
    children = search._children(0)
    assert sum(int(search._nodes[each].visits) for each in children) == 200
    assert {int(search._nodes[each].action) for each in children} <= set(plain.actions(state))
    assert sum(found.values) == pytest.approx(seats / 2, abs=0.2)  # late ends score slightly less
    assert 0 <= found.value <= 1
    visits = {int(search._nodes[c].action): int(search._nodes[c].visits) for c in children}
    assert visits[found.action] == max(visits.values())


@pytest.mark.parametrize("seats", [2, 6])
def test_without_being_told_it_explores_as_much_as_served_best(seats: int) -> None:
    state = plain.start(seats, size=2)
    usual, told, other = (
        Mcts(state, iterations=300, explore=explore).search(state, hand(state), SearchLimits())
        for explore in (None, EXPLORATION[seats], 3.0)
    )
    assert usual == told != other


def test_a_line_is_played_in_turn() -> None:
    for st in plain.some(3, 3, size=2):
        for action in Mcts(st, iterations=300).search(st, hand(st), SearchLimits()).line:
            assert action in CHECKERS.legal(st)
            st = plain.after(st, action)


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_it_wins_at_once_if_it_can(seats: int) -> None:
    for seed in range(3):
        *_, last = plain.positions(seats, seed, size=2)
        found = Mcts(last, iterations=50).search(last, hand(last), SearchLimits(seed=seed))
        assert plain.after(last, found.action).rank[int(op.to_act(last))] > 0


def test_the_seed_repeats_the_play_and_another_one_does_not() -> None:
    state = plain.start(3)
    search = Mcts(state, iterations=300)
    founds = [search.search(state, hand(state), SearchLimits(seed=seed)) for seed in (1, 2, 1)]
    assert (founds[0].line, founds[0].values) == (founds[2].line, founds[2].values)
    assert founds[0].values != founds[1].values
    fresh = Mcts(state, iterations=300).search(state, hand(state), SearchLimits(seed=2))
    assert (fresh.line, fresh.values) == (founds[1].line, founds[1].values)


def subtree(search: Mcts, node: int) -> Any:
    """Return what the tree knows below a node, as nested lists."""
    nodes: Any = search._nodes
    each = nodes[node]
    facts = float(each.total), float(each.exact), int(each.visits), int(each.open)
    below = [(int(nodes[c].action), subtree(search, c)) for c in search._children(node)]
    return [*facts, below]


def follow(search: Mcts, state: Any, plies: int) -> tuple[int, Any]:
    """Go down the most visited children; return the last node and its position."""
    node = 0
    for _ in range(plies):
        nodes: Any = search._nodes
        node = max(search._children(node), key=lambda c: int(nodes[c].visits))
        state = plain.after(state, int(search._nodes[node].action))
    return node, state


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_the_tree_below_the_new_position_is_kept(seats: int) -> None:
    state = plain.start(seats, size=2)
    ev = hand(state)
    searches = [Mcts(state, iterations=3000, widen=0.3) for _ in range(2)]
    for search in searches:
        search.search(state, ev, SearchLimits())
    node, later = follow(search, state, seats)
    known = subtree(search, node)
    assert searches[0]._advance(later, ev)
    assert subtree(searches[0], 0) == known
    assert 1 < int(searches[0]._ws.used) < 3000
    found = searches[1].search(later, ev, SearchLimits(nodes=100))
    assert found.nodes == 100
    assert found.action in plain.actions(later)
    assert int(tree(searches[1])[0].visits) == int(known[2]) + 100


def test_what_the_tree_does_not_contain_is_searched_anew() -> None:
    """The same position, one outside the tree, an earlier one, and another evaluation."""
    state = plain.start(2, size=2)
    ev = hand(state)
    search = Mcts(state, iterations=50, widen=0.1)
    search.search(state, ev, SearchLimits())
    tried = {int(search._nodes[c].action) for c in search._children(0)}
    outside = next(a for a in plain.actions(state) if a not in tried)
    far = plain.after(state, outside)
    _, near = follow(search, state, 2)
    for position, by in ((state, ev), (far, ev), (state, ev), (near, hand(state))):
        search.search(position, by, SearchLimits())
        assert int(tree(search)[0].visits) == 50
        assert (
            tree(search)[0].visits
            == Mcts(state, iterations=50, widen=0.1).search(position, by, SearchLimits()).nodes
        )


def test_a_proven_tree_is_not_kept() -> None:
    state = row(1, 1, 2, 3, 5, 8)
    ev = number_merge_evaluation.points(state)
    search = Mcts(state, iterations=20_000)
    search.search(state, ev, SearchLimits())
    node, later = follow(search, state, 1)
    if search._nodes[node].exact >= 0:
        assert not search._advance(later, ev)
    found = search.search(later, ev, SearchLimits())
    assert found.nodes > 0
    assert found.value == pytest.approx(plain.exact(later), abs=0.01)


def test_worlds_of_a_game_with_hidden_information_are_searched_anew() -> None:
    state = battle()
    view = TANKS.view(state, TANKS.to_act(state))
    search, ev = Mcts(state, iterations=64), tanks_evaluation.hand(state)
    for _ in range(2):
        search.search(state, ev, SearchLimits(sample=lambda seed: TANKS.sample(view, seed)))
        assert int(tree(search)[0].visits) == 64
        state = plain.after(state, plain.actions(state)[0])


def row(*numbers: int) -> Any:
    game: Any = registry.get("number-merge")
    return Position(game, game.Options(row=numbers)).state


@pytest.mark.parametrize(
    "numbers", [(3, 1, 4, 1, 5), (2, 7, 1, 8, 2, 8), (1, 1, 2, 3, 5, 8), (9, 1, 1, 1, 1, 9)]
)
def test_number_merge_is_proven_to_the_end(numbers: tuple[int, ...]) -> None:
    state = row(*numbers)
    wanted = plain.exact(state)
    search = Mcts(state, iterations=20_000)
    found = search.search(state, number_merge_evaluation.points(state), SearchLimits())
    assert found.value == pytest.approx(wanted, abs=0.01)
    after = plain.after(state, found.action)
    assert 1 - plain.exact(after) == wanted
    assert found.nodes < 20_000 or wanted == 0.5  # after a draw it still expects more


@pytest.mark.parametrize("stretches", [("a1-e1",), ("a1-c1", "a3-c3"), ("e5-h5", "f6")])
@pytest.mark.parametrize("widen", [0.0, 1.0])
def test_line_nim_is_proven_to_the_end(stretches: tuple[str, ...], widen: float) -> None:
    cells = [cell for each in stretches for cell in lines.parse_row(each) or ()]
    state = nim.make_state(cells)
    wanted = plain.exact(state)
    search = Mcts(state, iterations=200_000, widen=widen, epsilon=1.0)
    found = search.search(state, line_nim_evaluation.parts(state), SearchLimits())
    assert found.value == pytest.approx(wanted, abs=0.01)
    if wanted == 1.0:
        assert plain.exact(plain.after(state, found.action)) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("widen", [0.0, 1.0])
def test_what_is_proven_to_lose_is_not_played_while_anything_else_is_left(widen: float) -> None:
    """Even after few iterations: the tree may lack the winning move, but the rules show it."""
    untried = 0
    for seed in range(40):
        cells = random.Random(seed).sample(maps.grow(seed, 16), 2 + seed % 5)
        state = nim.make_state(cells)
        search, ev = (
            Mcts(state, widen=widen, plies=50, epsilon=1.0),
            line_nim_evaluation.parts(state),
        )
        for iterations in (*range(1, 20), 40, 80):
            search._max_iterations = iterations
            found = search.search(state, ev, SearchLimits(seed=seed))
            nodes: Any = search._nodes
            exact = {int(nodes[c].action): float(nodes[c].exact) for c in search._children(0)}
            lost = {action for action, share in exact.items() if 0 <= share < PROVEN_LOSS}
            assert found.action not in lost or lost == set(plain.actions(state))
            untried += found.action not in exact
    assert untried


def test_the_tree_keeps_within_its_table() -> None:
    state = plain.start(2)
    search = Mcts(state, table=64 * NODE.itemsize / 2**20, iterations=2000)
    found = search.search(state, hand(state), SearchLimits())
    assert len(tree(search)) == 64
    assert found.nodes == 2000
    assert found.action in plain.actions(state)
    least = Mcts(state, table=0, iterations=50).search(state, hand(state), SearchLimits())
    assert least.action in plain.actions(state)


def test_the_depth_bounds_the_tree() -> None:
    state = plain.start(2, size=2)
    search = Mcts(state, iterations=2000)
    assert search.search(state, hand(state), SearchLimits(depth=2)).depth == 2
    assert 2 < search.search(state, hand(state), SearchLimits()).depth <= MAX_DEPTH


def test_time_and_a_turn_that_is_called_off_end_it() -> None:
    state, flag = plain.start(3), CancelToken()
    search = Mcts(state)
    search.search(state, hand(state), SearchLimits(seconds=0))
    began = time.monotonic()
    assert search.search(state, hand(state), SearchLimits(seconds=0.05)).nodes > 0
    flag.set()
    found = search.search(state, hand(state), SearchLimits(cancelled=flag))
    assert found.action in plain.actions(state)
    assert time.monotonic() - began < 5


def test_a_move_without_alternative_takes_no_time() -> None:
    state = nim.make_state(lines.parse_row("a1") or ())
    found = Mcts(state).search(state, line_nim_evaluation.parts(state), SearchLimits())
    assert (found.nodes, found.line) == (0, (found.action,))


def test_five_in_a_row_is_played_without_standing_still() -> None:
    game: Any = registry.get("five-in-a-row")
    options = game.Options(opening=("e5", "a1", "f5", "b1", "g5", "c1"))
    state = game.start(options, 2, game.deal(options, 2, 0))
    found = Mcts(state, iterations=3000, scale=50).search(
        state, five_in_a_row_evaluation.usual(state), SearchLimits()
    )
    assert game.notation.format(game.encode(state, found.action)) in ("d5", "h5")


TANKS: Any = registry.get("tanks")


def battle(*words: str, **options: Any) -> Any:
    play = Position(TANKS, TANKS.Options(**options))
    for word in words:
        play.push_move(word)
    return play.state


def test_where_something_is_hidden_only_samples_are_looked_at() -> None:
    """The given state has been corrupted; only the worlds of `sample` matter."""
    state = battle("right", "left", "left")
    view = TANKS.view(state, TANKS.to_act(state))
    asked: list[int] = []

    def sample(seed: int) -> Any:
        asked.append(seed)
        return TANKS.sample(view, seed)

    search, ev = Mcts(state, iterations=160, batch=16), tanks_evaluation.hand(state)
    honest = search.search(state, ev, SearchLimits(seed=3, sample=sample))
    spoilt = state.copy()
    spoilt["side"], spoilt["board"][:], spoilt["place"][:] = -1, -4, 0
    blind = search.search(spoilt, ev, SearchLimits(seed=3, sample=sample))
    assert (honest.line, honest.values) == (blind.line, blind.values)
    assert len(set(asked)) == 10 + 1
    assert honest.nodes == 160


def planted(world: Any) -> StateSampler:
    return lambda seed: world


def test_what_is_planted_into_the_worlds_decides() -> None:
    """It fires if a tank is in its line of fire in every world, and not in an empty world."""
    ahead, empty = battle(start="table1", rocks="none"), battle()
    for world, fires in ((ahead, True), (empty, False)):
        search = Mcts(world, iterations=3000, scale=20, plies=4)
        found = search.search(
            empty, tanks_evaluation.hand(world), SearchLimits(sample=planted(world))
        )
        assert (TANKS.notation.format(TANKS.encode(world, found.action)) == "fire") == fires


def test_an_action_counts_as_passed_over_only_where_it_was_possible() -> None:
    """The first action is missing in every other world, which its availability shows."""
    worlds = [
        nim.make_state(lines.parse_row("a1-d1") or ()),
        nim.make_state(lines.parse_row("b1-d1") or ()),
    ]
    search = Mcts(worlds[0], iterations=400, batch=1)
    asked: list[int] = []

    def sample(seed: int) -> Any:
        asked.append(seed)
        return worlds[seed % 2]

    search.search(worlds[0], line_nim_evaluation.parts(worlds[0]), SearchLimits(sample=sample))
    common = set(plain.actions(worlds[1]))
    for child in search._children(0):
        seen = int(search._nodes[child].seen)
        assert int(search._nodes[child].visits) <= seen
        assert seen > 350 if int(search._nodes[child].action) in common else seen <= 200


def test_memory_is_not_taken_before_it_is_needed() -> None:
    state = plain.start(2)
    search = Mcts(state, table=1)
    assert search._nodes.nbytes <= 2**20
    assert np.count_nonzero(search._nodes["visits"]) == 0


@pytest.mark.parametrize("seats", [3, 6])
def test_where_every_action_ends_the_play_in_the_last_place_one_is_played(seats: int) -> None:
    state = plain.start(seats, size=2)
    start = state.copy()
    ahead = [seat for seat in range(seats) if seat != int(op.to_act(state))]
    state.distance[ahead] = 1
    state.ply = rules.MAX_PLIES - 1
    found = Mcts(state, iterations=500).search(state, hand(start), SearchLimits())
    assert found.action in plain.actions(state)
    assert found.value < PROVEN_LOSS
