from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_arena.schedule import Schedule, ScheduledGame
from kibitz_arena.tournament import Tournament
from kibitz_games.core import registry
from tests.arena.tournaments import event
from tests.tools import profiles


def games(schedule: Schedule) -> list[ScheduledGame]:
    return [game for block in schedule.blocks for game in block.games]


def seats(schedule: Schedule) -> Counter[tuple[str, int]]:
    """Return how often each entrant has each seat."""
    return Counter((name, i) for game in games(schedule) for i, name in enumerate(game.players))


def met(schedule: Schedule) -> Counter[frozenset[str]]:
    """Return the number of games between any two entrants."""
    pairs = (itertools.combinations(game.players, 2) for game in games(schedule))
    return Counter(map(frozenset, itertools.chain.from_iterable(pairs)))


def sound(event: Tournament) -> Schedule:
    """Check the properties of every schedule, and return the schedule."""
    schedule = Schedule(event)
    all_games = games(schedule)
    assert len({game.tag for game in all_games}) == len(all_games)
    assert games(Schedule(event)) == all_games
    for block in schedule.blocks:
        assert {game.block for game in block.games} == {block.tag}
        assert len({game.players for game in block.games}) == len(block.games)
    return schedule


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 2**53 - 1))
@settings(max_examples=profiles.examples(60), deadline=None)
def test_in_a_round_robin_everybody_meets_everybody_equally_often(
    count: int, blocks: int, seed: int
) -> None:
    schedule = sound(event(count, blocks=blocks, seed=seed))
    assert set(met(schedule).values()) == {2 * blocks}
    assert len(met(schedule)) == count * (count - 1) // 2
    assert set(seats(schedule).values()) == {(count - 1) * blocks}
    assert schedule.total == count * (count - 1) * blocks


@given(st.integers(2, 12), st.integers(1, 9))
@settings(max_examples=profiles.examples(60), deadline=None)
def test_blocks_cut_short_leave_the_games_equal_and_the_seats_nearly(count: int, each: int) -> None:
    schedule = sound(event(count, games=each, balanced=False))
    assert set(met(schedule).values()) == {each}
    for name in event(count).names:
        first, second = (seats(schedule)[name, i] for i in range(2))
        assert first + second == each * (count - 1)
        assert abs(first - second) <= (count - 1 if each % 2 else 0)


@given(st.integers(2, 12), st.integers(1, 3))
@settings(max_examples=profiles.examples(40), deadline=None)
def test_a_round_robin_that_ends_early_is_even(count: int, blocks: int) -> None:
    schedule = Schedule(event(count, blocks=blocks))
    played: Counter[str] = Counter(dict.fromkeys(schedule.tournament.names, 0))
    for block in schedule.blocks:
        played.update(block.group)
        assert max(played.values()) - min(played.values()) <= 2


@given(st.integers(3, 12), st.data())
@settings(max_examples=profiles.examples(40), deadline=None)
def test_in_a_gauntlet_the_first_meet_all_others(count: int, data: st.DataObject) -> None:
    challengers = data.draw(st.integers(1, count - 1))
    schedule = sound(event(count, format="gauntlet", challengers=challengers, blocks=2))
    first = set(schedule.tournament.names[:challengers])
    assert all(len(pair & first) == 1 for pair in met(schedule))
    assert len(met(schedule)) == challengers * (count - challengers)
    assert set(met(schedule).values()) == {4}


@given(st.integers(3, 6), st.data())
@settings(max_examples=profiles.examples(40), deadline=None)
def test_free_for_all_gives_everybody_every_seat_equally_often(
    places: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(places, 12))
    blocks = data.draw(st.integers(1, 2))
    form = event(count, format="free-for-all", seats=places, blocks=blocks, seed=count)
    schedule = sound(form)
    assert len(set(seats(schedule).values())) == 1
    assert len(seats(schedule)) == count * places
    meetings = met(schedule).values()
    assert len(met(schedule)) == count * (count - 1) // 2
    assert max(meetings) - min(meetings) <= places * blocks
    assert all(len(block.games) == places for block in schedule.blocks)


def test_eight_entrants_at_six_seats_are_all_groups() -> None:
    schedule = sound(event(8, format="free-for-all", seats=6))
    assert schedule.total == 28 * 6
    assert set(met(schedule).values()) == {15 * 6}


def test_the_order_around_the_table_is_not_always_the_same() -> None:
    schedule = Schedule(event(4, format="free-for-all", seats=4, blocks=20))
    assert len({block.group for block in schedule.blocks}) > 10


@pytest.mark.parametrize("count", [2, 5, 8, 11])
def test_a_swiss_event_pairs_without_rematches_while_it_can(count: int) -> None:
    rounds = max(1, count // 2)
    schedule = Schedule(event(count, format="swiss", rounds=rounds, blocks=2))
    strength = {name: i for i, name in enumerate(schedule.tournament.names)}
    while not schedule.complete:
        points = dict.fromkeys(schedule.tournament.names, 0.0)
        for game in games(schedule):
            points[min(game.players, key=strength.__getitem__)] += 1
        schedule.add_round(points)
    assert set(met(schedule).values()) == {4}
    assert len(games(schedule)) == schedule.total == rounds * (count // 2) * 4
    played = Counter(name for game in games(schedule) for name in game.players)
    assert {played[name] + 4 * schedule.byes[name] for name in strength} == {4 * rounds}
    assert max(schedule.byes.values(), default=0) <= 1
    with pytest.raises(ValueError, match="all"):
        schedule.add_round(dict.fromkeys(schedule.tournament.names, 0.0))


def test_seedings_order_the_first_round() -> None:
    entrants = [
        {"name": n, "bot": "x", "seeding": s} for n, s in zip("abcd", (4, None, 1, 2), strict=True)
    ]
    form = event(format="swiss", rounds=1, entrants=entrants)
    assert [block.group for block in Schedule(form).blocks] == [("c", "a"), ("d", "b")]


def test_a_block_has_one_deal_or_each_game_its_own() -> None:
    for block in Schedule(event(3)).blocks:
        assert len({game.seed for game in block.games}) == 1
    own = Schedule(event(3, deals="game"))
    assert len({game.seed for game in games(own)}) == own.total


def test_every_pairing_takes_the_openings_in_turn() -> None:
    openings = [{"size": size} for size in (2, 3, 4)]
    schedule = Schedule(
        event(
            4,
            blocks=3,
            openings=openings,
            game={"name": "chinese-checkers", "options": {"pegs": 1}},
        )
    )
    taken: dict[frozenset[str], set[int]] = {}
    for game in games(schedule):
        options = schedule.options(game)
        assert options["pegs"] == 1
        taken.setdefault(frozenset(game.players), set()).add(int(str(options["size"])))
    assert set(map(frozenset, taken.values())) == {frozenset((2, 3, 4))}


def test_random_openings_are_playable_and_shared_by_a_block() -> None:
    form = event(2, game={"name": "five-in-a-row"}, blocks=3, openings={"random-plies": 4})
    schedule = Schedule(form)
    rules = registry.get("five-in-a-row")
    found = [
        [str(schedule.options(game)["opening"]) for game in block.games]
        for block in schedule.blocks
    ]
    assert all(first == second for first, second in found)
    assert len({first for first, _ in found}) == 3
    for game in games(schedule):
        options = rules.Options.model_validate(schedule.options(game))
        assert rules.legal(rules.start(options, 2, rules.deal(options, 2, int(game.seed, 16))))
