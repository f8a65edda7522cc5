"""Networks of Tanks: their actions and their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_games.tanks import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.tanks import networks, weights_file
from kibitz_search.weights import WeightsError

GAME: Any = registry.get("tanks")


def _by_numpy(weights: Any, scale: float, codes: list[list[int]]) -> int:
    """Return the report's network's action, computed with matrices."""
    first, second, biases = np.split(weights, [2250, 2320])
    hidden = np.tanh(first.reshape(10, 225) @ (scale * np.ravel(codes)) + biases[:10])
    return int(np.argmax(second.reshape(7, 10) @ hidden + biases[10:])) + rules.UP


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["codes", "scaled"])
def test_the_reports_network_is_two_matrices_on_the_local_board(reading: str) -> None:
    source = np.random.default_rng(5)
    actions = set()
    for memory in rules.MEMORIES:
        play = Position(GAME, GAME.Options(memory=memory))
        for _ in range(60):
            weights = source.normal(size=networks.REPORT_WEIGHTS) / 10
            ev = weights_file.evaluation(weights_file.report_file(weights.tolist(), reading))
            state = play.state
            found = networks.ReportNetwork(state).search(state, ev(state), SearchLimits()).action
            local = GAME.view(state, GAME.to_act(state)).local
            assert found == _by_numpy(weights, weights_file.SCALES[reading], local)
            actions.add(found)
            play.push_move(GAME.notation.format(GAME.encode(state, int(source.integers(1, 8)))))
    assert len(actions) == 7


@pytest.mark.slow
def test_masks_keep_the_tank_from_closed_places_and_from_shots_at_nothing() -> None:
    source = np.random.default_rng(6)
    play = Position(GAME, GAME.Options(turns=400))
    fired = 0
    while GAME.to_act(play.state) != TERMINAL:
        state, seat = play.state, GAME.to_act(play.state)
        mind = networks.new_mind()
        action = int(networks.eyes_action(mind, source.normal(size=networks.EYES_WEIGHTS), state))
        here, hull = int(state["place"][seat]), int(state["hull"][seat])
        if action <= rules.LEFT:
            there = here + int(rules.AHEAD[rules.DIRECTION[action]])
            assert state["board"][there] != rules.EDGE
            assert state["memory"][seat, there] in (rules.FREE, rules.UNKNOWN)
        elif action == rules.FIRE:
            fired += 1
            assert state["memory"][seat, rules.first_obstacle(state["board"], here, hull)] > 0
        play.push_move(GAME.notation.format(GAME.encode(state, action)))
    assert fired > 0


def test_a_place_where_the_tank_got_stuck_is_closed_for_a_while() -> None:
    state = Position(GAME, GAME.Options()).state
    mind = networks.new_mind()
    weights = np.zeros(networks.EYES_WEIGHTS)
    weights[-networks.WORTHS + networks.GO] = 1.0  # any move is better than any turn
    assert networks.eyes_action(mind, weights, state) == rules.UP
    # It has not moved and its state is the same, so it is blocked.
    assert networks.eyes_action(mind, weights, state) == rules.RIGHT
    mind.until[:] = 0
    mind.tried = 0
    assert networks.eyes_action(mind, weights, state) == rules.UP


def test_files_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    good = weights_file.eyes_file([0.0] * networks.EYES_WEIGHTS)
    for file, message in (
        (weights_file.eyes_file([0.0]), "expected 451 weights, not 1"),
        (weights_file.report_file([0.0], "codes"), "expected 2337 weights, not 1"),
        (weights_file.report_file([0.0], "raw"), "expected the input codes or scaled, not raw"),
        (good.model_copy(update={"game": "halma", "hash": ""}), "expected the game tanks"),
        (
            good.model_copy(update={"kind": "hole-distances", "hash": ""}),
            "expected the kind eyes-network or report-network, not hole-distances",
        ),
        (weights_file.eyes_file([1e300] * networks.EYES_WEIGHTS), "expected weights from -1e.06"),
        (good.model_copy(update={"shape": {}, "hash": ""}), "expected a network of"),
    ):
        path.write_text(file.model_dump_json())
        with pytest.raises(WeightsError, match=message):
            weights_file.read(path)
    path.write_text("{")
    with pytest.raises(WeightsError, match=r"best\.json: expected a weights file"):
        weights_file.read(path)


@pytest.mark.parametrize("name", ["ann", "ann-report", "ann-report-scaled"])
def test_the_networks_that_come_with_the_package_play(name: str) -> None:
    file = weights_file.read(weights_file.SHIPPED / f"{name}.json")
    assert file.command.startswith("kibitz train tanks/")
    ev, state = weights_file.shipped(name), Position(GAME, GAME.Options()).state
    action = weights_file.player(file)(state).search(state, ev(state), SearchLimits()).action
    assert action in GAME.legal(state)
