"""Programmes: the rotation, the seeds, and which matches may start."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities, GameClaim
from kibitz_protocol.wire.records import Player
from kibitz_server.lobby.schedule import (
    MAX_OVERTAKE,
    SEED_LIMIT,
    PlannedMatch,
    Programme,
    Unplayable,
    next_matches,
    uneven_blocks_problem,
)
from kibitz_server.lobby.seats import SeatedMember
from tests.tools.profiles import some


def candidates(count: int, at_once: int = 1) -> list[SeatedMember]:
    return [
        SeatedMember(
            Player(player=str(index), name=f"p{index}", kind="bot"),
            index,
            Capabilities(at_once=at_once),
        )
        for index in range(count)
    ]


def item(seats: int = 2, games: int | None = 1, **fields: object) -> ProgrammeItem:
    return ProgrammeItem.model_validate({"game": "toy", "seats": seats, "games": games, **fields})


def planned(
    *items: ProgrammeItem,
    members: int,
    round: int = 1,
    hidden: tuple[str, ...] = (),
    balanced: tuple[str, ...] = (),
) -> list[PlannedMatch]:
    return matches_of(
        Programme.of_round(
            items, candidates(members), round=round, base_seed=7, hidden=hidden, balanced=balanced
        )
    )


def matches_of(programme: Programme) -> list[PlannedMatch]:
    """Return all matches; check that each match's players can be computed independently."""
    matches = [programme.match(number) for number in range(1, programme.count + 1)]
    assert [programme.players(match.number) for match in matches] == [m.players for m in matches]
    return matches


TOY = ("toy",)


def who(matches: list[PlannedMatch]) -> list[str]:
    return ["".join(each.player for each in match.players) for match in matches]


GOLDEN = (Path(__file__).parent / "programmes.txt").read_text().split()


@pytest.mark.parametrize(
    ("case", "digest"), some([*zip(GOLDEN[::2], GOLDEN[1::2], strict=True)], 15)
)
def test_matches_are_those_of_the_planner_that_planned_whole_programmes(
    case: str, digest: str
) -> None:
    """Running lobbies depend on it: the pinned digests come from the first planner.

    A line of the file has members, seats and mode, and a digest over rounds, secrecy and seeds.
    """
    members, seats = map(int, case.split("-")[:2])
    mode = case.split("-")[2]
    games = 600 - 600 % seats + seats * 7
    digests = [
        _digest(
            planned(
                item(seats, games, rotate=mode != "fixed", seed=seed),
                members=members,
                round=round,
                hidden=hidden,
                balanced=TOY if mode == "blocks" else (),
            )
        )
        for round in (1, 3)
        for hidden in ((), TOY)
        for seed in (None, 2**53 - 3)
    ]
    assert _hash("".join(digests)) == digest


def _digest(matches: list[PlannedMatch]) -> str:
    return _hash(
        "\n".join(
            f"{m.number} {m.item.game} {'.'.join(p.player for p in m.players)}"
            f" {_of_53_bits(m.seed)} {m.block}"
            for m in matches
        )
    )


def _of_53_bits(seed: int) -> int:
    """Return a seed as in that planner: a hash prefix, or counted up from another seed."""
    return (seed >> 192 if seed >= 2**64 else seed) % 2**53


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_match_of_a_long_programme_is_found_without_those_before_it() -> None:
    """Computing distant numbers in any order equals counting up to them."""
    items = [item(3, 10_000), item(2, 10_000)]
    programme = Programme.of_round(items, candidates(8), round=2, base_seed=7, hidden=())
    whole = matches_of(programme)
    for number in (20_000, 1, 9_999, 10_001, 17):
        assert programme.match(number) == whole[number - 1]
    for number in (0, 20_001):
        with pytest.raises(KeyError, match="has no match"):
            programme.match(number)


def test_the_first_lap_seats_neighbours() -> None:
    assert who(planned(item(games=4), members=4)) == ["01", "12", "23", "30"]


def test_the_second_lap_is_the_first_with_seats_moved_up() -> None:
    assert who(planned(item(games=8), members=4))[4:] == ["03", "10", "21", "32"]


def test_two_members_swap_seats() -> None:
    assert who(planned(item(games=4), members=2)) == ["01", "10", "01", "10"]


def test_without_rotation_the_first_play_them_all() -> None:
    assert who(planned(item(games=3, rotate=False), members=3)) == ["01", "01", "01"]


