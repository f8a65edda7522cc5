"""The house bots by name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from kibitz_bots import SpecError, inprocess, load
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
from kibitz_bots.catalog.matrix import (
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
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_bots.random_bot import RandomBot
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
"""The searches that games for two have no use for."""


def fitting(game: Any) -> set[str]:
    """Return the searches that play a game with one of its numbers of seats."""
    wanted = max(game.info.seats) > 2
    return {
        each.name
        for each in ALGORITHMS
        if wanted or each.name not in FOR_MANY
        for seats in game.info.seats
        if each.load().supports(game.info, start(game, seats)) is None
    }


def test_every_search_that_fits_plays_with_every_evaluation() -> None:
    for name, module in MODULES.items():
        game = registry.get(name)
        evaluations = module.EVALUATIONS.summaries
        assert set(module.EVALUATIONS.load()) == set(evaluations)
        suffixes = [f"-{each}" for each in evaluations] if len(evaluations) > 1 else [""]
        wanted = {f"{name}/{each}{suffix}" for each in fitting(game) for suffix in suffixes}
        made = {each.name for each in PERSONALITIES.values() if each.game == name}
        assert wanted <= made, wanted - made


def test_the_names_of_before_are_there() -> None:
    assert set(PERSONALITIES) >= BEFORE


BEFORE = {
    f"{game}/{name}"
    for game, names in {
        "chinese-checkers": "random greedy-euclid greedy-hand greedy-stragglers greedy-vacant"
        " greedy-mobility greedy-race iddfs-euclid iddfs-hand iddfs-stragglers iddfs-vacant"
        " iddfs-mobility iddfs-race minimax-euclid minimax-hand alphabeta-euclid alphabeta-hand"
        " maxn-euclid maxn-hand paranoid-euclid paranoid-hand brs-euclid brs-hand mpmix-hand"
        " maxprob-hand mcts-euclid mcts-hand phases champion",
        "five-in-a-row": "random greedy alphabeta beginner intermediate advanced threat mcts",
        "line-nim": "random greedy mcts capstone solver",
        "number-merge": "random greedy minimax alphabeta mcts solver",
        "tanks": "random greedy mcts explorer hunter",
    }.items()
    for name in names.split()
}
"""The house bots before every search was paired with every evaluation."""


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
    assert game.format_move(game.encode(play.state, action)) == "e1"


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
        ("nonsense", "unknown bot 'nonsense'; expected a path to a .py file, or game/name"),
        ("line-nim/zzz", "as `kibitz bots --game line-nim` lists them"),
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
