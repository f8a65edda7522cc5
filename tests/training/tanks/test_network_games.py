"""Games of networks against random players."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_games.tanks import rules
from kibitz_games.vector.chance import draw
from kibitz_search.tanks import networks
from kibitz_training.tanks import network_games
from kibitz_training.tanks.network_games import NetworkGames

GAME: Any = registry.get("tanks")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["report", "eyes"])
def test_games_are_those_of_the_rules(kind: Any) -> None:
    # The same game is replayed with the game's views and moves and the same random numbers.
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


def test_by_the_programs_quirks_a_shell_pays_for_a_wreck_and_a_blocked_move_turns_the_hull() -> (
    None
):
    st: Any = rules.make_state("corners", "classic", 80, rules.MEMORY_REPORT)
    seat = int(st.side)
    here = int(st.place[seat])
    blocked = [
        action
        for action in range(rules.UP, rules.LEFT + 1)
        if st.board[here + rules.AHEAD[rules.DIRECTION[action]]] != rules.FREE
    ]
    assert len(blocked) == 2
    for action in blocked:
        assert network_games._play_quirk(st, action) == 0
        assert st.hull[seat] == rules.DIRECTION[action]
    assert network_games._play_quirk(st, rules.FIRE) == 0
    free = next(way for way in range(4) if st.board[here + rules.AHEAD[way]] == rules.FREE)
    rules.turn_hull(st, seat, (free - int(st.hull[seat])) & 3)
    st.board[here + rules.AHEAD[free]] = rules.WRECK
    assert network_games._play_quirk(st, rules.FIRE) == rules.KILL


def test_quirks_change_the_games_of_random_players() -> None:
    weights, seeds = np.zeros((1, networks.REPORT_WEIGHTS)), np.arange(40).reshape(1, 40)
    found = []
    for quirks in (False, True):
        games = NetworkGames("report", quirks=quirks)
        found.append(games.play(weights, [0] * 40, seeds, whole=True))
        games.close()
    assert found[1].mean() > found[0].mean()


def _points(kind: str, weights: Any, seat: int, seed: int) -> list[float]:
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
        play.push_move(GAME.notation.format(GAME.encode(play.state, int(action))))
    return [float(each) for each in GAME.points(play.state)]