def test_a_rematch_rotates_by_one() -> None:
    assert who(planned(item(games=2), members=3, round=2)) == ["12", "20"]
    assert who(planned(item(games=1, rotate=False), members=3, round=2)) == ["10"]
    assert who(planned(item(seats=3, rotate=False), members=3, round=3)) == ["201"]


def test_numbers_run_through_all_items() -> None:
    matches = planned(item(games=2), item(seats=3, games=2), members=3)
    assert [match.number for match in matches] == [1, 2, 3, 4]
    assert [len(match.players) for match in matches] == [2, 2, 3, 3]


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 12), st.integers(1, 5))
def test_every_member_takes_every_seat_equally_often(
    members: int, seats: int, laps: int, round: int
) -> None:
    seats = min(seats, members)
    matches = planned(item(seats=seats, games=members * laps), members=members, round=round)
    taken = Counter(
        (each.player, seat) for match in matches for seat, each in enumerate(match.players)
    )
    assert set(taken.values()) == {laps}
    assert len(taken) == members * seats
    assert all(len(set(match.players)) == seats for match in matches)


@pytest.mark.parametrize(("members", "seats"), [(4, 2), (5, 2), (6, 3), (5, 4), (6, 2)])
def test_in_time_every_group_meets_in_every_order(members: int, seats: int) -> None:
    orders = list(itertools.permutations(range(members), seats))
    matches = planned(item(seats=seats, games=len(orders)), members=members)
    assert sorted(who(matches)) == sorted("".join(map(str, order)) for order in orders)


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 60), st.integers(1, 3))
def test_one_deal_is_one_group_in_its_turns(
    members: int, seats: int, games: int, round: int
) -> None:
    seats = min(seats, members)
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for match in planned(item(seats=seats, games=games), members=members, round=round):
        groups[match.seed].append(tuple(each.player for each in match.players))
    for turns in groups.values():
        first = turns[0]
        moved = {first[turn:] + first[:turn] for turn in range(seats)}
        assert len(set(turns)) == len(turns), "a deal is played twice in the same seats"
        assert set(turns) <= moved


def test_where_everybody_plays_each_lap_is_one_deal() -> None:
    matches = planned(item(seats=4, games=12), members=4)
    assert [match.seed for match in matches] == [
        seed for seed in dict.fromkeys(match.seed for match in matches) for _ in range(4)
    ]
    assert who(matches)[:8] == ["0123", "1230", "2301", "3012", "0321", "1032", "2103", "3210"]


@given(st.integers(1, 7), st.integers(1, 5))
def test_a_deal_goes_all_the_way_round(members: int, seats: int) -> None:
    seats = min(seats, members)
    matches = planned(item(seats=seats, games=members * seats), members=members)
    deals = Counter(match.seed for match in matches)
    assert set(deals.values()) == {seats}


@pytest.mark.parametrize("balanced", [(), TOY])
@pytest.mark.parametrize("seed", [None, 5])
def test_matches_that_hide_something_share_no_seed(
    balanced: tuple[str, ...], seed: int | None
) -> None:
    matches = planned(item(games=40, seed=seed), members=2, hidden=TOY, balanced=balanced)
    assert len({match.seed for match in matches}) == 40


def test_a_published_seed_tells_nothing_of_the_next_hidden_deal() -> None:
    """If counted up from the host's seed, the second would be known after the first match."""
    first, second = planned(item(games=2, seed=5), members=2, hidden=TOY)
    assert 5 not in (first.seed, second.seed)
    assert abs(first.seed - second.seed) > 2**32


# --- blocks ---------------------------------------------------------------------------------


def test_a_block_of_two_is_a_match_and_its_return() -> None:
    matches = planned(item(games=6), members=3, balanced=TOY)
    assert who(matches) == ["01", "10", "12", "21", "20", "02"]
    assert [match.block for match in matches] == [1, 1, 2, 2, 3, 3]


def test_a_block_of_four_is_four_turns_of_one_group_on_one_deal() -> None:
    matches = planned(item(seats=4, games=8), members=5, balanced=TOY)
    assert who(matches) == ["0123", "1230", "2301", "3012", "1234", "2341", "3412", "4123"]
    assert len({match.seed for match in matches[:4]}) == len({m.seed for m in matches[4:]}) == 1
    assert matches[0].seed != matches[4].seed


def test_a_balanced_game_is_one_block_where_no_number_is_given() -> None:
    assert who(planned(item(games=None), members=4, balanced=TOY)) == ["01", "10"]
    assert len(planned(item(seats=4, games=None), members=4, balanced=TOY)) == 4
    assert who(planned(item(games=None), members=4)) == ["01"]


