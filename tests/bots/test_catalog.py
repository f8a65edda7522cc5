"""The house bots by name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from kibitz_bots import SpecError, load
from kibitz_bots.catalog import (
    PERSONALITIES,
    Personality,
    any_game,
    chinese_checkers,
    five_in_a_row,
    line_nim,
    number_merge,
    tanks,
)
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_bots.catalog.searches import (
    ALPHABETA,
    BRS,
    GREEDY,
    IDDFS,
    MAXN,
    MINIMAX,
    MPMIX,
    PARANOID,
    maxprob,
    mcts,
)
from kibitz_bots.kinds.random_bot import RandomBot
from kibitz_bots.running import inprocess
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_protocol.wire.values import Personality as WireName

MODULES: dict[str, Any] = {
    "chinese-checkers": chinese_checkers,
    "five-in-a-row": five_in_a_row,
    "line-nim": line_nim,
    "number-merge": number_merge,
    "tanks": tanks,
}


def test_every_personality_can_be_made_and_plays_a_game_in_the_box() -> None:
    for name, personality in PERSONALITIES.items():
        bot = load(name)()
        assert name == personality.name
        assert TypeAdapter(WireName).validate_python(name)
        assert bot.name == name.partition("/")[2]
        assert set(bot.games) <= set(registry.names()), name
        assert bot.games, name
        assert personality.summary, name


def test_every_game_has_a_random_player() -> None:
    assert {f"{game}/random" for game in registry.names()} <= set(PERSONALITIES)


def test_its_search_supports_the_numbers_of_seats_that_it_says() -> None:
    for name, personality in PERSONALITIES.items():
        build, game = personality.build, registry.get(personality.game)
        assert set(personality.seats) <= set(game.info.seats)
        if not isinstance(build, EngineSpec):
            continue
        for seats in personality.seats or game.info.seats:
            reason = build.search().supports(game.info, start(game, seats))
            assert reason is None, f"{name} with {seats} seats: {reason}"


def start(game: Any, seats: int) -> Any:
    options = game.Options()
    return game.start(options, seats, game.deal(options, seats, 0))


ALGORITHMS = [GREEDY, IDDFS, MINIMAX, ALPHABETA, MAXN, PARANOID, BRS, MPMIX, maxprob(1), mcts(1)]
FOR_MANY = {"maxn", "paranoid", "brs", "mpmix", "maxprob"}
"""The searches that two-player games omit."""


def fitting(game: Any) -> set[str]:
    """Return the searches that support a game with any of its numbers of seats."""
    wanted = max(game.info.seats) > 2
    return {
        each.name
        for each in ALGORITHMS
        if wanted or each.name not in FOR_MANY
        for seats in game.info.seats
        if each.load().supports(game.info, start(game, seats)) is None
    }


def test_every_search_that_fits_has_a_bot_and_plays_by_every_evaluation() -> None:
    for name, module in MODULES.items():
        game = registry.get(name)
        evaluations = module.EVALUATIONS
        for search in fitting(game):
            build = PERSONALITIES[f"{name}/{search}"].build
            assert isinstance(build, EngineSpec)
            assert build.choices == (evaluations if len(evaluations) > 1 else {})


def test_the_bots_of_the_reports_have_names() -> None:
    assert set(PERSONALITIES) >= {
        f"{game}/{name}" for game, names in OF_REPORTS.items() for name in names.split()
    }


OF_REPORTS = {
    "chinese-checkers": "random greedy-euclid greedy-hand greedy-evolved iddfs-euclid iddfs-hand"
    " minimax alphabeta maxn paranoid mcts maxprob phases",
    "five-in-a-row": "random beginner intermediate advanced",
    "line-nim": "random minimax-outcome capstone",
    "number-merge": "random minimax",
    "tanks": "random ann-report ann-report-scaled",
}


def test_names_are_few_enough_to_choose_among() -> None:
    assert len(PERSONALITIES) <= 10 * len(registry.names())


def test_an_evaluation_is_chosen_by_a_parameter() -> None:
    game = registry.get("chinese-checkers")
    play = Position(game, seed=3)
    chosen, usual = (
        load("chinese-checkers/greedy:evaluation=hand,seed=1"),
        load("chinese-checkers/greedy-hand:seed=1"),
    )
    for _ in range(8):
        match = inprocess.local_match(play, play.to_act)
        action = inprocess.choose_action(chosen(), play, match, 5)
        assert action == inprocess.choose_action(usual(), play, match, 5)
        play.push(action)


def test_a_game_without_a_module_of_its_own_has_bots_that_play_it() -> None:
    for personality in any_game.bots("number-merge", any_game.FOR_TWO):
        bot = personality.make(
            **{"seed": 1} | ({"time": 0.01} if "time" in takes(personality) else {})
        )
        play = Position(registry.get("number-merge"), seed=3)
        match = inprocess.local_match(play, 0)
        for _ in range(3):
            play.push(inprocess.choose_action(bot, play, match, 5))
            play.push(play.legal[0])


def takes(personality: Personality) -> set[str]:
    return {each.name for each in personality.parameters}


def test_a_search_by_the_outcome_finds_a_win() -> None:
    game: Any = registry.get("five-in-a-row")
    play = Position(game, game.Options(size=5, swap=False))
    for move in ("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"):
        play.push_move(move)
    (bot,) = [
        each
        for each in any_game.bots("five-in-a-row", any_game.FOR_TWO)
        if each.short == "alphabeta"
    ]
    action = inprocess.choose_action(
        bot.make(seed=1, depth=2), play, inprocess.local_match(play, 0)
    )
    assert game.notation.format(game.encode(play.state, action)) == "e1"


def test_its_parameters_read_their_own_examples() -> None:
    for personality in PERSONALITIES.values():
        for each in personality.parameters:
            value = each.default if each.example is None else each.example
            if value is not None:
                assert each.read(str(value)) == value
            assert each.summary


def test_parameters_are_read() -> None:
    bot = load("chinese-checkers/random:seed=7")()
    assert isinstance(bot, RandomBot)
    assert bot.seed == 7


def test_two_bots_of_one_spec_share_nothing() -> None:
    make = load("chinese-checkers/greedy-hand")
    assert make() is not make()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("chinese-checkers/gready-hand", "did you mean chinese-checkers/greedy-hand"),
        ("chinese-checkers/maxn-hand", "did you mean chinese-checkers/maxn"),
        (
            "chinese-checkers/maxn:evaluation=rank",
            "evaluation: expected one of euclid, hand, stragglers, vacant, mobility, cohesion, "
            "race, learned, evolved, not 'rank'",
        ),
        ("chinese-checkers/maxn-hand:time=1", "unknown bot 'chinese-checkers/maxn-hand'"),
        ("nonsense", "unknown bot 'nonsense'; expected a path to a .py file, or game/name"),
        ("line-nim/zzz", "as `kibitz bot list --game line-nim` lists them"),
        ("chinese-checkers/random:speed=1", "no parameter 'speed'; it has seed"),
        (
            "chinese-checkers/random:seed=abc",
            "seed: expected a whole number from 0 to 9007199254740991, not 'abc'",
        ),
        (
            "chinese-checkers/random:seed=-1",
            "seed: expected a whole number from 0 to 9007199254740991, not '-1'",
        ),
        (
            "chinese-checkers/iddfs-hand:time=fast",
            "time: expected a number from 0 to 3600, not 'fast'",
        ),
        (
            "chinese-checkers/iddfs-hand:time=nan",
            "time: expected a number from 0 to 3600, not 'nan'",
        ),
        ("chinese-checkers/iddfs-hand:time", "time: expected a number from 0 to 3600, not ''"),
    ],
)
def test_a_wrong_spec_says_what_is_known(spec: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=re.escape(sentence)):
        load(spec)
