"""Networks of Tanks: what they do, their games, their evolution, and their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled.mode import compiled
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_games.tanks import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.tanks import networks, training_runs, weights_file
from kibitz_search.tanks.network_games import NetworkGames
from kibitz_search.tanks.neuroevolution import ReportEvolution, SeparableCma
from kibitz_search.tanks.parameters import NeuroevolutionParameters, ReportParameters
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.journal import JournalError
from kibitz_search.training.weights import WeightsError

GAME: Any = registry.get("tanks")


class _Said:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, done: int, total: int, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        self.lines.append(text)


def _run(out: Path, threads: int = 1) -> TrainingRun:
    out.mkdir(exist_ok=True)
    return TrainingRun(out, 3, threads, "kibitz train ...", _Said())


def _by_numpy(weights: Any, scale: float, codes: list[list[int]]) -> int:
    """Return what the report's network does, by matrices."""
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
            play.push_move(GAME.format_move(GAME.encode(state, int(source.integers(1, 8)))))
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
        play.push_move(GAME.format_move(GAME.encode(state, action)))
    assert fired > 0


def test_a_place_where_the_tank_got_stuck_is_closed_for_a_while() -> None:
    state = Position(GAME, GAME.Options()).state
    mind = networks.new_mind()
    weights = np.zeros(networks.EYES_WEIGHTS)
    weights[-networks.WORTHS + networks.GO] = 1.0  # any way is better than any turn
    assert networks.eyes_action(mind, weights, state) == rules.UP
    # It is where it was, in the same state, so something is in the way.
    assert networks.eyes_action(mind, weights, state) == rules.RIGHT
    mind.until[:] = 0
    mind.tried = 0
    assert networks.eyes_action(mind, weights, state) == rules.UP


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["report", "eyes"])
def test_games_are_those_of_the_rules(kind: Any) -> None:
    # The same game is played by the views and moves of the game, with the same random numbers.
    source = np.random.default_rng(8)
    count = networks.REPORT_WEIGHTS if kind == "report" else networks.EYES_WEIGHTS
    weights = source.normal(size=(2, count))
    games = NetworkGames(kind, turns=80)
    seeds = source.integers(0, 2**63, size=(2, 3))
    found = games.play(weights, [0, 2, 3], seeds, whole=True)
    again = NetworkGames(kind, turns=80, threads=2)
    assert (again.play(weights, [0, 2, 3], seeds, whole=True) == found).all()
    again.close()
    for network in range(2):
        for game, seat in enumerate([0, 2, 3]):
            assert found[network, game].tolist() == _points(
                kind, weights[network], seat, int(seeds[network, game])
            )


def _points(kind: str, weights: Any, seat: int, seed: int) -> list[float]:
    from kibitz_games.vector.chance import draw

    memory = "report" if kind == "report" else "last"
    play = Position(GAME, GAME.Options(turns=80, memory=memory))
    mind, chance = networks.new_mind(), np.array([seed], np.uint64)
    while (side := GAME.to_act(play.state)) != TERMINAL:
        if side != seat:
            action = rules.UP + draw(chance, 0, rules.MAX_ACTIONS)
        elif kind == "report":
            action = networks.report_action(weights, 1.0, play.state)
        else:
            action = networks.eyes_action(mind, weights, play.state)
        play.push_move(GAME.format_move(GAME.encode(play.state, int(action))))
    return [float(each) for each in GAME.points(play.state)]


def test_the_reports_evolution_swaps_tails_of_rank_neighbours_and_keeps_nobody() -> None:
    evolution = ReportEvolution(1, 4, 2000)
    first = evolution.begin()["population"]
    assert first.min() == -10
    assert first.max() == 10
    fitness = np.array([1.0, 4.0, 2.0, 3.0])
    following = evolution.following({"population": first}, fitness, 0)["population"]
    for pair, parents in ((following[:2], (1, 3)), (following[2:], (2, 0))):
        for child, (head, tail) in zip(pair, (parents, parents[::-1]), strict=True):
            from_either = (child == first[head]) | (child == first[tail])
            assert 0.005 < 1 - from_either.mean() < 0.035
            assert (child == first[head])[:20].mean() > 0.5
    assert np.abs(following).max() > 10


def test_the_strategy_finds_the_top_of_a_stretched_hill() -> None:
    strategy = SeparableCma(2, 16, 10)
    stage = strategy.begin()
    stretch = 10.0 ** np.linspace(0, 1.5, 10)
    for generation in range(300):
        offspring = strategy.offspring(stage, generation)
        fitness = -(((offspring - 3) * stretch) ** 2).sum(axis=1)
        stage = strategy.following(stage, fitness, generation)
    assert np.abs(stage["mean"] - 3).max() < 1e-3


@pytest.mark.slow
@pytest.mark.skipif(not compiled(), reason="a thousand turns for each game")
@pytest.mark.parametrize("name", ["report", "eyes"])
def test_a_run_that_was_cut_off_goes_on_to_the_same_network(tmp_path: Path, name: str) -> None:
    def go(given: TrainingRun, generations: int) -> None:
        if name == "report":
            training_runs.run_report(
                ReportParameters(population=4, generations=generations, test=8), given
            )
        else:
            training_runs.run_neuroevolution(
                NeuroevolutionParameters(population=4, games=4, generations=generations, test=8),
                given,
            )

    whole, cut = _run(tmp_path / "whole", threads=2), _run(tmp_path / "cut")
    go(whole, 13)
    go(cut, 11)
    data = (cut.out / training_runs.JOURNAL).read_bytes()
    (cut.out / training_runs.JOURNAL).write_bytes(data[:-20])
    go(cut, 13)
    files = [json.loads((each.out / "best.json").read_text()) for each in (whole, cut)]
    assert files[0] == files[1]
    assert (whole.out / "journal.jsonl").read_bytes() == (cut.out / "journal.jsonl").read_bytes()
    assert "8 games, every seat in turn" in whole.reporter.lines[-1]  # type: ignore[attr-defined]
    other = TrainingRun(cut.out, 4, 1, "", _Said())
    with pytest.raises(JournalError, match="seed = 3, not 4"):
        go(other, 13)


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
    with pytest.raises(WeightsError, match=r"best\.json: expected a file of weights"):
        weights_file.read(path)


@pytest.mark.parametrize("name", ["ann", "ann-report", "ann-report-scaled"])
def test_the_networks_that_come_with_the_package_play(name: str) -> None:
    file = weights_file.read(weights_file.SHIPPED / f"{name}.json")
    assert file.command.startswith("kibitz train tanks/")
    ev, state = weights_file.shipped(name), Position(GAME, GAME.Options()).state
    action = weights_file.player(file)(state).search(state, ev(state), SearchLimits()).action
    assert action in GAME.legal(state)