def test_single_matches_of_a_balanced_game_are_in_no_block() -> None:
    matches = planned(item(games=3, rotate=False), members=2, balanced=TOY)
    assert who(matches) == ["01", "01", "01"]
    assert [match.block for match in matches] == [None] * 3
    assert len(planned(item(games=None, rotate=False), members=2, balanced=TOY)) == 1
    assert planned(item(games=2), members=2)[0].block is None


def test_blocks_are_numbered_through_the_whole_programme() -> None:
    other = item(games=3, seats=1).model_copy(update={"game": "other"})
    matches = planned(item(games=4), other, item(games=2), members=2, balanced=TOY)
    assert [match.block for match in matches] == [1, 1, 2, 2, None, None, None, 3, 3]
    assert [match.number for match in matches] == list(range(1, 10))


def test_a_rematch_of_blocks_rotates_by_one() -> None:
    assert who(planned(item(games=2), members=2, round=2, balanced=TOY)) == ["10", "01"]
    assert who(planned(item(games=4), members=3, round=2, balanced=TOY)) == ["12", "21", "20", "02"]


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 12), st.integers(1, 4))
def test_in_a_block_everybody_takes_every_seat_once(
    members: int, seats: int, blocks: int, round: int
) -> None:
    seats = min(seats, members)
    matches = planned(
        item(seats=seats, games=seats * blocks), members=members, round=round, balanced=TOY
    )
    for start in range(0, len(matches), seats):
        block = matches[start : start + seats]
        group = {each.player for each in block[0].players}
        taken = {(each.player, seat) for match in block for seat, each in enumerate(match.players)}
        assert taken == {(player, seat) for player in group for seat in range(seats)}
        assert len({match.seed for match in block}) == 1


@pytest.mark.parametrize(("members", "seats"), [(4, 2), (5, 2), (6, 3), (5, 4), (6, 2), (4, 4)])
def test_blocks_are_the_laps_in_another_order(members: int, seats: int) -> None:
    """The same matches with the same deals, so that eventually all members meet."""
    games = math.perm(members, seats)
    laps = planned(item(seats=seats, games=games), members=members)
    blocks = planned(item(seats=seats, games=games), members=members, balanced=TOY)
    assert sorted((m.seed, who([m])) for m in laps) == sorted((m.seed, who([m])) for m in blocks)


@given(st.integers(2, 7), st.integers(1, 5))
def test_over_the_groups_of_a_pattern_everybody_plays_equally_often(
    members: int, seats: int
) -> None:
    seats = min(seats, members)
    pattern = planned(item(seats=seats, games=members * seats), members=members, balanced=TOY)
    played = Counter(each.player for match in pattern for each in match.players)
    assert max(played.values()) - min(played.values()) <= seats


@pytest.mark.parametrize(
    ("seats", "games", "says"),
    [
        (2, 3, "blocks of 2 matches, .* 3 is not a multiple of 2; use 2 or 4, or rotate=false"),
        (4, 3, "3 is not a multiple of 4; use 4"),
        (4, 10, "10 is not a multiple of 4; use 8 or 12"),
        (4, 8, None),
        (1, 3, None),
        (2, None, None),
    ],
)
def test_matches_that_make_no_whole_blocks(seats: int, games: int | None, says: str | None) -> None:
    trouble = uneven_blocks_problem(item(seats=seats, games=games), TOY)
    assert trouble is None if says is None else re.search(says, trouble or "")
    assert uneven_blocks_problem(item(seats=seats, games=games), ()) is None
    assert uneven_blocks_problem(item(seats=seats, games=games, rotate=False), TOY) is None


def test_seeds_count_up_from_the_hosts() -> None:
    assert [match.seed for match in planned(item(games=4, seed=9), members=2)] == [9, 9, 10, 10]
    last = planned(item(games=4, seed=f"{SEED_LIMIT - 1:064x}"), members=2)
    assert [match.seed for match in last] == [SEED_LIMIT - 1, SEED_LIMIT - 1, 0, 0]


def test_a_seed_is_the_same_however_it_is_written() -> None:
    for hidden in ((), TOY):
        first, second = (
            [match.seed for match in planned(item(games=4, seed=seed), members=2, hidden=hidden)]
            for seed in (9, f"{9:064x}")
        )
        assert first == second


def test_seeds_have_256_bits() -> None:
    for chosen, hidden in ((None, ()), (None, TOY), (9, TOY)):
        seeds = [m.seed for m in planned(item(games=40, seed=chosen), members=2, hidden=hidden)]
        assert max(seeds) > 2**250
        assert len({seed % 2**32 for seed in seeds}) == len(set(seeds))


def test_derived_seeds_differ_by_round_item_and_lobby() -> None:
    two = [item(), item()]
    seeds = [
        match.seed
        for base_seed in (1, 2)
        for match in matches_of(
            Programme.of_round(two, candidates(2), round=1, base_seed=base_seed, hidden=())
        )
    ]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < SEED_LIMIT for seed in seeds)
    again = Programme.of_round(two, candidates(2), round=1, base_seed=1, hidden=())
    assert again.match(1).seed == seeds[0]


def test_too_few_members_are_refused_with_a_sentence() -> None:
    with pytest.raises(Unplayable, match=r"'toy' with 3 seats needs 3 members .* there are 2"):
        planned(item(), item(seats=3), members=2)


def test_a_bot_is_planned_only_for_what_it_claims() -> None:
    others = candidates(3)
    chess = Capabilities(games=[GameClaim(game="chess")])
    others[1] = replace(others[1], capabilities=chess)
    programme = Programme.of_round([item(games=2)], others, round=1, base_seed=0, hidden=())
    assert who(matches_of(programme)) == ["02", "20"]


def begun(
    waiting: list[PlannedMatch],
    running: list[PlannedMatch],
    *,
    at_once: int = 99,
    capacity: dict[str, int],
) -> list[str]:
    return who(next_matches(waiting, running, at_once=at_once, capacity=capacity, fewest=2))


def test_matches_begin_in_order_up_to_the_limit() -> None:
    matches = planned(item(games=4), members=4)
    assert begun(matches, [], at_once=3, capacity=dict.fromkeys("0123", 9)) == ["01", "12", "23"]
    assert begun(matches[2:], matches[:2], at_once=3, capacity=dict.fromkeys("0123", 9)) == ["23"]
    assert begun(matches[3:], matches[:3], at_once=3, capacity=dict.fromkeys("0123", 9)) == []


def test_nobody_plays_more_than_it_can() -> None:
    matches = planned(item(games=4), members=4)
    assert begun(matches, [], capacity=dict.fromkeys("0123", 1)) == ["01", "23"]


def test_a_match_that_waits_for_a_busy_player_is_overtaken_so_far_and_no_further() -> None:
    one, two, three, four = (each.player for each in candidates(4))
    busy = PlannedMatch(1, item(), (one, two), 0)
    blocked = PlannedMatch(2, item(), (two, three), 0)
    near = PlannedMatch(2 + MAX_OVERTAKE, item(), (three, four), 0)
    far = PlannedMatch(3 + MAX_OVERTAKE, item(), (three, four), 0)
    capacity = dict.fromkeys("0123", 1)
    assert begun([blocked, near], [busy], capacity=capacity) == ["23"]
    assert begun([blocked, far], [busy], capacity=capacity) == []
    assert begun([blocked, far], [], capacity=capacity) == ["12"]


def test_players_who_are_not_here_hold_nobody_up() -> None:
    matches = planned(item(games=4), members=4)
    assert begun(matches, [], capacity={"0": 1, "2": 1, "3": 1}) == ["23"]
    assert begun(matches, [], capacity={"0": 0, "1": 0}) == []


@given(
    members=st.integers(2, 6),
    seats=st.integers(1, 4),
    games=st.integers(1, 30),
    at_once=st.integers(1, 5),
    places=st.lists(st.integers(1, 3), min_size=6, max_size=6),
    random=st.randoms(use_true_random=False),
)
def test_every_programme_finishes_within_its_limits(
    members: int, seats: int, games: int, at_once: int, places: list[int], random: Random
) -> None:
    seats = min(seats, members)
    matches = planned(item(seats=seats, games=games), members=members)
    capacity = {str(index): places[index] for index in range(members)}
    waiting = {match.number: match for match in matches}
    running: dict[int, PlannedMatch] = {}
    done = 0
    while waiting or running:
        for match in next_matches(
            waiting.values(), running.values(), at_once=at_once, capacity=capacity, fewest=seats
        ):
            running[match.number] = waiting.pop(match.number)
        busy = Counter(each.player for match in running.values() for each in match.players)
        assert 0 < len(running) <= at_once
        assert all(busy[player] <= capacity[player] for player in busy)
        del running[random.choice(sorted(running))]
        done += 1
    assert done == games
